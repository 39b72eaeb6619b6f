//! One process's part of a phase: its ranks, what was counted on its host, and the clocks.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fault::{Fault, Kind, Result};
use fleet::local::{LocalRank, launch};
use fleet::{Block, Clock, Link, Meeting};
use host::{Counters, Environment};
use record::{Mark, OperationError, OperationKind, RankResult, StopCause, StorageLayout};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::collect::Collector;
use super::curve::Curve;
use super::gathered::Gathered;
use super::probes::Probes;
use super::room::{self, Room};
use super::watch::{Observer, Watch};
use crate::allocation;
use crate::belief::Allocation;
use crate::crew::wire::{self, WireFault};
use crate::engine::{
    Board, Chosen, EngineKind, Failures, PhaseContext, Pool, RankOutcome, Share, ShareState, StopFlag,
    main_kinds, now, only_meet, own_table, run_rank,
};
use crate::ground::Grounds;
use crate::layout;
use crate::workload::{Activity, EntryOperation, Phase, Workload};

/// The common start lies so much further ahead than it takes to tell everyone: threads must wake up, too.
const HEAD_START_NS: u64 = 2_000_000;
const HEAD_START_PER_RANK_NS: u64 = 20_000;
/// A start is not put off further, however slow the links are.
const MOST_HEAD_START_NS: u64 = 500_000_000;
/// Times that telling everyone is tried out.
const TRIALS: u64 = 2;

/// Everything a part of a phase runs in.
pub struct Part<'a> {
    /// The whole workload.
    pub workload: &'a Workload,
    /// The phase.
    pub phase: &'a Phase,
    /// How I/O is submitted, per job.
    pub engines: &'a [Chosen],
    /// Where files are.
    pub grounds: &'a Grounds,
    /// The counters below the targets.
    pub probes: &'a Probes,
    /// What each rank's share holds, of all ranks.
    pub shares: &'a [Share],
    /// The items, where ranks take them from each other.
    pub pool: Option<&'a Pool>,
    /// Name of this host.
    pub host: &'a str,
    /// The ranks of this process.
    pub block: Block,
    /// vCPUs to bind them to, in order; empty: not bound.
    pub pin: &'a [u32],
    /// Whether this process looks at what all share: files, free space.
    pub leads: bool,
    /// The machine and the storage of the first target.
    pub environment: &'a Environment,
    /// What must stay available in the targets.
    pub reserve: Bytes,
    /// What joins the processes.
    pub link: &'a dyn Link,
}

/// What a process brings home from a phase.
#[derive(Debug)]
pub struct PartResult {
    /// All but the distributions.
    pub head: PartHead,
    /// Sums per kind and the series.
    pub gathered: Gathered,
}

/// What a process brings home from a phase, in words.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PartHead {
    /// What its ranks did, those that came to an end.
    pub ranks: Vec<RankPart>,
    /// Why a rank, or the whole part, died.
    pub died: Option<WireFault>,
    /// The failure that ended the run here.
    pub failure: Option<WireFault>,
    /// What went wrong, word for word, the first few.
    pub errors: Vec<OperationError>,
    /// What the kernel counted on this host.
    pub counters: Counters,
    /// Dirty pages and those being written when it began.
    pub dirty_before: Bytes,
    /// What was done here when the first rank of all was done, and how far apart the samples are that it is read off; 0 if
    /// it is exact.
    pub first_done: Option<(Mark, u64)>,
    /// What all ranks here did; `elapsed_ns` since they were launched.
    pub total: Mark,
    /// The common start, on this host's clock and on the root's.
    pub origin: u64,
    /// See above.
    pub root_origin: u64,
    /// The clock before and after: offset and uncertainty, ns.
    pub clocks: [(i64, u64); 2],
    /// By how much the last rank began later than agreed.
    pub late_ns: u64,
    /// Available before and after, where this process looks.
    pub available: [Bytes; 2],
    /// How the files lie, where this process looks.
    pub allocated: Option<Allocation>,
    /// Where the files lie on the servers, where this process looks and the file system tells.
    pub layout: Option<StorageLayout>,
    /// Shares that are other than before, by rank.
    pub changed: Vec<(u32, ShareState)>,
}

