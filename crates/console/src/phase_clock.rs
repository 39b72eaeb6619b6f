use std::time::Duration;

use record::{Event, PhaseResult};
use units::{Bandwidth, Bytes, Iops, Ratio, format_duration};

/// The phase that runs now, as the events describe it: what a bar or a line of progress shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhaseClock {
    /// Test, phase and repetition: `data: write 2/3`.
    pub title: String,
    ranks: u32,
    planned_bytes: Option<u64>,
    planned_operations: Option<u64>,
    deadline: Option<Duration>,
    repetitions: u32,
}

/// One instant of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instant {
    /// Since the phase's start.
    pub elapsed: Duration,
    /// Share of the work or of the time that is behind us, where a plan says so.
    pub done: Option<Ratio>,
    /// Time left, where a plan says so.
    pub left: Option<Duration>,
    bytes: Bytes,
    bandwidth: Bandwidth,
    iops: Iops,
    ranks_done: u32,
}

impl PhaseClock {
    /// Learns from an event how many repetitions a test has and which phase begins.
    pub fn learn(&mut self, event: &Event) {
        match event {
            Event::TestStarted { repetitions, .. } => self.repetitions = *repetitions,
            Event::PhaseStarted {
                test,
                repetition,
                phase,
                ranks,
                planned_bytes,
                planned_operations,
                deadline_ns,
            } => {
                let turn = if self.repetitions > 1 {
                    format!(" {repetition}/{}", self.repetitions)
                } else {
                    String::new()
                };
                self.title = format!("{test}: {phase}{turn}");
                self.ranks = *ranks;
                self.planned_bytes = *planned_bytes;
                self.planned_operations = *planned_operations;
                self.deadline = deadline_ns.map(Duration::from_nanos);
            }
            _ => {}
        }
    }

    /// What a progress event says about now; `None` for other events.
    pub fn at(&self, event: &Event) -> Option<Instant> {
        let Event::Progress(moment) = event else { return None };
        let elapsed = Duration::from_nanos(moment.elapsed_ns);
        let shares = [
            share(moment.bytes as f64, self.planned_bytes.map(|planned| planned as f64)),
            share(moment.operations as f64, self.planned_operations.map(|planned| planned as f64)),
            share(elapsed.as_secs_f64(), self.deadline.map(|deadline| deadline.as_secs_f64())),
        ];
        // Whichever plan is fulfilled first ends the phase.
        let done = shares.into_iter().flatten().reduce(f64::max).map(Ratio::new);
        Some(Instant {
            elapsed,
            done,
            left: done.and_then(|done| time_left(elapsed, done)),
            bytes: Bytes::new(moment.bytes),
            bandwidth: Bandwidth::bytes_per_second(moment.bytes_per_second),
            iops: Iops::new(moment.operations_per_second),
            ranks_done: moment.ranks_done,
        })
    }

    /// The figures of an instant: rate, operations, time left, ranks that are done.
    pub fn figures(&self, now: &Instant) -> String {
        let mut parts = Vec::new();
        if now.bytes > Bytes::ZERO {
            parts.push(now.bandwidth.to_string());
        }
        parts.push(now.iops.to_string());
        if let Some(left) = now.left {
            parts.push(format!("ETA {}", whole_seconds(left)));
        }
        if now.ranks_done > 0 {
            parts.push(format!("{}/{} ranks done", now.ranks_done, self.ranks));
        }
        parts.join(", ")
    }

    /// The line that says a phase begins: `data: write 1/3, 8 ranks, 16 GiB`.
    pub fn opening(&self) -> String {
        let mut parts = vec![self.title.clone()];
        parts.push(format!("{} {}", self.ranks, if self.ranks == 1 { "rank" } else { "ranks" }));
        if let Some(bytes) = self.planned_bytes {
            parts.push(Bytes::new(bytes).to_string());
        }
        if let (None, Some(operations)) = (self.planned_bytes, self.planned_operations) {
            parts.push(format!("{operations} operations"));
        }
        if let Some(deadline) = self.deadline {
            parts.push(format!("at most {}", whole_seconds(deadline)));
        }
        parts.join(", ")
    }

