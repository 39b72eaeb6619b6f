//! mdtest's summary, as versions 1.9 to 4.1 print it: with and without a colon after the operation.
//!
//! A rate is (items / time of the slowest rank) x ranks of one repetition; the table has largest, smallest and mean of
//! them. Up to three repetitions follow from these exactly, though not their order.

use fault::Result;
use record::{Check, OperationKind};
use units::Bytes;

use crate::clock;
use crate::found::{Found, FoundPhase, FoundTest};
use crate::page::Page;

/// Operations as mdtest calls them, and as published results do.
const OPERATIONS: [(&str, &str, OperationKind); 13] = [
    ("Directory creation", "dir-create", OperationKind::MakeDirectory),
    ("Directory stat", "dir-stat", OperationKind::Stat),
    ("Directory read", "dir-read", OperationKind::ReadFile),
    ("Directory rename", "dir-rename", OperationKind::Rename),
    ("Directory removal", "dir-remove", OperationKind::RemoveDirectory),
    ("File creation", "file-create", OperationKind::Create),
    ("File stat", "file-stat", OperationKind::Stat),
    ("File read", "file-read", OperationKind::ReadFile),
    ("File rename", "file-rename", OperationKind::Rename),
    ("File removal", "file-remove", OperationKind::Remove),
    ("Tree creation", "tree-create", OperationKind::MakeDirectory),
    ("Tree rename", "tree-rename", OperationKind::Rename),
    ("Tree removal", "tree-remove", OperationKind::RemoveDirectory),
];

/// A line of the table.
struct Row {
    name: &'static str,
    kind: OperationKind,
    largest: f64,
    smallest: f64,
    mean: f64,
}

/// Reads the summaries.
pub fn read(page: &Page) -> Result<Found> {
    let launched =
        page.lines().find(|(_, line)| line.contains("was launched with")).map_or("", |(_, line)| line);
    let version = launched.split_whitespace().next().and_then(|word| word.strip_prefix("mdtest-"));
    let started = page.after("-- started at").map(|text| text.trim_end_matches(['-', ' ']));
    let command = page.after("Command line used:").unwrap_or_default().replace('\'', "");
    let mut found = Found {
        tool: "mdtest",
        version: version.map(str::to_owned),
        started_at: started.and_then(clock::instant),
        ..Found::default()
    };
    let (mut ranks, mut items) = (None, None);
    let mut rows: Option<(u64, Vec<Row>)> = None;
    for (number, line) in page.lines() {
        if let Some((tasks, count)) = tasks(line) {
            (ranks, items) = (Some(tasks), Some(count));
        } else if line.starts_with("SUMMARY") {
            end(&mut found, rows.take(), ranks, items, &command);
            if !line.contains("time") {
                rows = Some((repetitions(page, number, line)?, Vec::new()));
            }
        } else if let Some((_, rows)) = &mut rows {
            rows.extend(row(page, number, line)?);
        }
    }
    end(&mut found, rows, ranks, items, &command);
    found.command = command;
    if found.tests.is_empty() {
        return Err(page.missing("a line such as `File creation  N  N  N  N` below `SUMMARY rate`"));
    }
    Ok(found)
}

/// `2 tasks, 2000 files/directories`.
fn tasks(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_whitespace();
    let tasks = words.next()?.parse().ok()?;
    if words.next()? != "tasks," {
        return None;
    }
    let items = words.next()?.parse().ok()?;
    words.next()?.starts_with(['f', 'd', 'n']).then_some((tasks, items))
}

/// `SUMMARY rate (in ops/sec): (of 3 iterations)`.
fn repetitions(page: &Page, number: usize, line: &str) -> Result<u64> {
    let count = line.rsplit_once("(of ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    count.filter(|count| *count > 0).ok_or_else(|| page.wrong(number, "`(of N iterations)`", line))
}

fn row(page: &Page, number: usize, line: &str) -> Result<Option<Row>> {
    let line = line.trim();
    let known = OPERATIONS.iter().find(|(label, _, _)| line.starts_with(label));
    let Some((label, name, kind)) = known else { return Ok(None) };
    let values: Vec<&str> = line[label.len()..].split_whitespace().filter(|word| *word != ":").collect();
    let [largest, smallest, mean, _deviation] = values.as_slice() else {
        return Err(page.wrong(number, &format!("four numbers after `{label}`"), line));
    };
    let rate = |text: &str| page.number(number, "a rate in operations per second", text);
    let row =
        Row { name, kind: *kind, largest: rate(largest)?, smallest: rate(smallest)?, mean: rate(mean)? };
    // Not done in this run, or too short for a rate.
    Ok((row.largest > 0.0).then_some(row))
}

fn end(
    found: &mut Found,
    rows: Option<(u64, Vec<Row>)>,
    ranks: Option<u32>,
    items: Option<u64>,
    command: &str,
) {
    let Some((repetitions, rows)) = rows.filter(|(_, rows)| !rows.is_empty()) else { return };
    let name = if found.tests.is_empty() {
        "mdtest".to_owned()
    } else {
        format!("mdtest-{}", found.tests.len() + 1)
    };
    let words: Vec<&str> = command.split_whitespace().collect();
    let target = words.windows(2).find(|pair| pair[0] == "-d").map_or("", |pair| pair[1]);
    let mut test = FoundTest {
        name,
        kind: "mdtest",
        target: target.to_owned(),
        summary: match (ranks, items) {
            (Some(ranks), Some(items)) => format!("{ranks} ranks, {items} items"),
            _ => "number of ranks and items not stated".to_owned(),
        },
        ranks,
        ..FoundTest::default()
    };
    let options = words.iter().skip(1).filter(|word| **word != target && **word != "-d");
    test.set("options", options.copied().collect::<Vec<_>>().join(" "));
    if let Some(items) = items {
        test.set("items", items);
    }
    test.checks.extend(about(repetitions));
    for row in rows {
        for (number, rate) in rates(&row, repetitions).into_iter().enumerate().filter(|(_, rate)| *rate > 0.0)
        {
            let tree = row.name.starts_with("tree");
            let phase = match items.filter(|items| !tree && *items > 0) {
                Some(items) => FoundPhase::new(row.name, row.kind, items, Bytes::ZERO, items as f64 / rate),
                None => FoundPhase::rate_only(row.name, row.kind, rate),
            };
            test.add(number, phase);
        }
    }
    found.tests.push(test);
}

/// The rate of each repetition, as far as three figures give them.
fn rates(row: &Row, repetitions: u64) -> Vec<f64> {
    match repetitions {
        2 => vec![row.largest, row.smallest],
        3 => {
            let middle = 3.0 * row.mean - row.largest - row.smallest;
            vec![row.largest, middle.clamp(row.smallest.min(row.largest), row.largest), row.smallest]
        }
        _ => vec![row.mean],
    }
}

fn about(repetitions: u64) -> Option<Check> {
    let (evidence, advice) = match repetitions {
        1 => return None,
        2 | 3 => (
            "the table has no single repetitions: they follow from largest, smallest and mean, in falling order",
            "do not read anything into the order",
        ),
        _ => (
            "the table has no single repetitions: this is their mean",
            "results of more than three repetitions can't be told from chance; import single ones",
        ),
    };
    Some(Check::note("imported-repetitions", format!("{evidence} (of {repetitions})"), advice))
}
