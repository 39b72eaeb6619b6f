//! From a command to workloads: mdtest's phases in its order.

use std::time::Duration;

use fault::Result;

use super::table::ROWS;
use super::{Mdtest, Surroundings, TEST, Task};
use crate::workload::{
    Entries, EntryOperation, FileSet, Item, Named, Order, Phase, RankShift, Stop, Tree, VERSION, Workload,
};

/// Top directories are called `test-dir.<iteration>-<loop>`.
const TOP: &str = "test-dir";

impl Mdtest {
    /// A workload for each number of tasks.
    pub fn compile(&self, around: Surroundings) -> Result<Vec<Task>> {
        let counts = self.task_counts(around.ranks)?;
        counts.into_iter().map(|tasks| self.task(tasks, around)).collect()
    }

    fn task(&self, tasks: u32, around: Surroundings) -> Result<Task> {
        let (items, each) = self.counts();
        let tree = Tree {
            branch: self.branch,
            depth: self.depth,
            items: around.items_left.unwrap_or(items),
            directory_items: Some(each),
            shared_items: self.shared,
            leaf_only: self.leaf_only,
            per_rank: self.unique,
            ..Tree::default()
        };
        let named = Named { tree: Some(TOP.to_owned()), keep: !self.remove, ..Named::default() };
        let mut phases = self.phases(around);
        if tasks < around.ranks {
            phases.iter_mut().for_each(|phase| phase.ranks = Some(tasks));
        }
        let mut workload = Workload {
            version: VERSION,
            name: TEST.to_owned(),
            ranks: around.ranks,
            repetitions: self.iterations,
            files: FileSet { tree, named: Some(named), ..FileSet::default() },
            more_targets: self.directories[1..].to_vec(),
            phases,
            ..Workload::blank()
        };
        if let Some(seed) = self.seed {
            workload.seed = seed;
        }
        workload.check()?;
        Ok(Task { tasks, workload })
    }

    fn phases(&self, around: Surroundings) -> Vec<Phase> {
        let mut phases = Vec::new();
        let tree = |name: &str, operation| Phase::entries(name, Entries::of(operation));
        if self.create {
            phases.push(tree("tree-create", EntryOperation::MakeTree));
        }
        for item in [Item::Directory, Item::File] {
            let wanted = if item == Item::Directory { self.with_directories } else { self.with_files };
            if wanted {
                self.item_phases(item, around, &mut phases);
            }
        }
        if self.remove {
            phases.push(tree("tree-remove", EntryOperation::RemoveTree));
        }
        phases
    }

    /// Create, stat, read, rename, remove, in mdtest's order for directories or files.
    fn item_phases(&self, item: Item, around: Surroundings, phases: &mut Vec<Phase>) {
        use EntryOperation::{Create, Read, Remove, Rename, Stat};
        let files = item == Item::File;
        let steps = [
            (self.create, "create", Create, 0),
            (files && self.create && self.verify_write, "verify", Read, 0),
            (self.stat, "stat", Stat, 1),
            (files && self.read, "read", Read, 2),
            (!files && self.rename, "rename", Rename, 1),
            (self.remove, "remove", Remove, 3),
        ];
        for (_, name, operation, turns) in steps.into_iter().filter(|(wanted, ..)| *wanted) {
            let what = if files { "file" } else { "dir" };
            let mut entries = self.entries(item, operation);
            entries.rank_shift = self.shift(turns, around);
            entries.verify = (name == "read" && self.verify_read) || name == "verify";
            if name == "verify" {
                entries.read_bytes = self.write_bytes;
            }
            let mut phase = Phase::entries(&format!("{what}-{name}"), entries);
            phase.pause_before = Duration::from_secs(self.delay);
            phase.operation_log = self.operation_log(&phase.name);
            if files && operation == Create && self.stonewall > 0 {
                phase.stop = Stop {
                    time: Some(Duration::from_secs(self.stonewall)),
                    wear_out: true,
                    ..Stop::default()
                };
            }
            phases.push(phase);
        }
    }

    fn entries(&self, item: Item, operation: EntryOperation) -> Entries {
        let files = item == Item::File;
        let (create, read) = (operation == EntryOperation::Create, operation == EntryOperation::Read);
        let visits = matches!(operation, EntryOperation::Stat | EntryOperation::Read);
        let mut entries = Entries::of(operation);
        // Only the creation differs between a node and a file.
        entries.item = if files && self.nodes && create { Item::Node } else { item };
        if files && create && !self.nodes {
            entries.write_bytes = self.write_bytes;
            entries.fsync = self.fsync;
        }
        if files && read {
            entries.read_bytes = self.read_bytes;
        }
        entries.direct = self.direct && files && (read || create) && !self.nodes;
        entries.sync_at_end = self.sync;
        entries.order = if self.random && visits { Order::RandomOnce } else { Order::Sequential };
        entries.first_rank_only =
            self.collective && matches!(operation, EntryOperation::Create | EntryOperation::Remove);
        entries.relative = !self.full_paths;
        entries.chained = operation == EntryOperation::Rename;
        entries
    }

    /// Files with a line per operation, under the names that the phases have in mdtest's table.
    fn operation_log(&self, phase: &str) -> Option<String> {
        let prefix = self.operation_log.as_ref()?;
        let (label, _) = ROWS.into_iter().find(|(_, own)| *own == phase)?;
        // mdtest's iterations replace each other's.
        let iteration = if self.iterations > 1 && !self.strict { "-{repetition}" } else { "" };
        Some(format!("{prefix}-{label}{iteration}-{{rank}}.csv"))
    }

    /// Whose items: `-N` times one, two and three for stat, read and removal; over hosts where there are several.
    fn shift(&self, turns: u32, around: Surroundings) -> RankShift {
        let by = self.stride.saturating_mul(turns).saturating_mul(around.ranks_on_first_host.unwrap_or(1));
        if by == 0 || self.collective { RankShift::None } else { RankShift::By(by) }
    }
}
