//! From the pulses of all processes to events.

use std::collections::BTreeMap;

use fleet::{Link, Placement};
use record::{
    CpuShare, Event, HostMoment, Interval, Latency, Listener, Mark, Moment, MomentLatency, OperationResult,
    RankMoment,
};
use units::Bytes;

use super::collect::Fresh;
use super::gathered::add_totals;
use super::watch::{Observer, Pulse, keep_slowest};
use crate::crew::wire;
use crate::engine::INTERVAL_NS as SECOND_NS;

/// At the root: tells the listener how the phase stands.
pub struct Live<'a> {
    listener: &'a mut dyn Listener,
    phase: &'a str,
    link: &'a dyn Link,
    placement: &'a Placement,
    /// The latest pulse of each process.
    pulses: BTreeMap<usize, Pulse>,
    /// What had been done at the last report: in all, and by each host.
    last: Mark,
    last_of_hosts: Vec<Mark>,
    draining: bool,
    /// What is known of seconds that were not told yet.
    seconds: BTreeMap<u64, Vec<OperationResult>>,
    /// The next to be told.
    next: u64,
    /// What the vCPUs of all hosts did, second by second.
    cpu: BTreeMap<u64, CpuShare>,
}

impl<'a> Live<'a> {
    /// For the phase of this name.
    pub fn new(
        listener: &'a mut dyn Listener,
        phase: &'a str,
        link: &'a dyn Link,
        placement: &'a Placement,
    ) -> Self {
        // What others told at the end of the phase before has come too late.
        drop(link.posts());
        let last_of_hosts = vec![Mark::default(); placement.hosts().len()];
        let pulses = BTreeMap::new();
        Self {
            listener,
            phase,
            link,
            placement,
            pulses,
            last: Mark::default(),
            last_of_hosts,
            draining: false,
            seconds: BTreeMap::new(),
            next: 0,
            cpu: BTreeMap::new(),
        }
    }

    /// After the phase: what the vCPUs of all hosts did, second by second.
    pub fn into_cpu(mut self) -> BTreeMap<u64, CpuShare> {
        self.take_posts();
        self.cpu
    }

    /// Keeps what a pulse brings, and gives the latency of all of it.
    fn take(&mut self, process: usize, pulse: &mut Pulse) -> Option<Latency> {
        let host = self.placement.host_of(process);
        // The kernel counts for all processes of a host: one of them speaks.
        if self.placement.on_host(host).next() == Some(process)
            && let Some(cpu) = pulse.cpu.take()
        {
            let second = pulse.mark.elapsed_ns.saturating_sub(SECOND_NS / 2) / SECOND_NS;
            let known = self.cpu.entry(second).or_default();
            *known = known.plus(cpu);
        }
        let mut all: Option<Latency> = None;
        for Fresh { second, kind, bytes, latency } in std::mem::take(&mut pulse.fresh) {
            match &mut all {
                Some(known) => known.merge(&latency),
                None => all = Some(latency.clone()),
            }
            if second >= self.next {
                let operations = latency.count();
                let one = OperationResult { kind, operations, bytes, latency };
                add_totals(self.seconds.entry(second).or_default(), &[one]);
            }
        }
        all
    }

    /// Tells the seconds of which everybody has told: each process looks once a second, and so does this one at what the
    /// others say.
    fn tell_seconds(&mut self, elapsed_ns: u64) {
        let looks = if self.link.processes() > 1 { 3 } else { 2 };
        while (self.next + looks) * SECOND_NS <= elapsed_ns {
            let interval = Interval {
                start_ns: self.next * SECOND_NS,
                length_ns: SECOND_NS,
                operations: self.seconds.remove(&self.next).unwrap_or_default(),
                cpu: self.cpu.get(&self.next).copied(),
            };
            self.next += 1;
            let phase = self.phase.to_owned();
            self.listener.on_event(&Event::Second { phase, interval: Box::new(interval) });
        }
    }

    fn take_posts(&mut self) -> Option<Latency> {
        let mut recent: Option<Latency> = None;
        for (process, post) in self.link.posts() {
            // What can't be read is left out: the next one comes in a second.
            let Ok(mut pulse) = wire::unpack::<Pulse>(&post) else { continue };
            if let Some(latency) = self.take(process as usize, &mut pulse) {
                match &mut recent {
                    Some(known) => known.merge(&latency),
                    None => recent = Some(latency),
                }
            }
            self.pulses.insert(process as usize, pulse);
        }
        recent
    }

