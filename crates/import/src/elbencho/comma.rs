//! elbencho with `--csvfile`: one line per phase; runs follow each other in one file.

use std::collections::BTreeMap;

use fault::Result;

use super::Stated;
use crate::clock;
use crate::found::{Found, FoundTest};
use crate::page::Page;

/// Columns that say what was done.
const SETTINGS: [&str; 11] = [
    "path type",
    "hosts",
    "threads",
    "dirs",
    "files",
    "file size",
    "block size",
    "direct IO",
    "random",
    "random aligned",
    "IO depth",
];

/// One line by the names of its columns.
type Line = BTreeMap<String, String>;

/// Reads the lines.
pub fn read(page: &Page) -> Result<Found> {
    let mut columns: Vec<String> = Vec::new();
    let mut found = Found { tool: "elbencho", ..Found::default() };
    for (number, line) in page.lines() {
        if line.contains("ISO date,") {
            columns = fields(page, number, line)?;
        } else if !columns.is_empty() && !line.is_empty() {
            let values = fields(page, number, line)?;
            if values.len() != columns.len() {
                return Err(page.wrong(
                    number,
                    &format!("{} values, as the heading names", columns.len()),
                    line,
                ));
            }
            let line: Line = columns.iter().cloned().zip(values).collect();
            add(page, number, &line, &mut found)?;
        }
    }
    if found.tests.iter().all(FoundTest::is_empty) {
        return Err(page.missing("a line of results below `ISO date,label,...`"));
    }
    Ok(found)
}

fn fields(page: &Page, number: usize, line: &str) -> Result<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .double_quote(false)
        .from_reader(line.as_bytes());
    let record = reader.records().next().and_then(std::result::Result::ok);
    let record = record.ok_or_else(|| page.wrong(number, "values separated by commas", line))?;
    // The command is the last column, quotes and commas included as they are.
    Ok(record.iter().map(str::to_owned).collect())
}

fn add(page: &Page, number: usize, line: &Line, found: &mut Found) -> Result<()> {
    let text = |name: &str| line.get(name).map(String::as_str).unwrap_or_default();
    let value = |name: &str| match text(name) {
        "" => Ok(None),
        text => page.number(number, &format!("a number in column `{name}`"), text).map(Some),
    };
    let pair = |name: &str| -> Result<[Option<f64>; 2]> {
        Ok([value(&format!("{name} [first]"))?, value(&format!("{name} [last]"))?])
    };
    let ms = pair("time ms")?.map(|time| time.unwrap_or(0.0) / 1000.0);
    let latency = ["Ent", "IO"].into_iter().filter_map(|what| {
        let of = |part: &str| Some(text(&format!("{what} lat us [{part}]"))).filter(|text| !text.is_empty());
        let (least, mean, most) = (of("min")?, of("avg")?, of("max")?);
        Some(format!(
            "elbencho's own {} latency: min {least}, avg {mean}, max {most} us",
            if what == "IO" { "I/O" } else { "entry" }
        ))
    });
    let stated = Stated {
        operation: text("operation").to_owned(),
        seconds: ms,
        entries: pair("entries")?,
        entries_per_second: value("entries/s [last]")?,
        mib: pair("MiB")?,
        mib_per_second: value("MiB/s [last]")?,
        iops: value("IOPS [last]")?,
        block: value("block size")?.map(|bytes| bytes as u64),
        latency: latency.collect(),
    };
    if found.tests.is_empty() {
        found.version = Some(text("version").to_owned()).filter(|version| !version.is_empty());
        found.started_at = clock::instant(text("ISO date"));
        text("command").replace('"', "").clone_into(&mut found.command);
    }
    let mut settings = serde_json::Map::new();
    for key in SETTINGS {
        settings.insert(key.to_owned(), text(key).into());
    }
    let hosts_and_threads = [value("hosts")?, value("threads")?];
    let count = found.tests.len();
    if found.tests.last().is_none_or(|test| test.settings != settings) {
        let ranks =
            hosts_and_threads[0].zip(hosts_and_threads[1]).map(|(hosts, threads)| (hosts * threads) as u32);
        found.tests.push(FoundTest {
            name: if count == 0 { "elbencho".to_owned() } else { format!("elbencho-{}", count + 1) },
            kind: "elbencho",
            summary: format!(
                "{} threads on {} hosts, {} files of {} B",
                text("threads"),
                text("hosts"),
                text("files"),
                text("file size")
            ),
            settings,
            ranks,
            ..FoundTest::default()
        });
    }
    if let (Some(test), Some(mut phase)) = (found.tests.last_mut(), stated.phase()) {
        phase.direct = text("direct IO") == "1";
        phase.queue_depth = text("IO depth").parse().unwrap_or(1);
        // The same operation again is another repetition.
        let known =
            test.repetitions.iter().filter(|phases| phases.iter().any(|other| other.name == phase.name));
        let repetition = known.count();
        test.add(repetition, phase);
    }
    Ok(())
}