/// What a rank brings home.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RankPart {
    /// Times and counts.
    pub result: RankResult,
    /// Why it ended.
    pub cause: StopCause,
    /// Whether the wear-out ran into its cap.
    pub capped: bool,
    /// Bytes compared and words that differ.
    pub verified: (u64, u64),
    /// Entries that were looked for and found.
    pub matched: Option<u64>,
}

impl PartResult {
    /// For the root.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        wire::push_bytes(&mut bytes, &wire::pack(&self.head)?);
        wire::push_bytes(&mut bytes, &self.gathered.to_bytes());
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = wire::Reader(bytes);
        let head = wire::unpack(reader.bytes()?)?;
        Ok(Self { head, gathered: Gathered::from_bytes(reader.bytes()?)? })
    }
}

/// What came of the ranks' threads.
struct Ended {
    outcomes: Vec<Result<RankOutcome>>,
    /// They could not be started.
    unstarted: Option<Fault>,
    /// What the processes agreed on at the end.
    agreed: Result<Option<u64>>,
    /// Counters at the end of the ranks here, and at the end of all.
    counters: [Counters; 2],
}

impl Part<'_> {
    /// Runs it. Every process makes the same collective calls, whatever happens here.
    ///
    /// # Errors
    ///
    /// When the link can't go on; in a run of one process also when its threads can't be started.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<PartResult> {
        let several = self.link.processes() > 1;
        let reads_only = self.reads_only();
        let files = &self.workload.files;
        let allocated = (self.leads && reads_only)
            .then(|| allocation::of(self.grounds, files, self.workload.ranks, self.shares))
            .flatten();
        let available_before = self.available();
        let shares_before: Vec<ShareState> = self.shares.iter().map(Share::state).collect();
        let clock_before = self.link.clock()?;
        let head_start = if several { self.head_start()? } else { Some(0) };
        let mut part = match head_start {
            Some(head_start) => self.measure(observer, clock_before, head_start)?,
            None => self.called_off(),
        };
        let clock_after = self.link.clock()?;
        let head = &mut part.head;
        head.allocated = allocated;
        if self.leads && self.writes() {
            head.layout = layout::look(self.grounds, self.workload, self.environment);
        }
        head.available = [available_before, self.available()];
        head.clocks = [clock_before, clock_after].map(|clock| (clock.offset_ns, clock.uncertainty_ns));
        head.root_origin = clock_before.to_root(head.origin);
        let now = self.shares.iter().map(Share::state);
        let changed = (0..).zip(shares_before).zip(now).filter(|((_, before), after)| before != after);
        head.changed = changed.map(|((rank, _), after)| (rank, after)).collect();
        if several {
            part.gathered.shorten(Gathered::most_of(self.link.processes()));
        }
        Ok(part)
    }

    /// How far ahead the common start has to lie for everyone to hear of it; `None` if somebody is gone.
    fn head_start(&self) -> Result<Option<u64>> {
        // The first brings everyone to the same place.
        if self.link.all_max(Some(0))?.is_err() {
            return Ok(None);
        }
        let started = now();
        for _ in 0..TRIALS {
            if self.link.all_max(Some(0))?.is_err() {
                return Ok(None);
            }
        }
        let trip = (now() - started) / TRIALS;
        let own = HEAD_START_NS + HEAD_START_PER_RANK_NS * u64::from(self.block.count) + 4 * trip;
        Ok(self.link.all_max(Some(own.min(MOST_HEAD_START_NS)))?.ok())
    }

    /// Nothing was measured: the processes had parted before.
    fn called_off(&self) -> PartResult {
        let gone = Fault::new(Kind::Interrupted, "another rank ended the phase");
        let head = PartHead { died: Some((&gone).into()), origin: now(), ..PartHead::default() };
        PartResult { head, gathered: Collector::watching(self.main_kinds()).finish() }
    }

    fn measure(&self, observer: &mut dyn Observer, clock: Clock, head_start: u64) -> Result<PartResult> {
        let (board, stop) = (Board::new(self.block), StopFlag::default());
        let several = self.link.processes() > 1;
        let link = several.then_some(self.link);
        // Where there are no ranks, somebody must come to their meetings all the same.
        let meeting = match link {
            Some(link) => Meeting::over(self.block.count.max(1), link, clock, head_start),
            None => Meeting::new(self.block.count),
        };
        let failures = Failures::default();
        let engines: Vec<EngineKind> = self.engines.iter().map(|c| c.kind).collect();
        let context = PhaseContext {
            workload: self.workload,
            phase: self.phase,
            grounds: self.grounds,
            board: &board,
            stop: &stop,
            engines: &engines,
            pin: self.pin,
            shares: self.shares,
            pool: self.pool,
            failures: &failures,
            host: self.host,
        };
        let mut collector = Collector::watching(self.main_kinds());
        let mut curve = Curve::default();
        let before = self.probes.counters();
        let launched = now();
        let made = self.leads.then_some(self.grounds);
        let room = Room::new(self.grounds, self.reserve);
        let guard = (self.leads && self.fills()).then_some(&room);
        let watch = Watch {
            room: guard,
            board: &board,
            stop: &stop,
            link,
            host: self.host,
            made,
            probes: self.probes,
        };
        let ended = self.run_ranks(&context, &meeting, &watch, (&mut collector, &mut curve, observer));
        let total = board.sum(now() - launched);
        let agreed = ended.agreed?;
        if !several && let Some(fault) = ended.unstarted {
            return Err(fault);
        }
        let [at_end, at_all_ends] = ended.counters;
        let (errors, failure) = failures.into_parts();
        let failure = failure.or_else(|| room.failure());
        let (done, died) = split(ended.outcomes);
        let died = ended.unstarted.or(died);
        let origin = done.iter().map(|o| o.origin).max().unwrap_or(launched);
        let own_first = board.first_done();
        let first_done = if several {
            let last = done.iter().map(|o| o.result.transferred_ns).max().unwrap_or(total.elapsed_ns);
            let end = Mark { elapsed_ns: origin + last, ..total };
            first_of_all(agreed, own_first, |elapsed| {
                let mark = curve.at(origin + elapsed, origin, end);
                (Mark { elapsed_ns: elapsed, ..mark }, curve.step_ns())
            })
        } else {
            own_first.map(|mark| (mark, 0))
        };
        let counters = at_all_ends.since(&before);
        let head = PartHead {
            died: died.as_ref().map(WireFault::from),
            failure: failure.as_ref().map(WireFault::from),
            errors,
            counters: Counters {
                dirty_bytes: at_end.dirty_bytes,
                writeback_bytes: at_end.writeback_bytes,
                ..counters
            },
            dirty_before: before.dirty_bytes + before.writeback_bytes,
            first_done,
            total,
            origin,
            late_ns: done.iter().map(|o| o.late_ns).max().unwrap_or(0),
            ranks: done.into_iter().map(rank_part).collect(),
            ..PartHead::default()
        };
        Ok(PartResult { head, gathered: collector.finish() })
    }

    /// Starts the ranks, watches them, and ends the meetings with those of the other processes.
    fn run_ranks(
        &self,
        context: &PhaseContext<'_>,
        meeting: &Meeting<'_>,
        watch: &Watch<'_>,
        (collector, curve, observer): (&mut Collector, &mut Curve, &mut dyn Observer),
    ) -> Ended {
        let (ended, over) = (AtomicU32::new(0), AtomicBool::new(false));
        let (ranks, several) = (self.block.count, watch.link.is_some());
        let stop = context.stop;
        let work = |rank: &LocalRank<'_>| {
            own_table();
            run_rank(context, rank).inspect_err(|_| stop.request(StopCause::Error))
        };
        let at_end = |_| {
            ended.fetch_add(1, Ordering::Release);
        };
        std::thread::scope(|scope| {
            if ranks == 0 && several {
                scope.spawn(|| {
                    let nobody = LocalRank::nobody(self.block.all, meeting);
                    if only_meet(self.phase, &nobody).is_err() {
                        meeting.abort();
                    }
                    ended.fetch_add(1, Ordering::Release);
                });
            }
            let running = launch(scope, self.block, meeting, &work, &at_end);
            let started = running.is_ok();
            let (over, ended) = (&over, &ended);
            let finish = move || {
                let (outcomes, unstarted) = match running {
                    Ok(running) => (running.join(), None),
                    Err(fault) => {
                        stop.request(StopCause::Error);
                        (Vec::new(), Some(fault))
                    }
                };
                while several && unstarted.is_none() && ended.load(Ordering::Acquire) < ranks.max(1) {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                let at_end = self.probes.counters();
                let first = context.board.first_done().map_or(0, |mark| u64::MAX - mark.elapsed_ns);
                let agreed = meeting.close(first);
                let at_all_ends = if several { self.probes.counters() } else { at_end.clone() };
                over.store(true, Ordering::Release);
                Ended { outcomes, unstarted, agreed, counters: [at_end, at_all_ends] }
            };
            if several {
                // The others may take longer: whoever waits for them can't watch.
                let closer = scope.spawn(finish);
                watch.until(|| over.load(Ordering::Acquire), collector, curve, observer);
                closer.join().unwrap_or_else(|_| {
                    let agreed = Err(Fault::new(Kind::Bug, "the end of a phase died"));
                    Ended { outcomes: Vec::new(), unstarted: None, agreed, counters: Default::default() }
                })
            } else {
                if started {
                    watch.until(|| ended.load(Ordering::Acquire) >= ranks, collector, curve, observer);
                }
                finish()
            }
        })
    }

    fn writes(&self) -> bool {
        self.phase.jobs.iter().any(|job| matches!(&job.activity, Activity::Transfer(t) if t.writes()))
    }

    fn main_kinds(&self) -> Vec<OperationKind> {
        kinds_of(self.phase)
    }

    fn reads_only(&self) -> bool {
        let transfer = self.phase.jobs.iter().find_map(|job| match &job.activity {
            Activity::Transfer(transfer) => Some(transfer),
            Activity::Entries(_) => None,
        });
        transfer.is_some_and(|transfer| !transfer.writes())
    }

    /// On the fullest of the targets, where this process looks.
    fn available(&self) -> Bytes {
        self.leads.then(|| room::available(self.grounds)).flatten().unwrap_or_default()
    }

    /// Whether anything here takes room.
    fn fills(&self) -> bool {
        self.phase.jobs.iter().any(|job| match &job.activity {
            Activity::Transfer(transfer) => transfer.writes(),
            Activity::Entries(entries) => {
                matches!(entries.operation, EntryOperation::Create | EntryOperation::Write)
            }
        })
    }
}