    fn sum<'p>(pulses: impl Iterator<Item = &'p Pulse>, elapsed_ns: u64) -> (Mark, u32) {
        pulses.fold((Mark { elapsed_ns, ..Mark::default() }, 0), |(mark, done), pulse| {
            let operations = mark.operations + pulse.mark.operations;
            let bytes = mark.bytes + pulse.mark.bytes;
            (Mark { operations, bytes, ..mark }, done + pulse.ranks_done)
        })
    }

    fn host(&mut self, host: usize, elapsed_ns: u64) -> HostMoment {
        let processes = || self.placement.on_host(host);
        let pulses = processes().filter_map(|process| self.pulses.get(&process));
        let (mark, ranks_done) = Self::sum(pulses, elapsed_ns);
        let ranks = processes().map(|process| self.placement.block(process).count).sum();
        let last = std::mem::replace(&mut self.last_of_hosts[host], mark);
        let (bytes_per_second, operations_per_second) = rates(last, mark);
        let host = self.placement.hosts()[host].clone();
        HostMoment { host, ranks, ranks_done, bytes_per_second, operations_per_second }
    }
}

impl Observer for Live<'_> {
    fn end(&mut self, mut own: Pulse) {
        self.take(self.link.process() as usize, &mut own);
    }

    fn observe(&mut self, mut own: Pulse) {
        let elapsed_ns = own.mark.elapsed_ns;
        let process = self.link.process() as usize;
        let mut recent = self.take(process, &mut own);
        self.pulses.insert(process, own);
        if let Some(others) = self.take_posts() {
            recent = Some(match recent {
                Some(mut known) => {
                    known.merge(&others);
                    known
                }
                None => others,
            });
        }
        let (mark, ranks_done) = Self::sum(self.pulses.values(), elapsed_ns);
        if ranks_done == self.placement.ranks() && !self.draining {
            self.draining = true;
            self.listener.on_event(&Event::Draining { phase: self.phase.to_owned() });
        }
        let (bytes_per_second, operations_per_second) = rates(self.last, mark);
        self.last = mark;
        let hosts = self.placement.hosts().len();
        let mut slowest: Vec<RankMoment> =
            self.pulses.values().flat_map(|pulse| pulse.slowest.iter().cloned()).collect();
        keep_slowest(&mut slowest);
        let moment = Moment {
            phase: self.phase.to_owned(),
            elapsed_ns,
            bytes: mark.bytes.get(),
            operations: mark.operations,
            bytes_per_second,
            operations_per_second,
            ranks_done,
            latency: recent.as_ref().map(latency),
            hosts: if hosts > 1 {
                (0..hosts).map(|host| self.host(host, elapsed_ns)).collect()
            } else {
                Vec::new()
            },
            slowest,
        };
        self.listener.on_event(&Event::Progress(Box::new(moment)));
        self.tell_seconds(elapsed_ns);
    }
}

/// Elsewhere: tells the root.
pub struct Post<'a>(pub &'a dyn Link);

impl Observer for Post<'_> {
    fn end(&mut self, pulse: Pulse) {
        self.observe(pulse);
    }

    fn observe(&mut self, pulse: Pulse) {
        if let Ok(bytes) = wire::pack(&pulse) {
            self.0.post(bytes);
        }
    }
}

/// Bytes and operations per second between two marks.
fn rates(last: Mark, mark: Mark) -> (f64, f64) {
    let seconds = mark.elapsed_ns.saturating_sub(last.elapsed_ns).max(1) as f64 / 1e9;
    let bytes = mark.bytes.get().saturating_sub(last.bytes.get());
    let operations = mark.operations.saturating_sub(last.operations);
    (Bytes::new(bytes).get() as f64 / seconds, operations as f64 / seconds)
}

fn latency(recent: &Latency) -> MomentLatency {
    let nanoseconds = |duration: std::time::Duration| duration.as_nanos() as u64;
    MomentLatency {
        p50_ns: nanoseconds(recent.percentile(50.0)),
        p99_ns: nanoseconds(recent.percentile(99.0)),
        maximum_ns: nanoseconds(recent.max()),
    }
}
