//! The plain engine: `pread` and `pwrite`, one I/O in flight per rank.

use record::{OperationKind, StopCause};
use rustix::fd::BorrowedFd;
use rustix::fs::fsync;
use rustix::io::{Errno, pread, pwrite};

use super::buffer::Buffer;
use super::flow::{Ended, Failure, Flow};
use super::ticks::Ticks;
use crate::sequence::Step;

/// Does transfers until the flow ends.
///
/// In a closed loop that only reads, the end of one operation is the start of the next: one clock reading per I/O.
/// Before a write there is a second one, so that generating its data counts neither as storage time nor as latency.
pub fn run(flow: &mut Flow, buffer: &mut Buffer) -> Ended {
    let mut clock = Ticks::start();
    let mut started = clock.now();
    let mut check_at = flow.next_check(started);
    let mut unsynced = 0;
    let mut filled = false;
    loop {
        if flow.pacer.is_some() {
            match flow.wait_until_due() {
                Ok(due) => started = due,
                Err(cause) => return Ended::Stopped(cause),
            }
            // What is due is told by the monotonic clock itself; the counter may be some us behind it by now.
            clock.synchronise();
        } else if flow.turn.is_some() {
            if let Err(cause) = flow.wait_for_turn() {
                return Ended::Stopped(cause);
            }
            started = clock.now();
        }
        let Some((step, write)) = flow.next() else { return Ended::Stopped(StopCause::Bytes) };
        let part = &mut buffer.part(0)[..step.length as usize];
        let file = &flow.files[step.slot as usize];
        if write {
            if filled {
                flow.generator.refill(u64::from(file.number), step.offset, part);
            } else {
                flow.generator.fill(u64::from(file.number), step.offset, part);
                filled = flow.refills;
            }
            if flow.pacer.is_none() {
                started = clock.now();
            }
        }
        let moved = transfer(&file.descriptor, part, step.offset, write);
        let mut ended = clock.now();
        if moved != Ok(part.len()) {
            let attempt = flow.single_attempt.then_some(moved);
            match once(step, write, attempt)
                .and_then(|()| complete(&file.descriptor, part, step, write, moved))
            {
                Ok(()) => flow.short += 1,
                Err(failure) => return Ended::Failed(failure),
            }
            ended = clock.now();
        }
        let index = if write { flow.write_index } else { flow.read_index };
        flow.meter.record(index, ended.saturating_sub(started), u64::from(step.length));
        started = ended;
        if write && flow.fsync_every > 0 {
            unsynced += 1;
            if unsynced == flow.fsync_every {
                unsynced = 0;
                for _ in 0..flow.fsync_times {
                    let before = started;
                    if let Err(error) = fsync(&flow.files[step.slot as usize].descriptor) {
                        return failed(OperationKind::Fsync, step, Some(error));
                    }
                    started = clock.now();
                    flow.meter.record_side(flow.fsync_index, started.saturating_sub(before));
                }
            }
        } else if flow.verify && !write {
            flow.verify_read(step, &buffer.part(0)[..step.length as usize]);
            started = clock.now();
        }
        if flow.think_ns > 0 {
            match flow.rest_until(started + flow.think_ns) {
                Ok(_) => {
                    clock.synchronise();
                    started = clock.now();
                }
                Err(cause) => return Ended::Stopped(cause),
            }
        }
        if started >= check_at {
            if let Some(cause) = flow.check(started) {
                return Ended::Stopped(cause);
            }
            clock.synchronise();
            started = clock.now();
            check_at = flow.next_check(started);
        }
    }
}

/// One write, whole.
pub fn write_all(file: &impl rustix::fd::AsFd, part: &mut [u8], step: Step) -> Result<(), Failure> {
    let moved = transfer(file, part, step.offset, true);
    if moved == Ok(part.len()) { Ok(()) } else { complete(file, part, step, true, moved) }
}

#[inline]
fn transfer(
    file: impl rustix::fd::AsFd,
    part: &mut [u8],
    offset: u64,
    write: bool,
) -> rustix::io::Result<usize> {
    if write { pwrite(file, part, offset) } else { pread(file, part, offset) }
}

/// Where one attempt is all there is, one that came back short has failed.
#[cold]
fn once(step: Step, write: bool, attempt: Option<rustix::io::Result<usize>>) -> Result<(), Failure> {
    let Some(Ok(moved)) = attempt else { return Ok(()) };
    let kind = if write { OperationKind::Write } else { OperationKind::Read };
    Err(Failure { kind, slot: step.slot, offset: step.offset + moved as u64, error: None })
}

/// Finishes a transfer that came back short or was interrupted.
#[cold]
fn complete(
    file: &impl rustix::fd::AsFd,
    part: &mut [u8],
    step: Step,
    write: bool,
    first: rustix::io::Result<usize>,
) -> Result<(), Failure> {
    let file: BorrowedFd = file.as_fd();
    let kind = if write { OperationKind::Write } else { OperationKind::Read };
    let mut done = 0;
    let mut moved = first;
    loop {
        match moved {
            Ok(0) => {
                return Err(Failure {
                    kind,
                    slot: step.slot,
                    offset: step.offset + done as u64,
                    error: None,
                });
            }
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => {
                return Err(Failure {
                    kind,
                    slot: step.slot,
                    offset: step.offset + done as u64,
                    error: Some(error),
                });
            }
        }
        if done >= part.len() {
            return Ok(());
        }
        moved = transfer(file, &mut part[done..], step.offset + done as u64, write);
    }
}

fn failed(kind: OperationKind, step: Step, error: Option<Errno>) -> Ended {
    Ended::Failed(Failure { kind, slot: step.slot, offset: step.offset, error })
}
