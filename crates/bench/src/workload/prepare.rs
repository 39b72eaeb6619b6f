//! A workload that reads what it has not written gets what it needs first.

use fleet::Placement;
use units::Bytes;

use super::{Activity, Entries, EntryOperation, Job, Order, Phase, Transfer, Workload};

/// Name of the phases that are put in front.
pub const PREPARE: &str = "prepare";
/// Files are filled with transfers of at most this size, where the block size has a divisor that allows it.
const FILL_SIZE: u64 = 1 << 20;

impl Workload {
    /// The workload with its ranks where they are: shifts by nodes are shifts by ranks.
    #[must_use]
    pub fn placed(&self, placement: &Placement) -> Self {
        let mut placed = self.clone();
        let on_first = placement.ranks_per_node();
        for phase in &mut placed.phases {
            let ranks = phase.size(self.ranks);
            for job in &mut phase.jobs {
                let shift = match &mut job.activity {
                    Activity::Transfer(transfer) => &mut transfer.rank_shift,
                    Activity::Entries(entries) => &mut entries.rank_shift,
                };
                *shift = shift.placed(on_first, ranks);
            }
        }
        placed
    }

    /// The workload with phases in front that make the files, trees and items it works on, where it does not do so
    /// itself. They are part of the record like any other phase.
    pub fn prepared(&self) -> Self {
        let mut phases = Vec::new();
        if let Some(reader) = self.reader_of_unwritten().filter(|_| !self.uses_existing()) {
            phases.push(Phase::transfer(PREPARE, Transfer::write(self.fill_size(reader))));
        }
        let operations: Vec<&Entries> =
            self.phases.iter().flat_map(|p| &p.jobs).filter_map(entries).collect();
        // Under names that somebody chose, trees are made by phases that say so, or by an earlier run.
        let named = self.files.named.as_ref().is_some_and(|named| named.tree.is_some());
        if let Some(first) = operations.first().filter(|_| !named) {
            if first.operation != EntryOperation::MakeTree {
                phases.push(Phase::entries("prepare tree", Entries::of(EntryOperation::MakeTree)));
            }
            if let Some(item) = self.user_of_unmade() {
                let sizes = operations.iter().map(|e| e.read_bytes.max(e.write_bytes));
                let write_bytes = sizes.max().unwrap_or_default();
                let create = Entries { item: item.item, write_bytes, ..Entries::of(EntryOperation::Create) };
                phases.push(Phase::entries("prepare items", create));
            }
        }
        phases.extend(self.phases.iter().cloned());
        Self { phases, ..self.clone() }
    }

    /// The first operation on items that no earlier phase has made. Jobs of one phase work at the same time: what one of
    /// them makes is not there when the others begin.
    fn user_of_unmade(&self) -> Option<&Entries> {
        let of = |phase: &Phase| phase.jobs.iter().filter_map(entries).any(|e| self.needs_items(e.operation));
        let first = self.phases.iter().find(|phase| of(phase))?;
        let mut needing = first.jobs.iter().filter_map(entries).filter(|e| self.needs_items(e.operation));
        needing.find(|e| e.operation != EntryOperation::Create)
    }

    fn needs_items(&self, operation: EntryOperation) -> bool {
        match operation {
            EntryOperation::MakeTree | EntryOperation::RemoveTree | EntryOperation::Mark => false,
            EntryOperation::Find => self.files.tree.items > 0,
            _ => true,
        }
    }

    /// The first transfer that would read what no earlier phase has surely written.
    fn reader_of_unwritten(&self) -> Option<&Transfer> {
        let mut shares = vec![Coverage::Walks(Vec::new()); self.ranks as usize];
        for phase in &self.phases {
            for (transfer, owner) in self.transfers(phase) {
                if !transfer.reads() {
                    continue;
                }
                let needed =
                    if transfer.roams(self.files.layout) { &shares[..] } else { &shares[owner..=owner] };
                if !needed.iter().all(|share| self.serves(share, transfer)) {
                    return Some(transfer);
                }
            }
            for (transfer, owner) in
                self.transfers(phase).filter(|(transfer, _)| self.leaves_written(phase, transfer))
            {
                shares[owner].add(transfer, self.is_full(phase, transfer));
            }
        }
        None
    }

