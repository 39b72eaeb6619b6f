//! The tables that IOR prints, column for column.

use std::fmt::Write as _;

use record::TestRecord;

use super::super::{Parameters, Test};
use super::Document;
use super::figures::{Figures, Row, Summary};
use super::json::{Space, options, parameters, tasks_per_node};
use super::ordered::Json;

const HEADER: &str = "\
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
";
const SUMMARY_HEADER: &str = "\
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) \
Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize \
aggs(MiB)   API RefNum
";

/// Everything.
pub fn document(document: &Document) -> String {
    let mut text = format!("IOR-{}: MPI Coordinated Test of Parallel I/O\n", document.version());
    pair(&mut text, "Began", &document.clock(0));
    pair(&mut text, "Command line", &document.command());
    pair(&mut text, "Machine", &document.machine());
    for (number, (test, result, figures)) in document.tests.iter().enumerate() {
        one_test(&mut text, document, number, test, *result, figures);
    }
    text.push_str("\nSummary of all tests:\n");
    text.push_str(SUMMARY_HEADER);
    for (number, (test, _, figures)) in document.tests.iter().enumerate() {
        figures.summaries.iter().for_each(|summary| summary_line(&mut text, number, test, summary));
    }
    pair(&mut text, "Finished", &document.clock(document.record.elapsed_ns));
    text
}

/// The data file of task 0 in the first repetition.
pub fn first_file(test: &Test) -> String {
    let files = &test.plan.workload.files;
    let name = files.named.as_ref().map(|named| crate::ground::Names::named(files, named, 0).data(files, 0));
    let path = test.plan.target.join(name.unwrap_or_default());
    path.strip_prefix(".").unwrap_or(&path).display().to_string()
}

fn pair(text: &mut String, key: &str, value: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{key:<20}: {value}");
}

fn pairs(text: &mut String, pairs: Vec<(&'static str, Json)>) {
    for (key, value) in pairs {
        match value {
            Json::Text(value) => pair(text, key, &value),
            Json::Whole(value) => pair(text, key, &value.to_string()),
            _ => {}
        }
    }
}

fn one_test(
    text: &mut String,
    document: &Document,
    number: usize,
    test: &Test,
    result: Option<&TestRecord>,
    figures: &Figures,
) {
    let p = &test.parameters;
    pair(text, "TestID", &number.to_string());
    pair(text, "StartTime", &document.test_clock(result));
    pair(text, "Path", &first_file(test));
    if let Some(mount) = &document.record.environment.target {
        let Space { capacity, used, inodes, used_inodes } = Space::of(mount);
        let line = format!("{capacity}   Used FS: {used}   Inodes: {inodes}   Used Inodes: {used_inodes}");
        pair(text, "FS", &line);
    }
    if p.verbose > 2 {
        text.push_str("\nParameters: \n");
        pairs(text, parameters(number as u32, test, &document.record.environment.hostname));
    }
    text.push_str("\nOptions: \n");
    pairs(text, options(test));
    text.push_str("\nResults: \n\n");
    text.push_str(HEADER);
    for row in &figures.rows {
        row_line(text, row, p);
    }
    if p.verbose > 0 {
        for (name, operation) in [("Max Write:", "write"), ("Max Read: ", "read")] {
            if let Some(summary) = figures.summaries.iter().find(|summary| summary.operation == operation) {
                let most = summary.bandwidth.max;
                let _ = writeln!(text, "{name} {most:.2} MiB/sec ({:.2} MB/sec)", most * 1.048_576);
            }
        }
    }
    if p.verbose > 2
        && let Some(result) = result
    {
        rank_lines(text, result);
    }
}

fn row_line(text: &mut String, row: &Row, p: &Parameters) {
    if let Some(wall) = &row.stonewall {
        let gib = f64::from(1u32 << 30);
        let _ = writeln!(
            text,
            "stonewalling pairs accessed min: {} max: {} -- min data: {:.1} GiB mean data: {:.1} GiB time: {:.1}s",
            wall.least,
            wall.most,
            wall.least_bytes / gib,
            wall.mean_bytes / gib,
            wall.time
        );
    }
    let Some(moved) = row.moved else {
        if p.verbose > 0 {
            let dash = "-          ";
            let _ = writeln!(
                text,
                "{:<10}{dash}{dash}-           {dash}{dash}{dash}{dash}{dash}{} {:<4}",
                row.access,
                number(row.total),
                row.repetition
            );
        }
        return;
    };
    let _ = writeln!(
        text,
        "{:<10}{} {} {}  {} {} {} {} {} {} {:<4}",
        row.access,
        number(moved.bandwidth),
        number(moved.iops),
        number(moved.latency),
        number(p.block_size as f64 / 1024.0),
        number(p.transfer_size as f64 / 1024.0),
        number(moved.open),
        number(moved.transfer),
        number(moved.close),
        number(row.total),
        row.repetition
    );
}

/// Ten columns, as many digits as IOR gives.
fn number(value: f64) -> String {
    if value < 0.0 {
        return format!("{:<10}", "-");
    }
    let digits = match value {
        value if value < 1.0 => 6,
        value if value < 3600.0 => 2,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    format!("{text:<10}")
}

fn summary_line(text: &mut String, test_number: usize, test: &Test, summary: &Summary) {
    let p = &test.parameters;
    let (bandwidth, operations) = (summary.bandwidth, summary.operations);
    let _ = write!(text, "{:<9} ", summary.operation);
    for spread in [bandwidth, operations] {
        for value in [spread.max, spread.min, spread.mean, spread.deviation] {
            let _ = write!(text, "{value:>10.2} ");
        }
    }
    let _ = write!(text, "{:>10.5} ", summary.mean_time);
    let _ = match summary.stonewall {
        Some((time, rate)) => write!(text, "{time:>10.2} {rate:>13.2} "),
        None => write!(text, "{:>10} {:>13} ", "NA", "NA"),
    };
    let _ = writeln!(
        text,
        "{:>5} {:>6} {:>3} {:>4} {:>3} {:>5} {:>8} {:>9} {:>4} {:>6} {:>8} {:>8} {:>9.1} {:>5} {:>6}",
        test_number,
        p.tasks,
        tasks_per_node(test),
        p.repetitions,
        p.file_per_process,
        p.reorder_tasks,
        p.task_offset,
        p.reorder_random,
        p.reorder_seed,
        p.segments,
        p.block_size,
        p.transfer_size,
        summary.aggregate,
        p.api.to_uppercase(),
        p.reference_number
    );
}

/// With -vvv: when each task had opened, transferred and closed, since the common start.
fn rank_lines(text: &mut String, result: &TestRecord) {
    for repetition in &result.repetitions {
        for phase in &repetition.phases {
            for rank in &phase.ranks {
                let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
                let _ = writeln!(
                    text,
                    "{} {}: task {} open {:.6} s, transfers {:.6} s, close {:.6} s, {} bytes",
                    phase.name,
                    repetition.number - 1,
                    rank.rank,
                    seconds(rank.opened_ns),
                    seconds(rank.synced_ns),
                    seconds(rank.closed_ns),
                    rank.bytes.get()
                );
            }
        }
    }
}
