//! Writing a share in order before something else is done to it, inside the phase's time.

use record::OperationKind;
use units::Bytes;

use super::buffer::Buffer;
use super::clock::now;
use super::flow::{Ended, Failure, Flow};
use super::psync;
use crate::sequence::Sequence;
use crate::workload::{FileSet, Order, Transfer, TransferSize};

/// A prefill of one rank.
pub struct Prefill {
    sequence: Sequence,
    buffer: Buffer,
}

impl Prefill {
    /// The share of rank `owner` of `ranks`; `None` where none is asked for.
    pub fn new(files: &FileSet, transfer: &Transfer, owner: u32, ranks: u32) -> fault::Result<Option<Self>> {
        let Some(size) = transfer.prefill else { return Ok(None) };
        let sequence = Sequence::new(files, &in_order(transfer, size), owner, ranks, 0);
        Ok(Some(Self { sequence, buffer: Buffer::new(size.as_usize(), 1)? }))
    }

    /// Writes it; says why if something ended it before its end.
    pub fn run(&mut self, flow: &mut Flow) -> Option<Ended> {
        let mut check_at = flow.next_check(now());
        while let Some(step) = self.sequence.step() {
            let current = now();
            if current >= check_at {
                if let Some(cause) = flow.check(current) {
                    return Some(Ended::Stopped(cause));
                }
                check_at = flow.next_check(current);
            }
            let part = &mut self.buffer.part(0)[..step.length as usize];
            let file = &flow.files[step.slot as usize];
            flow.generator.fill(u64::from(file.number), step.offset, part);
            if let Err(failure) = psync::write_all(&file.descriptor, part, step) {
                return Some(Ended::Failed(Failure { kind: OperationKind::Write, ..failure }));
            }
        }
        None
    }
}

/// The transfer that fills what `transfer` goes to.
pub fn in_order(transfer: &Transfer, size: Bytes) -> Transfer {
    Transfer {
        transfer_size: TransferSize::Fixed(size),
        order: Order::Sequential,
        range_start: units::Ratio::ZERO,
        range_end: units::Ratio::ONE,
        ..transfer.clone()
    }
}