    /// The line that says how a phase ended: `data: write 1/3 done: 152.3 MB/s, 2437 op/s in 12.3 s`.
    pub fn closing(&self, result: &PhaseResult) -> String {
        let mut rates = Vec::new();
        if result.bytes() > Bytes::ZERO {
            rates.push(result.bandwidth().to_string());
        }
        rates.push(result.last_done.iops().to_string());
        let elapsed = format_duration(Duration::from_nanos(result.last_done.elapsed_ns));
        let failures = match result.error_count {
            0 => String::new(),
            1 => ", 1 failed operation".to_owned(),
            count => format!(", {count} failed operations"),
        };
        format!("{} done: {} in {elapsed}{failures}", self.title, rates.join(", "))
    }
}

fn share(done: f64, planned: Option<f64>) -> Option<f64> {
    planned.filter(|planned| *planned > 0.0).map(|planned| done / planned)
}

fn time_left(elapsed: Duration, done: Ratio) -> Option<Duration> {
    let done = done.get();
    let seconds = elapsed.as_secs_f64() * (1.0 - done) / done;
    (done > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

fn whole_seconds(duration: Duration) -> String {
    let seconds = (duration.as_secs_f64()).round() as u64;
    if seconds < 100 { format!("{seconds} s") } else { format_duration(Duration::from_secs(seconds)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(planned_bytes: Option<u64>, deadline_ns: Option<u64>) -> PhaseClock {
        let mut clock = PhaseClock::default();
        clock.learn(&Event::TestStarted { test: "data".into(), summary: String::new(), repetitions: 3 });
        clock.learn(&Event::PhaseStarted {
            test: "data".into(),
            repetition: 2,
            phase: "write".into(),
            ranks: 2,
            planned_bytes,
            planned_operations: None,
            deadline_ns,
        });
        clock
    }

    fn progress(seconds: u64, bytes: u64) -> Event {
        Event::Progress(Box::new(record::Moment {
            phase: "write".into(),
            elapsed_ns: seconds * 1_000_000_000,
            bytes,
            operations: bytes >> 16,
            bytes_per_second: 150e6,
            operations_per_second: 2400.0,
            ranks_done: 1,
            ..record::Moment::default()
        }))
    }

    #[test]
    fn the_plan_that_is_fulfilled_first_gives_the_time_left() {
        let bytes_first = started(Some(4 << 30), Some(1_000_000_000_000));
        let now = bytes_first.at(&progress(10, 1 << 30)).unwrap();
        assert_eq!(now.left, Some(Duration::from_secs(30)));
        let time_first = started(Some(4 << 30), Some(20_000_000_000));
        assert_eq!(time_first.at(&progress(10, 1 << 30)).unwrap().left, Some(Duration::from_secs(10)));
        let no_plan = started(None, None);
        assert_eq!(no_plan.at(&progress(10, 1 << 30)).unwrap().left, None);
    }

    #[test]
    fn nothing_moved_yet_is_no_estimate() {
        let clock = started(Some(1 << 30), None);
        let now = clock.at(&progress(0, 0)).unwrap();
        assert_eq!((now.left, now.done), (None, Some(Ratio::ZERO)));
    }

    #[test]
    fn lines_name_the_test_the_phase_and_the_turn() {
        let clock = started(Some(4 << 30), Some(60_000_000_000));
        assert_eq!(clock.opening(), "data: write 2/3, 2 ranks, 4 GiB, at most 60 s");
        let now = clock.at(&progress(10, 1 << 30)).unwrap();
        assert_eq!(clock.figures(&now), "150.0 MB/s, 2400 op/s, ETA 30 s, 1/2 ranks done");
    }
}
