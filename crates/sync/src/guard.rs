//! Before anything is done: what the last job left is brought in order, and a source that may not be there is refused.

use std::sync::Arc;

use fault::{Fault, Kind};
use store::{FileSystem, Lister, Root};

use crate::event::{Event, Watcher};
use crate::index::{Index, Journal, Knowledge, Parts, fold};
use crate::job::touched_directories;
use crate::options::Options;
use crate::roots::Roots;
use crate::state::{Identity, Memory, State};

/// How far what is known of the destination can be trusted.
#[derive(Debug, Clone, Copy)]
pub struct Trust {
    /// It is the tree that the index speaks of.
    pub same_tree: bool,
    /// What is there but not in the index is what it looks like: no power was lost while we wrote.
    pub believe_times: bool,
    /// The last job did not end.
    pub after_crash: bool,
}

/// What the last job, if there was one, lets us believe.
pub fn trust(memory: Option<&Memory>, destination: Identity, root: &Root) -> fault::Result<Trust> {
    let Some(memory) = memory else {
        return Ok(Trust { same_tree: true, believe_times: true, after_crash: false });
    };
    let system = FileSystem::of(root.fd());
    let system = system.map_err(|error| Fault::os("look at the file system of", root.path(), error))?;
    let lost = memory.running && memory.boot != store::boot_id() && !system.is_memory();
    Ok(Trust {
        same_tree: memory.destination == destination,
        believe_times: !lost,
        after_crash: memory.running,
    })
}

/// Brings the state in order: what a job that was stopped or killed left in the journal goes into the index.
pub fn recover(state: &State, trust: Trust) -> fault::Result<()> {
    if !trust.same_tree {
        ["index", "journal", "touched", "seen"].into_iter().try_for_each(|name| state.remove(name))?;
    }
    let mut parts = Parts::default();
    touched_directories(&state.path("touched")).iter().for_each(|dir| parts.open(dir));
    let mut journal = Journal::open(&state.path("journal"))?;
    journal.append_after_crash(&parts)?;
    if !journal.is_empty() {
        renew_index(state)?;
    }
    state.remove("touched")
}

/// Folds the journal into the index. A kill in between leaves both as they were, or folds the same journal again.
pub fn renew_index(state: &State) -> fault::Result<()> {
    let base = Index::open(&state.path("index"))?.map(Arc::new);
    fold(base.as_ref(), &state.path("journal"), &state.path("index.new"), state.dir())?;
    state.replace("index.new", "index")?;
    state.remove("journal")
}

/// Refuses what looks like a source that is not there.
pub fn guard(
    options: &Options,
    watcher: &dyn Watcher,
    roots: &Roots,
    memory: Option<&Memory>,
    source: Identity,
    known: &Knowledge,
) -> fault::Result<()> {
    let shown = roots.paths.0.display();
    let unlisted = |error| Fault::os("list", &roots.paths.0, error);
    let was_there = known.entries() > 0 || options.delete.is_some();
    if was_there && !options.allow_empty_source {
        let again = roots.source.open_dir(b"").map_err(unlisted)?;
        if Lister::default().is_empty(&again).map_err(unlisted)? {
            let text = format!("`{shown}` is empty");
            return Err(Fault::new(Kind::Refused, text)
                .hint("is its file system mounted? --allow-empty-source goes on all the same"));
        }
    }
    if memory.is_some_and(|memory| memory.source != source) && !options.allow_new_source {
        if options.delete.is_some() {
            let text = format!("another file system is mounted at `{shown}` than at the last sync");
            return Err(Fault::new(Kind::Refused, text).hint(
                "nothing is deleted by a source that may be the wrong one; --allow-new-source goes on",
            ));
        }
        watcher.event(&Event::Note(&format!(
            "another file system is mounted at `{shown}` than at the last sync"
        )));
    }
    Ok(())
}

/// Refuses to go on when something else is mounted at the source than when we began.
pub fn is_still_there(roots: &Roots, source: Identity) -> fault::Result<()> {
    let shown = roots.paths.0.display();
    let now = Root::open(&roots.paths.0).and_then(|root| Identity::of(&root))?;
    if now == source {
        return Ok(());
    }
    let text = format!("`{shown}` is not the tree that was there when the watch began");
    Err(Fault::new(Kind::Refused, text).hint("is its file system mounted? start the watch again when it is"))
}
