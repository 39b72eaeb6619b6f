//! Which engine suits this file system. `io_uring` is not always the faster one: where the kernel can't do a buffered
//! read without waiting (tmpfs) it hands each I/O to a worker thread, at 5 to 9 times the CPU of `pread`.

use std::path::Path;

use fault::{Fault, Kind, Result};
use fleet::local::LocalRank;
use fleet::{Block, Meeting};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use units::{Bytes, Ratio};

use super::failures::Failures;
use super::meter::Board;
use super::rank::{PhaseContext, run_rank};
use super::share::Share;
use super::stop_flag::StopFlag;
use super::uring;
use crate::ground::Grounds;
use crate::workload::{EngineChoice, FileSet, Fsync, Order, Pacing, Phase, Stop, Transfer, Workload};

/// How I/O is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineKind {
    /// `pread` and `pwrite`.
    Psync,
    /// `io_uring`.
    Uring,
}

/// An engine and why it was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Which.
    pub kind: EngineKind,
    /// For the record.
    pub reason: String,
}

/// The probe moves at most this many bytes and I/Os per engine, and stops after this long.
const PROBE_BYTES: u64 = 32 << 20;
const PROBE_OPERATIONS: u64 = 2000;
const PROBE_MILLISECONDS: u64 = 150;
/// Below this gain the simpler engine wins: the rest is noise.
const WORTHWHILE: f64 = 1.10;
/// Through the page cache and one at a time a ring has nothing to gain by. On a busy virtual disk one probe in three still
/// saw 10 % more for 1 MiB writes, which then ran 24 % slower at twice the CPU.
const WORTHWHILE_BUFFERED: f64 = 1.5;
/// More CPU per I/O than this, and a gain in rate must be as large to be worth it.
const CPU_HEAVY: f64 = 1.5;

impl EngineKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Uring => "uring",
        }
    }
}

/// Chooses the engine for a transfer: as told, by necessity, or by a probe in a directory of its own below `target`.
pub fn choose(choice: EngineChoice, transfer: &Transfer, target: &Path, run: &str) -> Result<Chosen> {
    let sequential_only = transfer.fsync.every() > 0 || !transfer.think_time.is_zero();
    let chosen = |kind, reason: &str| Ok(Chosen { kind, reason: reason.to_owned() });
    match choice {
        EngineChoice::Psync if transfer.queue_depth > 1 => Err(unsupported(
            format!("the psync engine has one I/O in flight per rank, not {}", transfer.queue_depth),
            "use more ranks, or the uring engine",
        )),
        EngineChoice::Psync => chosen(EngineKind::Psync, "as told"),
        EngineChoice::Uring if sequential_only => Err(unsupported(
            "the uring engine has no fsync per write and no think time".to_owned(),
            "use the psync engine",
        )),
        EngineChoice::Auto if sequential_only && transfer.queue_depth > 1 => Err(unsupported(
            format!("fsync per write and think time need one I/O at a time, not {}", transfer.queue_depth),
            "use more ranks and `queue_depth = 1`",
        )),
        EngineChoice::Uring => chosen(EngineKind::Uring, "as told"),
        EngineChoice::Auto if sequential_only => {
            chosen(EngineKind::Psync, "fsync per write or think time needs one I/O at a time")
        }
        EngineChoice::Auto if !uring::available() && transfer.queue_depth == 1 => {
            chosen(EngineKind::Psync, "this kernel does not let us use io_uring")
        }
        EngineChoice::Auto if transfer.queue_depth > 1 => {
            chosen(EngineKind::Uring, "more than one I/O in flight per rank")
        }
        EngineChoice::Auto => {
            let grounds =
                Grounds::fresh(&[target], &format!("{run}-probe"), &crate::workload::Tree::default())?;
            let chosen = probe(transfer, &grounds);
            let removed = grounds.into_all().into_iter().try_for_each(|ground| ground.remove(false));
            chosen.and_then(|chosen| removed.map(|()| chosen))
        }
    }
}

fn unsupported(message: String, hint: &str) -> Fault {
    Fault::new(Kind::Unsupported, message).hint(hint)
}

/// Rate and CPU time of one engine.
#[derive(Debug, Clone, Copy)]
struct Sample {
    operations_per_second: f64,
    cpu_microseconds: f64,
}

impl Sample {
    fn best(self, other: Self) -> Self {
        Self {
            operations_per_second: self.operations_per_second.max(other.operations_per_second),
            cpu_microseconds: self.cpu_microseconds.min(other.cpu_microseconds),
        }
    }
}

