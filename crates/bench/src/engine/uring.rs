//! The asynchronous engine: `io_uring` with registered buffers and files, many I/Os in flight per rank.
//!
//! One clock reading serves all completions of a batch and, for reads, the submissions that follow it. One buffer more
//! than the queue depth lets the next write's data be generated while the device works.

use std::os::fd::AsRawFd as _;

use fault::{Fault, Kind, Result};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use record::{OperationKind, StopCause};
use rustix::io::Errno;

use super::buffer::Buffer;
use super::clock::now;
use super::flow::{Ended, Failure, Flow};
use crate::sequence::Step;

/// I/Os queued before the kernel is told of them. All at once leaves the device idle while the queue is filled; one by one
/// costs a system call each. 4 KiB reads, 32 in flight, virtual disk: all at once 155 k/s at 2.3 µs CPU, by eight 173 k/s
/// at 2.1, by four 181 k/s at 2.3, by two 193 k/s at 2.5; fio, which goes one by one, 180 k/s at 3.8.
const SUBMIT_EVERY: usize = 2;
/// Longest wait for a completion before looking whether to stop.
const LOOK_UP_NS: u32 = 50_000_000;

/// A transfer with its buffer, ready or in flight.
#[derive(Debug, Clone, Copy)]
struct Flight {
    step: Step,
    write: bool,
    started: u64,
    /// Bytes moved so far, when an earlier completion came back short.
    done: u32,
}

/// A ring with the rank's files and buffers registered.
pub struct Ring {
    ring: IoUring,
    flights: Vec<Option<Flight>>,
    free: Vec<usize>,
    registered_buffers: bool,
    in_flight: usize,
    depth: usize,
    /// A transfer whose data is ready. It outlives a deadline: the wear-out goes on with it.
    prepared: Option<usize>,
}

/// Whether this kernel lets us make a ring.
pub fn available() -> bool {
    IoUring::new(2).is_ok()
}

impl Ring {
    /// A ring for `depth` I/Os in flight over the flow's files; `buffer` must have `depth + 1` parts.
    pub fn new(flow: &Flow, buffer: &Buffer, depth: u32) -> Result<Self> {
        let ring = build(depth).map_err(|error| {
            Fault::new(
                Kind::Unsupported,
                format!("cannot make an io_uring of {depth} entries: {}", fault::plain(&error)),
            )
            .hint(hint_without_ring(&error))
            .caused_by(error)
        })?;
        let descriptors: Vec<i32> = flow.files.iter().map(|f| f.descriptor.as_raw_fd()).collect();
        ring.submitter().register_files(&descriptors).map_err(|error| {
            Fault::new(
                Kind::Io,
                format!("cannot register {} files: {}", descriptors.len(), fault::plain(&error)),
            )
            .hint("use fewer files per rank")
        })?;
        // SAFETY: the vectors describe the mapping owned by `buffer`, which the caller keeps until the ring is gone.
        let registered = unsafe { ring.submitter().register_buffers(&buffer.vectors()) };
        let parts = depth as usize + 1;
        Ok(Self {
            ring,
            flights: vec![None; parts],
            free: (0..parts).collect(),
            // Without the right to lock memory (RLIMIT_MEMLOCK) plain reads and writes do the same, a little slower.
            registered_buffers: registered.is_ok(),
            in_flight: 0,
            depth: depth as usize,
            prepared: None,
        })
    }

    /// Does transfers until the flow ends and nothing is in flight any more.
    pub fn run(&mut self, flow: &mut Flow, buffer: &mut Buffer) -> Ended {
        let mut current = now();
        let mut check_at = flow.next_check(current);
        let mut stop: Option<Ended> = None;
        loop {
            if stop.is_none()
                && let Err(cause) = self.fill_queue(flow, buffer, &mut current)
            {
                stop = Some(Ended::Stopped(cause));
            }
            if self.in_flight == 0 && (stop.is_some() || (flow.pacer.is_none() && flow.turn.is_none())) {
                return stop.unwrap_or(Ended::Stopped(StopCause::Bytes));
            }
            if self.in_flight == 0 && flow.turn.is_some() {
                // The job is ahead of its part, and nothing of ours would wake us.
                if let Err(cause) = flow.wait_a_little() {
                    stop = Some(Ended::Stopped(cause));
                }
                current = now();
                continue;
            }
            if stop.is_none() && self.prepared.is_none() && flow.pacer.is_none() && flow.read_share < 1.0 {
                // The device is busy: use the time to generate what comes next.
                if let Err(error) = self.ring.submit() {
                    stop = Some(self.broken(&error));
                }
                self.prepared = self.prepare(flow, buffer);
            }
            let wait = self.wait(flow, stop.is_none());
            current = now();
            if let Err(ended) = wait.and_then(|()| self.reap(flow, buffer, current)) {
                stop.get_or_insert(ended);
            }
            if current >= check_at || flow.pacer.is_some() {
                if let Some(cause) = flow.check(current) {
                    stop.get_or_insert(Ended::Stopped(cause));
                }
                check_at = flow.next_check(current);
            }
        }
    }

