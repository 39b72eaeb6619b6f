//! Results in vdbench's words: a header per point, a line per interval, a line of averages; and the flat file, a row per
//! line with named columns.

use std::fmt::Write as _;
use std::time::Duration;

use record::{CpuShare, Interval, Latency, OperationKind, OperationResult, PhaseResult, RunRecord};

use super::compile::{Shown, Test};

/// The heading above a point's lines.
const HEADING: &str = "\
interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                             rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys";

/// Operations of some time: what a line shows.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How long.
    pub time: Duration,
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Of all operations.
    pub latency: Latency,
    /// Of the reads.
    pub read_latency: Latency,
    /// Of the others.
    pub write_latency: Latency,
    /// What the vCPUs did, where it was sampled.
    pub cpu: Option<CpuShare>,
}

impl Report {
    fn add(&mut self, main: &[OperationKind], operation: &OperationResult) {
        if !main.contains(&operation.kind) {
            return;
        }
        let reads = matches!(operation.kind, OperationKind::Read | OperationKind::ReadFile);
        self.operations += operation.operations;
        self.bytes += operation.bytes.get();
        self.latency.merge(&operation.latency);
        if reads {
            self.reads += operation.operations;
            self.read_latency.merge(&operation.latency);
        } else {
            self.write_latency.merge(&operation.latency);
        }
    }

    /// Operations of `intervals`.
    fn of<'a>(main: &[OperationKind], intervals: impl Iterator<Item = &'a Interval>) -> Self {
        let mut report = Self::default();
        for interval in intervals {
            report.time += Duration::from_nanos(interval.length_ns);
            report.cpu = match (report.cpu, interval.cpu) {
                (Some(known), Some(more)) => Some(known.plus(more)),
                (known, more) => known.or(more),
            };
            interval.operations.iter().for_each(|operation| report.add(main, operation));
        }
        report
    }

    /// Operations per second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.time.as_secs_f64().max(1e-9)
    }

    /// Operations in flight, by Little's law.
    pub fn depth(&self) -> f64 {
        self.rate() * self.latency.mean().as_secs_f64()
    }

    fn columns(&self) -> [f64; 11] {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        [
            self.rate(),
            self.bytes as f64 / self.time.as_secs_f64().max(1e-9) / 1_048_576.0,
            if self.operations > 0 { self.bytes as f64 / self.operations as f64 } else { 0.0 },
            if self.operations > 0 { 100.0 * self.reads as f64 / self.operations as f64 } else { 0.0 },
            milliseconds(self.latency.mean()),
            milliseconds(self.read_latency.mean()),
            milliseconds(self.write_latency.mean()),
            milliseconds(self.read_latency.max()),
            milliseconds(self.write_latency.max()),
            self.latency.standard_deviation().as_secs_f64() * 1e3,
            self.depth(),
        ]
    }
}

/// A point with its lines: the number of its first interval and its last, and what happened.
struct Lines {
    intervals: Vec<Report>,
    /// Number of the first interval that counts, and the totals from there on.
    total: (usize, Report),
}

fn lines(shown: &Shown, main: &[OperationKind], series: &[Interval]) -> Lines {
    let length = shown.interval.as_nanos().max(1) as u64;
    let mut intervals: Vec<Vec<&Interval>> = Vec::new();
    for interval in series {
        let number = (interval.start_ns / length) as usize;
        intervals.resize_with(intervals.len().max(number + 1), Vec::new);
        intervals[number].push(interval);
    }
    // The last interval may be a rest of one: what is left when ranks finish what they have begun.
    if intervals.len() > 1 {
        let time: u64 = intervals[intervals.len() - 1].iter().map(|own| own.length_ns).sum();
        if time < length / 2 {
            intervals.pop();
        }
    }
    let first = (shown.left_out().as_nanos() as u64).div_ceil(length) as usize;
    let first = if first < intervals.len() { first } else { 0 };
    let counted = intervals[first.min(intervals.len())..].iter().flatten().copied();
    let total = Report::of(main, counted);
    Lines {
        intervals: intervals.iter().map(|own| Report::of(main, own.iter().copied())).collect(),
        total: (first + 1, total),
    }
}

/// All points of `tests` in `record`, as vdbench's summary shows them.
pub fn intervals(record: &RunRecord, tests: &[Test]) -> String {
    let mut text = String::new();
    each_point(record, tests, |shown, phase| {
        let lines = lines(shown, &phase.main, &phase.series);
        let began = began(record, phase);
        text.push_str(&heading(shown, began));
        for number in 0..lines.intervals.len() {
            text.push_str(&line(shown, began, &lines, number));
        }
        text.push_str(&average(shown, began, &lines));
    });
    text
}

/// What announces a point that began at this time of day.
pub(super) fn heading(shown: &Shown, began: Duration) -> String {
    format!("\n{} {}\n\n              {HEADING}\n", clock(began), shown.header())
}

/// The line of interval `number`, counting from 0.
fn line(shown: &Shown, began: Duration, lines: &Lines, number: usize) -> String {
    let stamp = clock(began + shown.interval * (number as u32 + 1));
    row(&stamp, &format!("{}", number + 1), &lines.intervals[number])
}

fn average(shown: &Shown, began: Duration, lines: &Lines) -> String {
    let (first, total) = &lines.total;
    let last = lines.intervals.len().max(1);
    row(&clock(began + shown.interval * last as u32), &format!("avg_{first}-{last}"), total)
}