fn probe(transfer: &Transfer, grounds: &Grounds) -> Result<Chosen> {
    let workload = probe_workload(transfer);
    if transfer.reads() {
        let fill = Transfer { direct: transfer.direct, ..Transfer::write(fill_size(transfer)) };
        let prepare = Phase::transfer("prepare", fill);
        measure(&workload, &prepare, EngineKind::Psync, grounds)?;
    }
    let sample = |kind| measure(&workload, &workload.phases[0], kind, grounds);
    // There and back again: what slows one engine for a moment, or helps the one that goes second, does not decide.
    let (psync, uring) = (sample(EngineKind::Psync)?, sample(EngineKind::Uring)?);
    let (uring, psync) = (uring.best(sample(EngineKind::Uring)?), psync.best(sample(EngineKind::Psync)?));
    let gain = uring.operations_per_second / psync.operations_per_second.max(1e-9);
    let cost = uring.cpu_microseconds / psync.cpu_microseconds.max(1e-9);
    let worthwhile = if transfer.direct { WORTHWHILE } else { WORTHWHILE_BUFFERED };
    let kind = if gain > worthwhile && (cost < CPU_HEAVY || gain > cost) {
        EngineKind::Uring
    } else {
        EngineKind::Psync
    };
    let reason = format!(
        "probe: psync {:.0} op/s at {:.1} µs CPU, uring {:.0} op/s at {:.1} µs CPU",
        psync.operations_per_second,
        psync.cpu_microseconds,
        uring.operations_per_second,
        uring.cpu_microseconds
    );
    Ok(Chosen { kind, reason })
}

/// As many transfers as make a megabyte: the file is written with these.
fn fill_size(transfer: &Transfer) -> Bytes {
    let size = transfer.transfer_size.largest().get().max(1);
    Bytes::new(size * ((1 << 20) / size).max(1))
}

/// One rank, a small file, the transfer's own shape.
fn probe_workload(transfer: &Transfer) -> Workload {
    let size = transfer.transfer_size.largest();
    let operations = (PROBE_BYTES / size.get().max(1)).clamp(4, PROBE_OPERATIONS);
    let fill = fill_size(transfer).get();
    let block = Bytes::new((size.get() * operations).next_multiple_of(fill));
    let shape = Transfer {
        order: if transfer.order == Order::Sequential { Order::Sequential } else { Order::Random },
        pacing: Pacing::Closed,
        verify: false,
        prefill: None,
        read_hits: Ratio::ZERO,
        write_hits: Ratio::ZERO,
        fsync: Fsync::AtEnd,
        rank_shift: crate::workload::RankShift::None,
        ..transfer.clone()
    };
    let stop = Stop {
        time: Some(std::time::Duration::from_millis(PROBE_MILLISECONDS)),
        operations: Some(operations),
        ..Stop::default()
    };
    Workload {
        version: crate::workload::VERSION,
        name: "probe".to_owned(),
        ranks: 1,
        seed: 1,
        engine: EngineChoice::Auto,
        pin: false,
        repetitions: 1,
        files: FileSet { block_size: block, ..FileSet::default() },
        data: crate::data::Data::default(),
        more_targets: Vec::new(),
        hold_memory: None,
        max_time: None,
        phases: vec![Phase { stop, ..Phase::transfer("probe", shape) }],
    }
}

fn measure(workload: &Workload, phase: &Phase, kind: EngineKind, grounds: &Grounds) -> Result<Sample> {
    let (board, stop, failures) = (Board::new(Block::whole(1)), StopFlag::default(), Failures::default());
    let shares = [Share::full()];
    let context = PhaseContext {
        workload,
        phase,
        grounds,
        board: &board,
        stop: &stop,
        engines: &[kind],
        pin: &[],
        shares: &shares,
        pool: None,
        failures: &failures,
        host: "",
    };
    let meeting = Meeting::new(1);
    let cpu = process_cpu();
    let outcome = run_rank(&context, &LocalRank::alone(&meeting))?;
    let cpu = process_cpu() - cpu;
    if let Some(fault) = failures.into_parts().1 {
        return Err(fault);
    }
    let operations = outcome.result.operations.max(1) as f64;
    // With the fsync, so that writes are compared by what reached the storage.
    let seconds = outcome.result.synced_ns.saturating_sub(outcome.result.opened_ns) as f64 / 1e9;
    Ok(Sample {
        operations_per_second: operations / seconds.max(1e-9),
        cpu_microseconds: cpu as f64 / 1e3 / operations,
    })
}

/// CPU time of the whole process: io_uring's workers count too.
fn process_cpu() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
