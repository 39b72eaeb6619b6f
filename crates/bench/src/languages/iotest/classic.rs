//! The result block of rhel_iotest, line for line, for scripts that read it.

use std::fmt::Write as _;

use record::{PhaseResult, RunRecord, TestRecord};

use super::{READ, WRITE};

/// One block per repetition of the first iotest in `record`.
pub fn classic(record: &RunRecord) -> String {
    let mut text = String::new();
    let Some(test) = record.tests.iter().find(|t| t.test == "iotest") else { return text };
    for repetition in &test.repetitions {
        let phase = |name: &str| repetition.phases.iter().find(|p| p.name == name);
        block(&mut text, record, test, phase(READ), phase(WRITE));
    }
    text
}

fn block(
    text: &mut String,
    record: &RunRecord,
    test: &TestRecord,
    read: Option<&PhaseResult>,
    write: Option<&PhaseResult>,
) {
    let target = test.target.display();
    let size = write.map_or(0.0, |phase| mean_bytes(phase) / f64::from(1u32 << 30));
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "RESULTS\n-------\nINVOCATION:  {}\n\nTARGET DETAILS\n  target dir:   {target}\n  df -kT:       {}\n  mount point:  {}\n  iterations:   {}\n  filesize:     {:.2} gigabytes\n\nSTATISTICS\n",
        record.command.join(" "),
        df_line(record),
        mount_line(record),
        test.pcores,
        truncated(size),
    );
    for (label, phase) in [("read throughput rate:   ", read), ("write throughput rate:  ", write)] {
        if let Some(phase) = phase {
            let _ = writeln!(text, "  {label}{:.2} megabytes/second per physical core", rate(phase));
        }
    }
    text.push('\n');
}

/// Bytes over mean time as the script's `bc` with scale=2 computes it: times in hundredths of a second, every
/// quotient cut off after two decimals. "megabytes" are MiB.
fn rate(phase: &PhaseResult) -> f64 {
    let count = phase.ranks.len().max(1) as f64;
    let sum: f64 = phase.ranks.iter().map(|rank| (rank.closed_ns as f64 / 1e7).round() / 100.0).sum();
    let mean = truncated(sum / count);
    if mean <= 0.0 {
        // Below a hundredth of a second the script divides by zero; the exact rate is more use.
        return truncated(phase.rate_per_rank().as_mib());
    }
    truncated(truncated(mean_bytes(phase) / f64::from(1u32 << 20)) / mean)
}

fn mean_bytes(phase: &PhaseResult) -> f64 {
    phase.ranks.iter().map(|rank| rank.bytes.get() as f64).sum::<f64>() / phase.ranks.len().max(1) as f64
}

fn truncated(value: f64) -> f64 {
    (value * 100.0 + 1e-9).floor() / 100.0
}

/// `df -kT`: source, type, KiB in all, used, available, use, mount point.
fn df_line(record: &RunRecord) -> String {
    let Some(mount) = &record.environment.target else { return String::new() };
    let (size, available) = (mount.size_bytes.get() / 1024, mount.available_bytes.get() / 1024);
    let used = size.saturating_sub(available);
    let percent = if size == 0 { 0 } else { (used * 100).div_ceil(size) };
    format!(
        "{} {} {size} {used} {available} {percent}% {}",
        mount.source, mount.file_system, mount.mount_point
    )
}

fn mount_line(record: &RunRecord) -> String {
    let Some(mount) = &record.environment.target else { return String::new() };
    format!("{} on {} type {} ({})", mount.source, mount.mount_point, mount.file_system, mount.options)
}
