//! IOR with `summaryFormat=CSV`.

use fault::Result;

use super::{Row, Setting, summary};
use crate::found::{Found, FoundTest};
use crate::page::Page;

/// Digits of the times.
const RESOLUTION: f64 = 0.000_1;

/// Reads the lines.
pub fn read(page: &Page) -> Result<Found> {
    let mut columns: Vec<&str> = Vec::new();
    let mut test = FoundTest { name: "ior".to_owned(), kind: "ior", ..FoundTest::default() };
    for (number, line) in page.lines() {
        let words: Vec<&str> = line.split(',').map(str::trim).collect();
        match words[0] {
            "access" => columns = words,
            "write" | "read" if !columns.is_empty() => row(page, number, &columns, &words, &mut test)?,
            _ => {}
        }
    }
    if test.is_empty() {
        return Err(page.missing("a line of results below `access,bw(MiB/s),...`"));
    }
    Ok(Found { tool: "IOR", tests: vec![test], ..Found::default() })
}

fn row(page: &Page, number: usize, columns: &[&str], words: &[&str], test: &mut FoundTest) -> Result<()> {
    if words.len() != columns.len() {
        return Err(page.wrong(
            number,
            &format!("{} values separated by commas", columns.len()),
            &words.join(","),
        ));
    }
    let value = |name: &str| {
        let place = columns.iter().position(|column| column.starts_with(name));
        let text = place.map_or("", |place| words[place]);
        page.number(number, &format!("a number for {name}"), text)
    };
    let row = Row {
        access: words[0].to_owned(),
        mib_per_second: value("bw(MiB/s)")?,
        iops: Some(value("IOPS")?),
        latency: Some(value("Latency")?),
        block_kib: value("block(KiB)")?,
        transfer_kib: value("xfer(KiB)")?,
        seconds: value("total(s)")?,
    };
    let (tasks, repetition) = (value("numTasks")?, value("iter")? as usize);
    if repetition > 100_000 || tasks > 1e9 {
        return Err(page.wrong(number, "numbers of tasks and repetitions", &words.join(",")));
    }
    if test.is_empty() {
        test.ranks = Some(tasks as u32);
        test.set("xfersize", row.transfer_kib);
        test.set("blocksize", row.block_kib);
        test.summary = summary(test, row.block_kib, row.transfer_kib);
    }
    let blocks = row.block_kib * 1024.0 * tasks;
    // Segments are not stated: what was moved is a number of blocks, or ended at a deadline.
    let setting = Setting {
        expected: (blocks < 9e18).then_some(blocks as u64),
        resolution: RESOLUTION,
        deadline: true,
        ..Setting::default()
    };
    if let Some(phase) = row.phase(setting) {
        test.add(repetition, phase);
    }
    Ok(())
}
