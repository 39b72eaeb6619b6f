//! Runs on trees (fsd, fwd, rd) as workloads: a rank for each thread of each load.

use std::collections::HashSet;

use units::{Bytes, Ratio};

use super::compile::{Compiler, Test, World};
use super::definitions::{Anchor, FileLoad, Operation};
use super::expansion::{Pace, Point};
use super::lexer::Word;
use super::run::{Format, Rates, Run, Setting};
use super::values::{Rate, means};
use crate::workload::{
    Activity, Entries, EntryOperation, FileSet, Job, Phase, Selection, Stop, Tree, WeightedSize,
};

/// Name of the phase that makes the directories.
pub const FORMAT_TREE: &str = "format directories";
/// Name of the phase that makes the files.
pub const FORMAT_FILES: &str = "format files";
/// Bytes per call while files are made first.
const FORMAT_SIZE: Bytes = Bytes::kib(128);
/// Threads that make files first.
const FORMAT_THREADS: u32 = 8;

impl Compiler<'_> {
    /// Adds the points of a run on a tree.
    pub(super) fn run_on_tree(&mut self, run: &Run, points: &[Point]) -> Option<()> {
        let loads = self.file_loads_of(run)?;
        let anchors = self.anchors_of(run, &loads)?;
        for point in points {
            let (anchor, loads) = self.tree_settings(anchors.first()?, &loads, point)?;
            let world = World::Tree {
                anchors: anchors.iter().map(|anchor| anchor.anchor.clone()).collect(),
                tree: self.tree(&anchor)?,
                files: files(&anchor),
                working: anchor.working_set,
                data: self.data,
            };
            self.open_tree(&world, run, &anchor);
            if run.format == Format::Only {
                continue;
            }
            let loads = self.apart(loads);
            let phase = self.tree_phase(run, point, &loads, &anchors)?;
            self.add(world, phase, super::files::shown(run, point), 1);
        }
        Some(())
    }

    fn file_loads_of(&mut self, run: &Run) -> Option<Vec<FileLoad>> {
        let mut loads = Vec::new();
        for word in &run.file_loads {
            let meant: Vec<FileLoad> =
                self.file_loads.iter().filter(|load| means(&word.text, &load.name.text)).cloned().collect();
            if meant.is_empty() {
                let names: Vec<String> = self.file_loads.iter().map(|load| load.name.text.clone()).collect();
                return self.nothing(word, "fwd", &names);
            }
            loads.extend(meant);
        }
        Some(loads)
    }

    /// The trees of a run, in the order in which its loads name them. They have one shape.
    fn anchors_of(&mut self, run: &Run, loads: &[FileLoad]) -> Option<Vec<Anchor>> {
        let mut found: Vec<Anchor> = Vec::new();
        for load in loads {
            if load.anchors.is_empty() {
                let message = format!("fwd `{}` says no `fsd`", load.name.text);
                self.troubles.at(&load.name.place, message, "on which tree?").hint("write fsd=fsd1");
                return None;
            }
            for word in &load.anchors {
                let meant = self.anchors.iter().filter(|anchor| is_meant(word, anchor));
                let all: Vec<Anchor> = meant.cloned().collect();
                if all.is_empty() {
                    let names: Vec<String> =
                        self.anchors.iter().map(|anchor| anchor.name.text.clone()).collect();
                    return self.nothing(word, "fsd", &names);
                }
                found.extend(all);
            }
        }
        let mut names = HashSet::new();
        found.retain(|anchor| names.insert(anchor.name.text.clone()));
        let (first, others) = found.split_first()?;
        if let Some(other) = others.iter().find(|other| !other.is_shaped_like(first)) {
            let message = format!(
                "rd `{}` works on fsd `{}` and on `{}`, which has another shape",
                run.name.text, first.name.text, other.name.text
            );
            self.troubles
                .at(&other.name.place, message, "another shape")
                .hint("give them the same depth, width, files and sizes, or write an rd for each");
            return None;
        }
        Some(found)
    }

    fn tree_settings(
        &mut self,
        anchor: &Anchor,
        loads: &[FileLoad],
        point: &Point,
    ) -> Option<(Anchor, Vec<FileLoad>)> {
        let (mut anchor, mut loads) = (anchor.clone(), loads.to_vec());
        for (name, _, setting) in &point.settings {
            match setting {
                Setting::Depth(depth) => anchor.depth = *depth,
                Setting::Width(width) => anchor.width = *width,
                Setting::Files(files) => anchor.files = *files,
                Setting::Sizes(sizes) => anchor.sizes.clone_from(sizes),
                Setting::Total(total) => anchor.total = Some(*total),
                Setting::Operation(operation) => {
                    loads.iter_mut().for_each(|load| load.operation = *operation);
                }
                Setting::Read(percent) => loads.iter_mut().for_each(|load| load.read = Some(*percent)),
                Setting::Threads(threads) => loads.iter_mut().for_each(|load| load.threads = *threads),
                Setting::Size(size) => loads.iter_mut().for_each(|load| load.transfer_size = size.largest()),
                _ => {
                    self.troubles.whole(
                        format!("`{name}` belongs to runs on files (wd), and this one is on a tree (fwd)"),
                        "leave it out",
                    );
                    return None;
                }
            }
        }
        Some((anchor, loads))
    }

    /// A load that reads and writes is two, each with its part of the operations and of the threads.
    fn apart(&mut self, loads: Vec<FileLoad>) -> Vec<FileLoad> {
        let is_mixed = |load: &FileLoad| load.read.is_some_and(|read| read > 0.0 && read < 100.0);
        let (any, several) = (loads.iter().any(is_mixed), loads.len() > 1);
        let given: f64 = loads.iter().filter_map(|load| load.skew).sum();
        let others = loads.iter().filter(|load| load.skew.is_none()).count().max(1);
        let mut apart = Vec::new();
        for mut load in loads {
            let Some(read) = load.read.filter(|_| matches!(load.operation, Operation::Files(_))) else {
                apart.push(load);
                continue;
            };
            let skew = load.skew.unwrap_or((100.0 - given).max(0.0) / others as f64);
            load.skew = if any && several { Some(skew) } else { load.skew };
            for (operation, part) in [(EntryOperation::Read, read), (EntryOperation::Write, 100.0 - read)] {
                if part > 0.0 {
                    let mut one = FileLoad { operation: Operation::Files(operation), ..load.clone() };
                    if is_mixed(&load) {
                        one.skew = Some(skew * part / 100.0);
                        one.threads = (f64::from(load.threads) * part / 100.0).round().max(1.0) as u32;
                    }
                    apart.push(one);
                }
            }
            if is_mixed(&load) {
                let threads: Vec<u32> = apart.iter().rev().take(2).map(|one| one.threads).collect();
                self.note(format!(
                    "fwd `{}`, rdpct={read}: {} files and {} them; vdbench decides for each call",
                    load.name.text,
                    threads_do(threads[1], "read"),
                    threads_do(threads[0], "write")
                ));
            }
        }
        apart
    }

    /// The tree without its items: how many each rank has follows when all loads are known.
    fn tree(&mut self, anchor: &Anchor) -> Option<Tree> {
        let sizes = if anchor.sizes.is_empty() { Vec::new() } else { anchor.sizes.clone() };
        if let Some(large) = sizes.iter().find(|size| size.size > Bytes::gib(1)) {
            let message = format!(
                "fsd `{}` has files of {:#}: in a tree they are at most 1 GiB here",
                anchor.name.text, large.size
            );
            self.troubles.at(&anchor.name.place, message, "too large").hint("large files are sd, wd and rd");
            return None;
        }
        Some(Tree {
            branch: anchor.width,
            depth: anchor.depth,
            leaf_only: !anchor.everywhere,
            sizes,
            ..Tree::default()
        })
    }

    /// Begins a test on a tree, with what is made first.
    fn open_tree(&mut self, world: &World, run: &Run, anchor: &Anchor) {
        if self.continues(world) {
            return;
        }
        if run.format == Format::No {
            self.note(format!(
                "rd `{}` has no `format=yes`: its directory is fresh all the same, and what it reads is made first",
                run.name.text
            ));
        }
        self.begin(world.clone());
        let mut make = Phase::entries(FORMAT_TREE, Entries::of(EntryOperation::MakeTree));
        make.pause_before = run.pause;
        match run.format {
            Format::No => {}
            Format::Directories => self.add_first(make, false),
            Format::Yes | Format::Only => {
                self.add_first(make, false);
                let direct = run.flags.and(anchor.flags).direct;
                let create = Entries {
                    transfer_size: (!anchor.sizes.is_empty()).then_some(FORMAT_SIZE),
                    direct,
                    ..Entries::of(EntryOperation::Create)
                };
                self.add_first(Phase::entries(FORMAT_FILES, create), true);
            }
        }
    }

    fn tree_phase(
        &mut self,
        run: &Run,
        point: &Point,
        loads: &[FileLoad],
        anchors: &[Anchor],
    ) -> Option<Phase> {
        let given: f64 = loads.iter().filter_map(|load| load.skew).sum();
        let all_given = loads.iter().all(|load| load.skew.is_some());
        if loads.len() > 1 && (given > 100.0 + 1e-6 || (all_given && (given - 100.0).abs() > 1e-6)) {
            let message = format!("the `skew` of the loads of rd `{}` adds up to {given}", run.name.text);
            self.troubles.at(&run.name.place, message, "not 100").hint("together they must be 100");
            return None;
        }
        let alone = loads.len() == 1;
        let others = loads.iter().filter(|load| load.skew.is_none()).count().max(1);
        let rated = point.pace != Pace::At(Rate::Max) || matches!(run.rates, Rates::Curve(_));
        // Without a word about it, each load has the same part, on however many trees it is.
        let divided = given > 0.0 || (rated && anchors.len() > 1);
        let mut once = true;
        let mut jobs = Vec::new();
        for load in loads {
            let entries = self.entries(run, load, alone)?;
            once &= entries.select == Selection::Once || entries.select == Selection::Own;
            let only_groups = self.groups_of(&[&run.hosts, &load.hosts])?;
            let trees =
                if entries.select == Selection::Own { vec![Vec::new()] } else { trees_of(load, anchors) };
            let skew = load.skew.unwrap_or((100.0 - given).max(0.0) / others as f64) / trees.len() as f64;
            let ranks = Some(self.threads_of(load, trees.len() as u32, &only_groups));
            jobs.extend(trees.into_iter().map(|targets| Job {
                ranks,
                only_groups: only_groups.clone(),
                skew: (divided && !alone).then(|| Ratio::percent(skew)),
                activity: Activity::Entries(Entries { targets, ..entries.clone() }),
            }));
        }
        let mut phase = Phase::entries("", Entries::of(EntryOperation::Stat));
        phase.ranks = Some(jobs.iter().filter_map(|job| job.ranks).sum());
        phase.jobs = jobs;
        phase.pause_before = run.pause;
        let structure = loads.iter().any(|load| !matches!(load.operation, Operation::Files(_)));
        if !structure {
            let time = run.elapsed + run.warm_up.unwrap_or_default();
            phase.stop = Stop { time: Some(time), repeat: !once, ..Stop::default() };
            if once && alone && loads[0].operation == Operation::Files(EntryOperation::Remove) {
                phase.stop = Stop { time: Some(time), ..Stop::default() };
            }
        }
        if structure && point.pace != Pace::At(Rate::Max) {
            let message = format!("rd `{}` makes or removes directories at a rate", run.name.text);
            self.troubles
                .at(&run.name.place, message, "fwdrate")
                .hint("directories of a tree are made at fwdrate=max");
            return None;
        }
        Some(phase)
    }

    /// Threads of a load on each of its trees and hosts: together they are as many as it says, or a few more.
    fn threads_of(&mut self, load: &FileLoad, trees: u32, only_groups: &[u32]) -> u32 {
        let hosts = if only_groups.is_empty() { self.groups } else { only_groups.len() as u32 };
        let parts = (hosts * trees).max(1);
        let each = load.threads.div_ceil(parts);
        if each * parts != load.threads {
            let on_trees = if trees > 1 { format!(" on each of {trees} fsds") } else { String::new() };
            let on_hosts = if hosts > 1 { format!(" on each of {hosts} hosts") } else { String::new() };
            self.note(format!(
                "fwd `{}`: threads={} are {each}{on_trees}{on_hosts}",
                load.name.text, load.threads
            ));
        }
        each
    }

    /// What a load does. Alone, it creates and deletes each file once; beside others, whatever is there.
    fn entries(&mut self, run: &Run, load: &FileLoad, alone: bool) -> Option<Entries> {
        let operation = match load.operation {
            Operation::Files(operation) => operation,
            Operation::MakeDirectories | Operation::RemoveDirectories if !alone => {
                let message =
                    format!("fwd `{}` makes or removes directories beside other loads", load.name.text);
                self.troubles.at(&load.name.place, message, "not alone").hint("write an rd for it");
                return None;
            }
            Operation::MakeDirectories => return Some(Entries::of(EntryOperation::MakeTree)),
            Operation::RemoveDirectories => return Some(Entries::of(EntryOperation::RemoveTree)),
        };
        let changes = matches!(operation, EntryOperation::Create | EntryOperation::Remove);
        let moves =
            matches!(operation, EntryOperation::Create | EntryOperation::Read | EntryOperation::Write);
        let flags = load.flags.and(run.flags);
        Some(Entries {
            select: if alone && changes { Selection::Once } else { load.select },
            transfer_size: moves.then_some(load.transfer_size),
            anew: load.anew && operation == EntryOperation::Write,
            scattered: load.scattered && moves && operation != EntryOperation::Create,
            calls: load.calls.filter(|_| moves && operation != EntryOperation::Create),
            direct: flags.direct && moves,
            fsync: flags.fsync && operation == EntryOperation::Create,
            verify: self.verify && operation == EntryOperation::Read,
            ..Entries::of(operation)
        })
    }
}