    /// Puts transfers in flight up to the depth. Fails with the cause when the share is done or, in an open loop, the
    /// deadline passed.
    fn fill_queue(
        &mut self,
        flow: &mut Flow,
        buffer: &mut Buffer,
        current: &mut u64,
    ) -> std::result::Result<(), StopCause> {
        let mut queued = 0;
        while self.in_flight < self.depth {
            let mut due = None;
            if let Some(pacer) = &mut flow.pacer {
                if pacer.due() > *current {
                    break;
                }
                due = Some(pacer.due());
                pacer.advance();
            }
            if flow.turn.as_mut().is_some_and(|turn| !turn.take()) {
                break;
            }
            let Some(slot) = self.prepared.take().or_else(|| self.prepare(flow, buffer)) else {
                return Err(StopCause::Bytes);
            };
            self.stamp(slot, due, current);
            self.push(flow, buffer, slot);
            queued += 1;
            if queued % SUBMIT_EVERY == 0 {
                // Errors come back from `wait`.
                let _ = self.ring.submit();
            }
        }
        Ok(())
    }

    /// Says when the transfer in `slot` started: when it was due, or now. For reads that is the last look at the clock;
    /// generating data takes time that is not the storage's.
    fn stamp(&mut self, slot: usize, due: Option<u64>, current: &mut u64) {
        let Some(flight) = &mut self.flights[slot] else { return };
        if flight.write && due.is_none() {
            *current = now();
        }
        flight.started = due.unwrap_or(*current);
    }

    /// Takes the next transfer and generates its data; `None` at the end of the share.
    fn prepare(&mut self, flow: &mut Flow, buffer: &mut Buffer) -> Option<usize> {
        // Limits count transfers in flight too.
        if flow.meter.operations + self.in_flight as u64 >= flow.operation_limit {
            return None;
        }
        let (step, write) = flow.next()?;
        let slot = self.free.pop()?;
        if write {
            let number = flow.files[step.slot as usize].number;
            flow.generator.fill(
                u64::from(number),
                step.offset,
                &mut buffer.part(slot)[..step.length as usize],
            );
        }
        self.flights[slot] = Some(Flight { step, write, started: 0, done: 0 });
        Some(slot)
    }

