//! The tables that mdtest 4.1 prints.

use std::fmt::Write as _;

use record::{PhaseResult, TestRecord};

use super::Mdtest;

/// Names of its rows, and the phases they are of.
pub(super) const ROWS: [(&str, &str); 10] = [
    ("Directory creation", "dir-create"),
    ("Directory stat", "dir-stat"),
    ("Directory rename", "dir-rename"),
    ("Directory removal", "dir-remove"),
    ("File creation", "file-create"),
    ("File stat", "file-stat"),
    ("File read", "file-read"),
    ("File removal", "file-remove"),
    ("Tree creation", "tree-create"),
    ("Tree removal", "tree-remove"),
];

/// What stands above the tables.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// `mdtest-4.1 (forebay 0.1.0)`.
    pub program: String,
    /// The words behind `mdtest`.
    pub words: Vec<String>,
    /// Ranks in all.
    pub ranks: u32,
    /// Hosts.
    pub hosts: u32,
    /// Where, `11/21/2026 21:22:44`.
    pub started: String,
    /// When it ended.
    pub finished: String,
    /// Size of the file system, used share, inodes and used share of these.
    pub capacity: Option<Capacity>,
}

/// How full the file system is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capacity {
    /// All bytes.
    pub bytes: f64,
    /// Bytes in use.
    pub used_bytes: f64,
    /// All inodes.
    pub inodes: f64,
    /// Inodes in use.
    pub used_inodes: f64,
}

/// Everything that mdtest prints, for the tests of all numbers of tasks, in order.
pub fn table(mdtest: &Mdtest, head: &Head, tests: &[(u32, &TestRecord)]) -> String {
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = writeln!(text, "-- started at {} --\n", head.started);
    let _ = writeln!(
        text,
        "{} was launched with {} total task(s) on {} node(s)",
        head.program, head.ranks, head.hosts
    );
    let quoted: Vec<String> = head.words.iter().map(|word| format!("'{word}'")).collect();
    let _ = writeln!(text, "Command line used: mdtest {}", quoted.join(" "));
    let path = mdtest.directories.first().map(|path| path.display().to_string()).unwrap_or_default();
    let _ = writeln!(text, "Path                : {path}");
    if let Some(capacity) = head.capacity {
        let _ = writeln!(text, "{}", full(capacity));
    }
    for (tasks, test) in tests {
        one(mdtest, *tasks, test, &mut text);
    }
    let _ = writeln!(text, "-- finished at {} --", head.finished);
    text
}

fn full(capacity: Capacity) -> String {
    let share = |part: f64, all: f64| if all > 0.0 { part / all * 100.0 } else { 0.0 };
    let gib = capacity.bytes / f64::from(1u32 << 30);
    let (size, unit) = if gib >= 1024.0 { (gib / 1024.0, "TiB") } else { (gib, "GiB") };
    format!(
        "FS                  : {size:.1} {unit}   Used FS: {:.1}%   Inodes: {:.1} Mi   Used Inodes: {:.1}%",
        share(capacity.used_bytes, capacity.bytes),
        capacity.inodes / f64::from(1u32 << 20),
        share(capacity.used_inodes, capacity.inodes)
    )
}

fn one(mdtest: &Mdtest, tasks: u32, test: &TestRecord, text: &mut String) {
    let what = match (mdtest.with_directories, mdtest.with_files) {
        (true, true) => "files/directories",
        (true, false) => "directories",
        _ => "files",
    };
    let items = mdtest.items_per_task() * u64::from(if mdtest.shared { 1 } else { tasks });
    let _ = writeln!(text, "{tasks} tasks, {items} {what}");
    let iterations = test.repetitions.len();
    if mdtest.show_rates {
        let _ = writeln!(text, "\nSUMMARY rate (in ops/sec): (of {iterations} iterations)");
        rows(mdtest, test, (rate, 3), text);
    }
    if mdtest.show_times {
        // What mdtest calls ms/op are the seconds of whole phases.
        let unit = if mdtest.strict { "ms/op" } else { "seconds" };
        let _ = writeln!(text, "\nSUMMARY time (in {unit}): (of {iterations} iterations)");
        // With three, as mdtest has it, what takes less than a millisecond takes no time.
        let digits = if mdtest.strict { 3 } else { 6 };
        rows(mdtest, test, (seconds, digits), text);
    }
}

fn rows(
    mdtest: &Mdtest,
    test: &TestRecord,
    (figure, digits): (fn(&PhaseResult) -> f64, usize),
    text: &mut String,
) {
    let _ =
        writeln!(text, "   Operation                     Max            Min           Mean        Std Dev");
    let _ =
        writeln!(text, "   ---------                     ---            ---           ----        -------");
    for (label, phase) in ROWS {
        let left_out = (phase.starts_with("dir") && !mdtest.with_directories)
            || (phase.starts_with("file") && !mdtest.with_files);
        if left_out {
            continue;
        }
        // What was not done has zeros, as in the original.
        let values: Vec<f64> = test.phases(phase).map(figure).collect();
        let [max, min, mean, deviation] = summary(&values);
        let _ = writeln!(
            text,
            "   {label:<18} {max:>18.digits$} {min:>14.digits$} {mean:>14.digits$} {deviation:>14.digits$}"
        );
    }
}

/// (Items / time of the slowest rank) x ranks: all wait for each other at the end of a phase.
fn rate(phase: &PhaseResult) -> f64 {
    let seconds = seconds(phase);
    if seconds > 0.0 { phase.last_done.operations as f64 / seconds } else { 0.0 }
}

fn seconds(phase: &PhaseResult) -> f64 {
    phase.last_done.elapsed_ns as f64 / 1e9
}

/// Largest, smallest, mean, and standard deviation of a sample (divided by n - 1; 0 of one).
fn summary(values: &[f64]) -> [f64; 4] {
    if values.is_empty() {
        return [0.0; 4];
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
    let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().fold(values[0], pick);
    [fold(f64::max), fold(f64::min), mean, deviation]
}
