//! What a workload will move and make, before anything is touched.

use std::time::Duration;

use units::Bytes;

use super::{Activity, Entries, EntryOperation, Layout, Order, Phase, Transfer, Workload};
use crate::sequence::Sequence;

/// Phases that a summary names.
const MOST_NAMED: usize = 6;

/// What a phase will do if nothing stops it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planned {
    /// Bytes moved.
    pub bytes: Bytes,
    /// Operations.
    pub operations: u64,
}

impl Workload {
    /// What `phase` will do.
    pub fn planned(&self, phase: &Phase) -> Planned {
        let limit = phase.stop.operations;
        let ranks = phase.size(self.ranks);
        let shares = (0..self.ranks).filter_map(|rank| phase.job_of(rank, self.ranks)).map(|(job, _)| {
            match &job.activity {
                Activity::Transfer(transfer) => {
                    // Parts that are drawn add up to the whole, like equal ones.
                    let even = if transfer.order == Order::RandomDrawn {
                        Order::RandomInBlocks
                    } else {
                        transfer.order
                    };
                    let transfer = &Transfer { order: even, ..transfer.clone() };
                    let sequence = Sequence::new(&self.files, transfer, 0, ranks, self.seed);
                    let most = transfer.transfer_size.largest();
                    limited(Planned { bytes: sequence.bytes(), operations: sequence.count() }, most, limit)
                }
                Activity::Entries(entries) => {
                    let largest = self.files.tree.largest_size().unwrap_or_default();
                    let most = entries.write_bytes.max(entries.read_bytes).max(largest);
                    limited(self.planned_entries(entries, ranks), most, limit)
                }
            }
        });
        shares.fold(Planned::default(), |sum, share| Planned {
            bytes: sum.bytes + share.bytes,
            operations: sum.operations.saturating_add(share.operations),
        })
    }

    fn planned_entries(&self, entries: &Entries, ranks: u32) -> Planned {
        let tree = &self.files.tree;
        let by_the_first = |operations: u64| operations.div_ceil(u64::from(ranks));
        let operations = match entries.operation {
            EntryOperation::MakeTree | EntryOperation::RemoveTree if tree.per_rank => tree.all_directories(),
            EntryOperation::MakeTree | EntryOperation::RemoveTree => by_the_first(tree.all_directories()),
            EntryOperation::Rename | EntryOperation::Remove if tree.shared_items => by_the_first(tree.items),
            EntryOperation::Mark => by_the_first(1),
            EntryOperation::Find => tree.items,
            _ => entries.used(tree.items),
        };
        let each = match entries.operation {
            EntryOperation::Create | EntryOperation::Write => entries.write_bytes,
            EntryOperation::Read => entries.read_bytes,
            _ => return Planned { bytes: Bytes::ZERO, operations },
        };
        let drawn = tree.all_sizes(self.seed, 1).get() / tree.items.max(1);
        Planned { bytes: Bytes::new(each.get().max(drawn)) * operations, operations }
    }

    /// The most the workload will occupy at one time.
    pub fn space(&self) -> Bytes {
        let transfers = self.phases.iter().flat_map(|p| &p.jobs).filter_map(|j| match &j.activity {
            Activity::Transfer(transfer) => Some(transfer),
            Activity::Entries(_) => None,
        });
        let data = if transfers.clone().any(Transfer::writes) {
            match self.files.layout {
                Layout::Shared => self.files.file_size(self.ranks),
                Layout::PerRank => {
                    let files = 0..self.data_files();
                    let owner = |file: u32| file / self.files.files_per_rank.max(1);
                    files.map(|file| self.files.block_of(owner(file)) * self.files.segments).sum()
                }
            }
        } else {
            Bytes::ZERO
        };
        let created = self.entries().filter(|e| e.operation == EntryOperation::Create);
        let small = created.map(|e| e.write_bytes).max().unwrap_or_default();
        let tree = &self.files.tree;
        data + small * tree.all_items(self.ranks) + tree.all_sizes(self.seed, self.ranks)
    }

    /// The most entries the workload will have at one time.
    pub fn inodes(&self) -> u64 {
        let ranks = u64::from(self.ranks);
        let tree = &self.files.tree;
        let trees = if tree.per_rank { ranks } else { 1 + self.more_targets.len() as u64 };
        let marker = u64::from(self.entries().any(|e| e.operation == EntryOperation::Mark));
        let entries = if self.entries().next().is_some() {
            tree.all_items(self.ranks) + tree.all_directories() * trees + marker
        } else {
            0
        };
        entries + u64::from(self.data_files())
    }

    /// Data files that there will be: those beyond exact names are nobody's.
    fn data_files(&self) -> u32 {
        let named =
            self.files.named.as_ref().filter(|named| named.exact).map(|named| named.data.len() as u32);
        self.files.file_count(self.ranks).min(named.unwrap_or(u32::MAX))
    }

    /// All operations on entries.
    pub fn entries(&self) -> impl Iterator<Item = &Entries> {
        self.phases.iter().flat_map(|p| &p.jobs).filter_map(|job| match &job.activity {
            Activity::Entries(entries) => Some(entries),
            Activity::Transfer(_) => None,
        })
    }

    /// The time that its deadlines and rests add up to, over all repetitions; what has no deadline counts as nothing.
    pub fn time(&self) -> Duration {
        let each = |phase: &Phase| phase.pause_before + phase.stop.time.unwrap_or_default();
        self.phases.iter().map(each).sum::<Duration>() * self.repetitions
    }

    /// One line for people: `2 ranks, 1 GiB per rank, write 64 KiB, read 64 KiB`.
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("{} rank{}", self.ranks, if self.ranks == 1 { "" } else { "s" })];
        let whole = |block: Bytes| block * self.files.segments * u64::from(self.files.files_per_rank);
        let size = match (whole(self.files.smallest_block()), whole(self.files.block_size)) {
            (smallest, largest) if smallest < largest => format!("{smallest} to {largest}"),
            (_, largest) => largest.to_string(),
        };
        let has_transfers =
            self.phases.iter().flat_map(|p| &p.jobs).any(|j| matches!(j.activity, Activity::Transfer(_)));
        if has_transfers {
            let whose = if self.files.layout == Layout::Shared { " in one shared file" } else { "" };
            parts.push(format!("{size} per rank{whose}"));
        }
        if self.files.tree.items > 0 {
            parts.push(format!("{} items per rank", self.files.tree.items));
        }
        let all = self.phases.len();
        let shown = if all > MOST_NAMED { MOST_NAMED - 1 } else { all };
        for phase in &self.phases[..shown] {
            let size = phase.jobs.iter().find_map(|j| match &j.activity {
                Activity::Transfer(t) => Some(t.transfer_size.largest()),
                Activity::Entries(_) => None,
            });
            parts.push(size.map_or_else(|| phase.name.clone(), |size| format!("{} {size}", phase.name)));
        }
        if shown < all {
            parts.push(format!("and {} phases more", all - shown));
        }
        parts.join(", ")
    }
}

/// A rank that stops after some operations moves no more than these do.
fn limited(planned: Planned, largest: Bytes, operations: Option<u64>) -> Planned {
    let operations = operations.map_or(planned.operations, |limit| limit.min(planned.operations));
    let bytes = largest.get().saturating_mul(operations).min(planned.bytes.get());
    Planned { bytes: Bytes::new(bytes), operations }
}
