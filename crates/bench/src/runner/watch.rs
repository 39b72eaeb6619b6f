//! Watches the ranks of a process: what they have done once a second, signals at once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fleet::Link;
use host::CpuTimes;
use record::{CpuShare, Mark, RankMoment, StopCause};
use serde::{Deserialize, Serialize};

use super::collect::{Collector, Fresh};
use super::curve::Curve;
use super::probes::Probes;
use super::room::Room;
use crate::crew::INTERRUPTED;
use crate::engine::{Board, Live, StopFlag, now};
use crate::ground::Grounds;
use crate::interrupt;

/// How often the watcher looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often it reports.
const REPORT_NS: u64 = 1_000_000_000;
/// How many of the slowest ranks it names.
pub const SLOWEST: usize = 5;
/// Why ranks stop, as told to other processes: something failed.
const FAILED: u8 = INTERRUPTED + 1;
/// A target was filling up.
const FILLING: u8 = FAILED + 1;

/// What a process has done so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Pulse {
    /// All its ranks; `elapsed_ns` since they were launched.
    pub mark: Mark,
    /// Ranks that have done their transfers.
    pub ranks_done: u32,
    /// What came in since the last pulse.
    pub fresh: Vec<Fresh>,
    /// What the vCPUs of its host did since the last pulse.
    pub cpu: Option<CpuShare>,
    /// The ranks that have done least and are still at it.
    pub slowest: Vec<RankMoment>,
}

/// Someone who is told once a second.
pub trait Observer {
    /// Takes a pulse.
    fn observe(&mut self, pulse: Pulse);

    /// Takes what is left when the ranks have ended: nobody is shown it any more.
    fn end(&mut self, pulse: Pulse);
}

/// What the watcher looks at.
pub struct Watch<'a> {
    /// Counters of the ranks.
    pub board: &'a Board,
    /// To stop them.
    pub stop: &'a StopFlag,
    /// The other processes, if there are any.
    pub link: Option<&'a dyn Link>,
    /// Name of this host.
    pub host: &'a str,
    /// Where this process stands that made it: told once a second that the run is alive.
    pub made: Option<&'a Grounds>,
    /// What the kernel counts here.
    pub probes: &'a Probes,
    /// What must stay available in the targets, if this process looks.
    pub room: Option<&'a Room<'a>>,
}

impl Watch<'_> {
    /// Returns when everything `is_over`. With other processes, keeps samples in `curve`.
    pub fn until(
        &self,
        is_over: impl Fn() -> bool,
        collector: &mut Collector,
        curve: &mut Curve,
        observer: &mut dyn Observer,
    ) {
        let started = now();
        let mut reported = 0;
        let mut told = false;
        let mut cpu = self.probes.cpu();
        while !is_over() {
            std::thread::sleep(LOOK);
            self.pass_on_stops(&mut told);
            let current = now();
            if self.link.is_some() && curve.is_due(current) {
                curve.push(self.board.sum(current));
            }
            let elapsed = current - started;
            if elapsed >= reported + REPORT_NS {
                reported = elapsed;
                if let Some(grounds) = self.made {
                    grounds.beat();
                }
                if self.room.is_some_and(Room::is_short) {
                    self.stop.request(StopCause::Space);
                }
                collector.drain(self.board);
                let spent = self.spent(&mut cpu);
                observer.observe(Pulse { cpu: spent, ..self.pulse(elapsed, collector) });
            }
        }
        // What failed last is told, too.
        self.pass_on_stops(&mut told);
        collector.drain(self.board);
        let spent = self.spent(&mut cpu);
        observer.end(Pulse { cpu: spent, ..self.pulse(now() - started, collector) });
    }

    /// What the vCPUs did since `before`, which is then now.
    fn spent(&self, before: &mut Option<CpuTimes>) -> Option<CpuShare> {
        let current = self.probes.cpu()?;
        let before = before.replace(current.clone())?;
        Some(CpuShare::of(&current.since(&before)))
    }

    /// A signal, a failure here or the word of another process stops the ranks of all.
    fn pass_on_stops(&self, told: &mut bool) {
        if interrupt::requested().is_some() {
            self.stop.request(StopCause::Interrupted);
        }
        let Some(link) = self.link else { return };
        match link.stopped() {
            Some(INTERRUPTED) => self.stop.request(StopCause::Interrupted),
            Some(FILLING) => self.stop.request(StopCause::Space),
            Some(_) => self.stop.request(StopCause::Error),
            None => {}
        }
        if let (Some(cause), false) = (self.stop.cause(), *told) {
            *told = true;
            link.stop(match cause {
                StopCause::Interrupted => INTERRUPTED,
                StopCause::Space => FILLING,
                _ => FAILED,
            });
        }
    }

    fn pulse(&self, elapsed_ns: u64, collector: &mut Collector) -> Pulse {
        Pulse {
            mark: self.board.sum(elapsed_ns),
            ranks_done: self.board.ranks_done(),
            fresh: collector.take_fresh(),
            cpu: None,
            slowest: self.slowest(),
        }
    }

    /// The ranks that have done least and are still at it.
    fn slowest(&self) -> Vec<RankMoment> {
        let ranks = (self.board.first()..).zip(&self.board.live);
        let working = ranks.filter(|(_, live)| !live.transferred.load(Ordering::Relaxed));
        let moment = |(rank, live): (u32, &Live)| RankMoment {
            rank,
            host: self.host.to_owned(),
            bytes: live.bytes.load(Ordering::Relaxed),
            operations: live.operations.load(Ordering::Relaxed),
        };
        let mut all: Vec<RankMoment> = working.map(moment).collect();
        keep_slowest(&mut all);
        all
    }
}

/// Leaves the few that have done least, slowest first.
pub fn keep_slowest(ranks: &mut Vec<RankMoment>) {
    ranks.sort_by_key(|rank| (rank.bytes, rank.operations, rank.rank));
    ranks.truncate(SLOWEST);
}