    /// What ranks move in a phase, and whose share it is.
    fn transfers<'a>(&'a self, phase: &'a Phase) -> impl Iterator<Item = (&'a Transfer, usize)> {
        (0..self.ranks).filter_map(|rank| {
            let (job, _) = phase.job_of(rank, self.ranks)?;
            let transfer = transfer(job)?;
            Some((transfer, transfer.rank_shift.apply(rank, phase.size(self.ranks)) as usize))
        })
    }

    /// Whether it can be said what a transfer has written.
    fn leaves_written(&self, phase: &Phase, transfer: &Transfer) -> bool {
        transfer.covers() || (transfer.prefill.is_some() && self.is_full(phase, transfer))
    }

    /// Whether a phase leaves whole shares written, whatever happens.
    fn is_full(&self, phase: &Phase, transfer: &Transfer) -> bool {
        let stop = &phase.stop;
        let together = phase.jobs.len() == 1 && phase.participants(self.ranks) == self.ranks;
        stop.time.is_none()
            && stop.operations.is_none()
            && (transfer.range_start.get(), transfer.range_end.get()) == (0.0, 1.0)
            && (together || !transfer.roams(self.files.layout))
    }

    fn serves(&self, share: &Coverage, reader: &Transfer) -> bool {
        let Coverage::Walks(walks) = share else { return true };
        !walks.is_empty() && walks.iter().all(|walk| self.serves_after(walk, reader))
    }

    /// Whether what is left of a write that was stopped is enough: the reader takes the same way, or the writer went
    /// from the start on and left no gaps.
    fn serves_after(&self, writer: &Transfer, reader: &Transfer) -> bool {
        let layout = self.files.layout;
        let same_part = (writer.range_start, writer.range_end) == (reader.range_start, reader.range_end);
        let same_way = (writer.order, &writer.transfer_size) == (reader.order, &reader.transfer_size)
            && !reader.has_hits();
        // Orders inside blocks go to any part of a block that was written in part.
        let by_blocks = matches!(reader.order, Order::RandomInBlocks | Order::RandomDrawn);
        let in_front =
            writer.order.is_forward() && !by_blocks && !reader.roams(layout) && !writer.roams(layout);
        same_part && (same_way || in_front)
    }

    /// The largest multiple of the reader's unit that divides a block, up to a limit.
    fn fill_size(&self, reader: &Transfer) -> Bytes {
        let unit = reader.transfer_size.unit().get();
        let units = self.files.block_size.get() / unit;
        let most = (FILL_SIZE / unit).clamp(1, units);
        let count = (1..=most).rev().find(|count| units.is_multiple_of(*count)).unwrap_or(1);
        Bytes::new(unit * count)
    }
}

/// How much of a share is written when a phase begins.
#[derive(Debug, Clone)]
enum Coverage<'a> {
    /// All of it.
    Full,
    /// What these walks came to before they were stopped.
    Walks(Vec<&'a Transfer>),
}

impl<'a> Coverage<'a> {
    fn add(&mut self, walk: &'a Transfer, full: bool) {
        match self {
            _ if full => *self = Self::Full,
            Self::Walks(walks) => walks.push(walk),
            Self::Full => {}
        }
    }
}

fn transfer(job: &Job) -> Option<&Transfer> {
    match &job.activity {
        Activity::Transfer(transfer) => Some(transfer),
        Activity::Entries(_) => None,
    }
}

fn entries(job: &Job) -> Option<&Entries> {
    match &job.activity {
        Activity::Entries(entries) => Some(entries),
        Activity::Transfer(_) => None,
    }
}