/// Whether `fsd=word` means it.
fn is_meant(word: &Word, anchor: &Anchor) -> bool {
    means(&word.text, &anchor.name.text) || word.text == "all"
}

/// The trees of a load, each alone, by their numbers; no number where the run has one tree only.
fn trees_of(load: &FileLoad, anchors: &[Anchor]) -> Vec<Vec<u32>> {
    if anchors.len() < 2 {
        return vec![Vec::new()];
    }
    let is_its = |anchor: &Anchor| load.anchors.iter().any(|word| is_meant(word, anchor));
    (0..).zip(anchors).filter(|(_, anchor)| is_its(anchor)).map(|(number, _)| vec![number]).collect()
}

fn threads_do(count: u32, what: &str) -> String {
    if count == 1 { format!("1 thread {what}s") } else { format!("{count} threads {what}") }
}

/// Files of the whole tree.
fn files(anchor: &Anchor) -> u64 {
    let leaves = u64::from(anchor.width).saturating_pow(anchor.depth);
    let all: u64 = (1..=anchor.depth.min(64))
        .map(|level| u64::from(anchor.width).saturating_pow(level))
        .fold(0, u64::saturating_add);
    let by_count = anchor.files.saturating_mul(if anchor.everywhere { all } else { leaves });
    match anchor.total {
        Some(total) => {
            let mean = mean(&anchor.sizes).max(1.0);
            ((total.get() as f64 / mean).ceil() as u64).clamp(1, by_count.max(1))
        }
        None => by_count,
    }
}

