//! The stages of a job, one after the other: copy, link, delete, finish.

use crate::changed::visit_changed;
use crate::deletes::delete_all;
use crate::event::{Event, Stage};
use crate::filter::Chain;
use crate::finish::finish_all;
use crate::groups::other_names;
use crate::index::is_within;
use crate::job::{Hand, Job, Trouble, lock};
use crate::large::{help, sweep};
use crate::links::{link_all, link_late};
use crate::part::{do_part, leave_open_groups};
use crate::pool::Piece;
use crate::record::End;
use crate::renames;
use crate::scope::{Changes, Scope};
use crate::visit::{Chore, Siblings, visit, visit_tree};

/// How often directories are made anew that go from the destination while we copy to it.
const MOST_ROUNDS: u32 = 8;

/// All stages, until the job is done, can't go on, or should stop.
pub fn do_all(job: &Job<'_>, scope: &Scope) -> fault::Result<()> {
    if let Some(part) = job.part {
        return do_part(job, part);
    }
    let stage = |stage| job.watcher.event(&Event::Stage(stage));
    stage(Stage::Copy);
    copy_and_link(job, scope)?;
    if let Some(rules) = job.options.delete.as_ref().filter(|_| !job.stopping()) {
        stage(Stage::Delete);
        let refused = delete_all(job, rules, job.known.entries().max(job.counters.scanned.get()));
        if let Err(fault) = refused {
            finish_stage(job)?;
            return Err(fault);
        }
        after_deletes(job)?;
    }
    finish_stage(job)
}

/// What had to wait until a directory was out of its way.
pub fn after_deletes(job: &Job<'_>) -> fault::Result<()> {
    let waiting = std::mem::take(&mut *lock(&job.desk.behind));
    job.deletes_done.store(true, std::sync::atomic::Ordering::Relaxed);
    if job.stopping() {
        return Ok(());
    }
    link_late(job, &mut Hand::default());
    if waiting.is_empty() {
        return Ok(());
    }
    job.watcher.event(&Event::Stage(Stage::Copy));
    copy_and_link(job, &Scope::Some(waiting))
}

fn copy_and_link(job: &Job<'_>, scope: &Scope) -> fault::Result<()> {
    job.groups.begin(scope);
    copy_all(job, scope);
    if job.stopping() {
        return Ok(());
    }
    let others = other_names(job)?;
    if !others.is_empty() {
        job.groups.doubt();
        copy_all(job, &Scope::Some(others));
    }
    link(job)?;
    renames::release(job)
}

/// Names of files with several, and what has to be made anew for them.
pub fn link(job: &Job<'_>) -> fault::Result<()> {
    job.watcher.event(&Event::Stage(Stage::Link));
    leave_open_groups(job)?;
    for _ in 0..MOST_ROUNDS {
        link_all(job, &mut Hand::default())?;
        if lock(&job.desk.trees).is_empty() || job.stopping() {
            return Ok(());
        }
        copy_trees(job);
    }
    job.incomplete(b"");
    job.trouble(b"", Trouble::Unstable);
    Ok(())
}

pub fn finish_stage(job: &Job<'_>) -> fault::Result<()> {
    if job.options.dry_run || job.stopping() {
        return Ok(());
    }
    job.watcher.event(&Event::Stage(Stage::Finish));
    finish_all(job)?;
    job.checkpoint();
    if !job.stopping() {
        job.state.remove("touched")?;
        if !job.partial && !job.has_failures() {
            sweep(job)?;
        }
    }
    Ok(())
}

pub fn copy_all(job: &Job<'_>, scope: &Scope) {
    queue(job, scope);
    work_all(job);
    if let Err(fault) = renames::look_again(job) {
        job.end(fault);
    }
    copy_trees(job);
}

/// Copies the trees that had to wait, and those that are found missing meanwhile.
pub fn copy_trees(job: &Job<'_>) {
    for round in 0.. {
        let trees = std::mem::take(&mut *lock(&job.desk.trees));
        let mut last: Option<&[u8]> = None;
        // In order, so that a tree comes before what is in it.
        for tree in &trees {
            if job.stopping() || last.is_some_and(|last| is_within(tree, last)) {
                continue;
            }
            last = Some(tree);
            let visited = if round < MOST_ROUNDS { visit_tree(job, tree) } else { Err(Trouble::Unstable) };
            if let Err(trouble) = visited {
                job.incomplete(tree);
                job.trouble(tree, trouble);
            }
        }
        if last.is_none() {
            return;
        }
        work_all(job);
    }
}

pub fn work_all(job: &Job<'_>) {
    std::thread::scope(|scope| {
        for _ in 1..job.workers {
            scope.spawn(|| work(job));
        }
        work(job);
    });
}

fn queue(job: &Job<'_>, scope: &Scope) {
    let mut changes = match scope {
        Scope::Some(changes) => changes.clone(),
        Scope::All => Changes::all(),
    };
    changes.widen(|name| job.options.filter.has_rules_in(name));
    if changes.is_everything() {
        let mut root = Siblings::new(b"", &Chain::default());
        root.push(b"", 0);
        return job.pool.push(root);
    }
    for (dir, inside) in changes.into_dirs() {
        // There is always room for what we were told to look at.
        let _ = job.pool.offer(Chore::Changed(dir, inside), usize::MAX);
    }
}

fn work(job: &Job<'_>) {
    let mut hand = Hand::default();
    while let Some(piece) = job.pool.take() {
        if job.stopping() {
            job.pool.close();
        } else {
            match piece {
                Piece::Small(Chore::Batch(batch)) => batch.run(job, &mut hand),
                Piece::Small(Chore::Large(large)) => help(job, &mut hand, &large),
                Piece::Small(Chore::Changed(dir, inside)) => visit_changed(job, &mut hand, &dir, &inside),
                Piece::Item(dir) => visit(job, &mut hand, &dir),
            }
        }
        job.pool.done();
    }
}

/// How the job ended. What was done is made durable and written down in any case.
pub fn end_of(job: &Job<'_>, done: fault::Result<()>) -> fault::Result<End> {
    if let Some(fault) = job.take_fatal() {
        let _ = job.ledger.checkpoint(job.destination.fd(), job.destination.path());
        return Err(fault);
    }
    done?;
    if job.watcher.stopping() {
        job.ledger.checkpoint(job.destination.fd(), job.destination.path())?;
        return Ok(End::Stopped);
    }
    Ok(if job.has_failures() { End::Partial } else { End::Complete })
}