/// The kinds that are a phase's work.
pub fn kinds_of(phase: &Phase) -> Vec<OperationKind> {
    let mut kinds: Vec<OperationKind> = phase.jobs.iter().flat_map(|job| main_kinds(&job.activity)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// What was done here when the first rank of all was done.
fn first_of_all(
    agreed: Option<u64>,
    own: Option<Mark>,
    at: impl Fn(u64) -> (Mark, u64),
) -> Option<(Mark, u64)> {
    // The latest of what is left until the end of time: the first of all.
    let first = agreed.filter(|agreed| *agreed > 0).map(|agreed| u64::MAX - agreed);
    match (first, own) {
        (Some(first), Some(own)) if own.elapsed_ns <= first => Some((own, 0)),
        (Some(first), _) => Some(at(first)),
        (None, own) => own.map(|own| (own, 0)),
    }
}

fn rank_part(outcome: RankOutcome) -> RankPart {
    let RankOutcome { result, cause, wear_out_capped: capped, verified, matched, .. } = outcome;
    RankPart { result, cause, capped, verified, matched }
}

/// Separates what ranks brought from the first failure that is a cause and not a consequence.
fn split(outcomes: Vec<Result<RankOutcome>>) -> (Vec<RankOutcome>, Option<Fault>) {
    let mut done = Vec::new();
    let mut failure: Option<Fault> = None;
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => done.push(outcome),
            Err(fault) => {
                let consequence = failure.as_ref().is_some_and(|f| f.kind() != Kind::Interrupted);
                if !consequence {
                    failure = Some(fault);
                }
            }
        }
    }
    (done, failure)
}
