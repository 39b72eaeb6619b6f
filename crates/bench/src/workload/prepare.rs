//! A workload that reads before it writes gets what it needs first.

use units::Bytes;

use super::{Activity, Entries, EntryOperation, Phase, Transfer, Workload};

/// Name of the phases that are put in front.
pub const PREPARE: &str = "prepare";

impl Workload {
    /// The workload with phases in front that make the files, trees and items it works on, where it does not do so
    /// itself. They are part of the record like any other phase.
    pub fn prepared(&self) -> Self {
        let mut phases = Vec::new();
        if self.reads_before_writing() {
            let size = Bytes::new(common_divisor(self.files.block_size.get(), 1 << 20));
            phases.push(Phase::transfer(PREPARE, Transfer::write(size)));
        }
        let operations: Vec<&Entries> =
            self.phases.iter().flat_map(|p| &p.jobs).filter_map(entries).collect();
        if let Some(first) = operations.first() {
            if first.operation != EntryOperation::MakeTree {
                phases.push(Phase::entries("prepare tree", Entries::of(EntryOperation::MakeTree)));
            }
            let first_item = operations.iter().find(|e| on_items(e.operation));
            if let Some(item) = first_item.filter(|e| e.operation != EntryOperation::Create) {
                let write_bytes = operations.iter().map(|e| e.read_bytes).max().unwrap_or_default();
                let create = Entries { item: item.item, write_bytes, ..Entries::of(EntryOperation::Create) };
                phases.push(Phase::entries("prepare items", create));
            }
        }
        phases.extend(self.phases.iter().cloned());
        Self { phases, ..self.clone() }
    }

    fn reads_before_writing(&self) -> bool {
        let first = self.phases.iter().find_map(|phase| {
            let mut transfers = phase.jobs.iter().filter_map(|job| match &job.activity {
                Activity::Transfer(transfer) => Some(transfer),
                Activity::Entries(_) => None,
            });
            transfers.next().map(|first| first.reads() || transfers.any(Transfer::reads))
        });
        first.unwrap_or(false)
    }
}

fn entries(job: &super::Job) -> Option<&Entries> {
    match &job.activity {
        Activity::Entries(entries) => Some(entries),
        Activity::Transfer(_) => None,
    }
}

fn on_items(operation: EntryOperation) -> bool {
    !matches!(operation, EntryOperation::MakeTree | EntryOperation::RemoveTree | EntryOperation::Find)
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