/// The line of one interval by what is known of it.
pub(super) fn line_of(
    shown: &Shown,
    began: Duration,
    number: usize,
    main: &[OperationKind],
    intervals: &[Interval],
) -> String {
    let stamp = clock(began + shown.interval * (number as u32 + 1));
    row(&stamp, &format!("{}", number + 1), &Report::of(main, intervals.iter()))
}

/// The lines of a point from number `first` on, and its averages.
pub(super) fn rest_of(
    shown: &Shown,
    began: Duration,
    first: usize,
    main: &[OperationKind],
    series: &[Interval],
) -> String {
    let lines = lines(shown, main, series);
    let rest = (first..lines.intervals.len()).map(|number| line(shown, began, &lines, number));
    rest.collect::<String>() + &average(shown, began, &lines)
}

/// Calls `each` with every point and its result, of all repetitions.
fn each_point(record: &RunRecord, tests: &[Test], mut each: impl FnMut(&Shown, &PhaseResult)) {
    for (test, done) in tests.iter().zip(&record.tests) {
        for repetition in &done.repetitions {
            for shown in &test.shown {
                let Some(phase) = repetition.phases.iter().find(|phase| phase.name == shown.phase) else {
                    continue;
                };
                each(shown, phase);
            }
        }
    }
}

/// The column widths are vdbench's, so that what reads its summary reads this one.
fn row(stamp: &str, number: &str, report: &Report) -> String {
    let [rate, mib, bytes, reads, resp, read, write, read_max, write_max, deviation, depth] =
        report.columns();
    // Nobody sampled a time that was too short.
    let (both, system) = report.cpu.and_then(CpuShare::percent).unwrap_or((f64::NAN, f64::NAN));
    format!(
        "{stamp} {number:>11} {rate:>10.1} {mib:>8.2} {bytes:>7.0} {reads:>6.2} {resp:>8.3} {read:>8.3} {write:>8.3} {read_max:>8.2} {write_max:>8.2} {deviation:>8.3} {depth:>6.1} {both:>5.1} {system:>5.1}\n"
    )
}

/// The time of day (UTC) when a phase began.
fn began(record: &RunRecord, phase: &PhaseResult) -> Duration {
    time_of_day(&record.started_at) + Duration::from_nanos(phase.started_ns)
}

/// The time of day of `2026-08-01T15:41:44Z`.
pub(super) fn time_of_day(timestamp: &str) -> Duration {
    let start = timestamp.get(11..19).unwrap_or("00:00:00");
    let mut parts = start.split(':').map(|part| part.parse::<u64>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    Duration::from_secs((next() * 60 + next()) * 60 + next())
}

/// `15:41:44.013`.
fn clock(at: Duration) -> String {
    let seconds = at.as_secs() % 86_400;
    format!("{:02}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, at.subsec_millis())
}

/// The flat file: fixed columns with their names in the first line, a row per interval and average.
pub fn flat_file(record: &RunRecord, tests: &[Test]) -> String {
    const NAMES: [&str; 22] = [
        "tod",
        "Run",
        "Interval",
        "reqrate",
        "rate",
        "MB/sec",
        "bytes/io",
        "read%",
        "resp",
        "read_resp",
        "write_resp",
        "resp_max",
        "read_max",
        "write_max",
        "resp_std",
        "queue_depth",
        "cpu_used",
        "cpu_kernel",
        "xfersize",
        "threads",
        "rdpct",
        "seekpct",
    ];
    let mut text =
        String::from("* Columns are separated by blanks; n/a stands for what a run does not say.\n");
    for name in NAMES {
        let _ = write!(text, "{name:>12}");
    }
    text.push('\n');
    each_point(record, tests, |shown, phase| {
        let lines = lines(shown, &phase.main, &phase.series);
        let began = began(record, phase);
        let last = lines.intervals.len().max(1);
        let (first, total) = &lines.total;
        let rows = lines.intervals.iter().enumerate().map(|(at, own)| ((at + 1).to_string(), at + 1, own));
        for (number, at, report) in rows.chain([(format!("avg_{first}-{last}"), last, total)]) {
            let [rate, mib, bytes, reads, resp, read, write, read_max, write_max, deviation, depth] =
                report.columns();
            let [cpu, kernel] = match report.cpu.and_then(CpuShare::percent) {
                Some((both, system)) => [both, system].map(|percent| format!("{percent:.1}")),
                None => ["n/a", "n/a"].map(str::to_owned),
            };
            let _ = write!(
                text,
                "{:>12}{:>12}{number:>12}{:>12}{rate:>12.1}{mib:>12.3}{bytes:>12.0}{reads:>12.2}{resp:>12.4}{read:>12.4}{write:>12.4}{:>12.4}{read_max:>12.4}{write_max:>12.4}{deviation:>12.4}{depth:>12.2}{cpu:>12}{kernel:>12}",
                clock(began + shown.interval * at as u32),
                shown.run,
                if shown.rate.contains("MAX") { "max".to_owned() } else { shown.rate.replace(' ', "_") },
                read_max.max(write_max),
            );
            for name in ["xfersize", "threads", "rdpct", "seekpct"] {
                let value = shown.loops.split(' ').find_map(|own| own.strip_prefix(name)?.strip_prefix('='));
                let _ = write!(text, "{:>12}", value.unwrap_or("n/a"));
            }
            text.push('\n');
        }
    });
    text
}