    /// Queues the transfer in `slot`.
    fn push(&mut self, flow: &Flow, buffer: &Buffer, slot: usize) {
        let Some(flight) = self.flights[slot] else { return };
        let entry = self.entry(&flight, buffer, slot);
        debug_assert!((flight.step.slot as usize) < flow.files.len());
        loop {
            // SAFETY: the buffer part belongs to this flight until its completion is reaped, and outlives the ring.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                break;
            }
            // The queue is as deep as the ring, so submitting always makes room; errors surface in `wait`.
            let _ = self.ring.submit();
        }
        self.in_flight += 1;
    }

    fn entry(&self, flight: &Flight, buffer: &Buffer, slot: usize) -> squeue::Entry {
        let file = Fixed(flight.step.slot);
        // SAFETY: `done` is below the part's length, so the address stays inside the part.
        let address = unsafe { buffer.address(slot).add(flight.done as usize) };
        let length = flight.step.length - flight.done;
        let offset = flight.step.offset + u64::from(flight.done);
        let entry = match (flight.write, self.registered_buffers) {
            (true, true) => {
                opcode::WriteFixed::new(file, address, length, slot as u16).offset(offset).build()
            }
            (true, false) => opcode::Write::new(file, address, length).offset(offset).build(),
            (false, true) => {
                opcode::ReadFixed::new(file, address, length, slot as u16).offset(offset).build()
            }
            (false, false) => opcode::Read::new(file, address, length).offset(offset).build(),
        };
        entry.user_data(slot as u64)
    }

    /// Submits and waits for a completion, but not longer than until the next operation is due.
    fn wait(&mut self, flow: &Flow, starting: bool) -> std::result::Result<(), Ended> {
        let result = match &flow.pacer {
            // With a full queue nothing can start before something has ended.
            Some(pacer) if starting && self.in_flight < self.depth => {
                let nanoseconds = pacer.due().saturating_sub(now()).min(u64::from(LOOK_UP_NS)) as u32;
                let timeout = Timespec::new().nsec(nanoseconds.max(1));
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
            _ => self.ring.submit_and_wait(1),
        };
        match result {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {
                Ok(())
            }
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// The ring itself failed: nothing in flight will ever be reaped.
    fn broken(&mut self, error: &std::io::Error) -> Ended {
        let step =
            self.flights.iter().flatten().next().map_or(Step { slot: 0, offset: 0, length: 0 }, |f| f.step);
        self.in_flight = 0;
        let error = error.raw_os_error().map(Errno::from_raw_os_error);
        Ended::Failed(Failure { kind: OperationKind::Read, slot: step.slot, offset: step.offset, error })
    }

    /// Counts all completions that are there; short ones are continued.
    fn reap(&mut self, flow: &mut Flow, buffer: &mut Buffer, current: u64) -> std::result::Result<(), Ended> {
        let mut failure = None;
        loop {
            let Some(completion) = self.ring.completion().next() else { break };
            self.in_flight -= 1;
            if let Err(failed) = self.complete(flow, buffer, &completion, current) {
                failure.get_or_insert(failed);
            }
        }
        failure.map_or(Ok(()), |failure| Err(Ended::Failed(failure)))
    }

    fn complete(
        &mut self,
        flow: &mut Flow,
        buffer: &mut Buffer,
        completion: &cqueue::Entry,
        current: u64,
    ) -> std::result::Result<(), Failure> {
        let slot = completion.user_data() as usize;
        let Some(mut flight) = self.flights[slot].take() else { return Ok(()) };
        let kind = if flight.write { OperationKind::Write } else { OperationKind::Read };
        let result = completion.result();
        if result <= 0 && result != -libc::EINTR && result != -libc::EAGAIN {
            self.free.push(slot);
            let error = (result < 0).then(|| Errno::from_raw_os_error(-result));
            let offset = flight.step.offset + u64::from(flight.done);
            return Err(Failure { kind, slot: flight.step.slot, offset, error });
        }
        flight.done += result.max(0).cast_unsigned();
        if flight.done < flight.step.length {
            if flow.single_attempt && result > 0 {
                self.free.push(slot);
                let offset = flight.step.offset + u64::from(flight.done);
                return Err(Failure { kind, slot: flight.step.slot, offset, error: None });
            }
            flow.short += 1;
            self.flights[slot] = Some(flight);
            self.push(flow, buffer, slot);
            return Ok(());
        }
        let index = if flight.write { flow.write_index } else { flow.read_index };
        flow.meter.record(index, current.saturating_sub(flight.started), u64::from(flight.step.length));
        if flow.verify && !flight.write {
            flow.verify_read(flight.step, &buffer.part(slot)[..flight.step.length as usize]);
        }
        self.free.push(slot);
        Ok(())
    }
}

fn hint_without_ring(error: &std::io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (`ulimit -n`) or use fewer ranks",
        Some(libc::ENOMEM) => "raise the limit of locked memory (`ulimit -l`), or use a smaller queue depth",
        _ => "use the psync engine (`--engine psync`), or allow io_uring (`sysctl kernel.io_uring_disabled`)",
    }
}

/// The cheapest ring this kernel offers: completions are handled in our own system calls, without interrupts to us.
fn build(depth: u32) -> std::io::Result<IoUring> {
    let entries = depth.next_power_of_two().max(2);
    IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries)
        // Kernels before 6.1 know none of these.
        .or_else(|_| IoUring::new(entries))
}