fn mean(sizes: &[WeightedSize]) -> f64 {
    let weights: f64 = sizes.iter().map(|size| f64::from(size.weight)).sum();
    let bytes: f64 = sizes.iter().map(|size| size.size.get() as f64 * f64::from(size.weight)).sum();
    if weights > 0.0 { bytes / weights } else { 0.0 }
}

/// The items of a test on so many trees, each with `files`, dealt to its ranks: as many to each tree.
pub(super) fn prepare(test: &mut Test, (trees, tree): (usize, &Tree), files: u64, working: Option<Bytes>) {
    let trees = trees as u32;
    let all = files.saturating_mul(u64::from(trees));
    let working_ranks = test.workload.phases.iter().filter_map(|phase| phase.ranks).max().unwrap_or(1);
    let fewest = working_ranks.next_multiple_of(trees);
    let threads = if test.formats { FORMAT_THREADS.min(files.min(u64::from(u32::MAX)) as u32) } else { 1 };
    let most = fewest.max((threads * trees).div_ceil(test.groups).next_multiple_of(trees));
    // As many as have equal parts of the files, where any number has.
    let divides = |group: &u32| all.is_multiple_of(u64::from(*group) * u64::from(test.groups));
    let group = (fewest..=most).rev().step_by(trees as usize).find(divides).unwrap_or(most);
    let ranks = group.saturating_mul(test.groups);
    test.workload.ranks = ranks;
    let items = all.div_ceil(u64::from(ranks));
    test.workload.files = FileSet { tree: Tree { items, ..tree.clone() }, ..FileSet::default() };
    let all = mean(&tree.sizes) * files as f64;
    let used = working
        .filter(|_| all > 0.0)
        .map(|working| Ratio::new((working.get() as f64 / all).clamp(1e-9, 1.0)));
    for phase in &mut test.workload.phases {
        if test.groups > 1 && phase.ranks.is_some() {
            phase.ranks = None;
            phase.group = Some(group);
        } else {
            phase.ranks = phase.ranks.filter(|own| *own < ranks);
        }
        for job in &mut phase.jobs {
            if let (Activity::Entries(entries), Some(used)) = (&mut job.activity, used)
                && entries.operation.keeps()
            {
                entries.working_set = used;
            }
        }
    }
}
