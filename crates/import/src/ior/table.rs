//! IOR's tables on the terminal, of versions 3 and 4.

use std::collections::BTreeMap;

use fault::Result;

use super::{Row, Setting, is_direct, remarks, summary};
use crate::clock;
use crate::found::{Found, FoundTest};
use crate::page::Page;

/// Digits of the times in a table.
const RESOLUTION: f64 = 0.000_001;
/// Settings that say what was done; the rest names things.
const SETTINGS: [&str; 13] = [
    "api",
    "access",
    "type",
    "segments",
    "ordering in a file",
    "ordering inter file",
    "task offset",
    "nodes",
    "clients per node",
    "xfersize",
    "blocksize",
    "stonewallingTime",
    "stoneWallingWearOut",
];

/// Reads the tables.
pub fn read(page: &Page) -> Result<Found> {
    let version = page.after("IOR-").map(|rest| rest.split(':').next().unwrap_or(rest).to_owned());
    let field = |name: &str| {
        let line = page.lines().find(|(_, line)| line.starts_with(name))?;
        Some(line.1.split_once(':')?.1.trim().to_owned())
    };
    let machine = field("Machine").unwrap_or_default();
    let mut found = Found {
        tool: "IOR",
        version,
        command: field("Command line").unwrap_or_default(),
        hostname: machine.split_whitespace().nth(1).unwrap_or_default().to_owned(),
        started_at: field("Began").and_then(|text| clock::instant(&text)),
        ..Found::default()
    };
    let mut reader = Reader { page, command: found.command.clone(), ..Reader::new(page) };
    for (number, line) in page.lines() {
        reader.line(number, line)?;
    }
    found.tests = reader.finish();
    if found.tests.is_empty() {
        return Err(page.missing("a line of results below `access bw(MiB/s) ...`"));
    }
    for test in &mut found.tests {
        test.checks.extend(remarks(page.lines().map(|(_, line)| line)));
    }
    Ok(found)
}

struct Reader<'a> {
    page: &'a Page<'a>,
    command: String,
    columns: Vec<String>,
    options: BTreeMap<String, String>,
    tests: Vec<FoundTest>,
    current: FoundTest,
}

impl<'a> Reader<'a> {
    fn new(page: &'a Page<'a>) -> Self {
        Self {
            page,
            command: String::new(),
            columns: Vec::new(),
            options: BTreeMap::new(),
            tests: Vec::new(),
            current: FoundTest::default(),
        }
    }

    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        let first = line.split_whitespace().next().unwrap_or_default();
        if line.starts_with("access ") && line.contains("bw(MiB/s)") {
            self.columns = line.split_whitespace().map(str::to_owned).collect();
        } else if line.starts_with("Options:") {
            self.end_test();
            self.options.clear();
        } else if line.starts_with("Summary of all tests") {
            // Its rows begin with the same words.
            self.columns.clear();
        } else if ["write", "read"].contains(&first) && !self.columns.is_empty() {
            self.row(number, line)?;
        } else if let Some((key, value)) = line.split_once(':') {
            self.options.insert(key.trim().to_owned(), value.trim().to_owned());
        }
        Ok(())
    }

    fn row(&mut self, number: usize, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let page = self.page;
        if words.len() != self.columns.len() {
            return Err(page.wrong(number, &format!("{} columns", self.columns.len()), line));
        }
        let value = |name: &str| {
            let place = self.columns.iter().position(|column| column.starts_with(name))?;
            (words[place] != "-").then_some(words[place])
        };
        let number_of = |name: &str| {
            value(name).map(|text| page.number(number, &format!("a number for {name}"), text)).transpose()
        };
        let needed = |name: &str| {
            number_of(name)?.ok_or_else(|| page.wrong(number, &format!("a number for {name}"), line))
        };
        let row = Row {
            access: words[0].to_owned(),
            mib_per_second: needed("bw(MiB/s)")?,
            iops: number_of("IOPS")?,
            latency: number_of("Latency")?,
            block_kib: needed("block(KiB)")?,
            transfer_kib: needed("xfer(KiB)")?,
            seconds: needed("total(s)")?,
        };
        let repetition = needed("iter")? as usize;
        if repetition > 100_000 {
            return Err(page.wrong(number, "the number of a repetition", line));
        }
        if self.current.is_empty() {
            self.begin_test(&row);
        }
        let setting = self.setting(&row);
        if let Some(phase) = row.phase(setting) {
            self.current.add(repetition, phase);
        }
        Ok(())
    }

    fn setting(&self, row: &Row) -> Setting {
        let count = |key: &str| self.options.get(key).and_then(|text| text.parse::<f64>().ok());
        let segments = count("segments").unwrap_or(1.0);
        let expected = self.current.ranks.map(|ranks| row.block_kib * 1024.0 * segments * f64::from(ranks));
        Setting {
            expected: expected.filter(|bytes| *bytes < 9e18).map(|bytes| bytes.round() as u64),
            resolution: RESOLUTION,
            deadline: count("stonewallingTime").is_some_and(|time| time > 0.0),
            wear_out: count("stoneWallingWearOut").is_some_and(|on| on > 0.0),
            direct: is_direct(&self.command),
        }
    }

    fn begin_test(&mut self, row: &Row) {
        let text = |key: &str| self.options.get(key).cloned();
        let mut test = FoundTest {
            name: if self.tests.is_empty() {
                "ior".to_owned()
            } else {
                format!("ior-{}", self.tests.len() + 1)
            },
            kind: "ior",
            target: text("test filename").unwrap_or_default(),
            ranks: text("tasks").and_then(|text| text.parse().ok()),
            ..FoundTest::default()
        };
        for key in SETTINGS {
            if let Some(value) = text(key) {
                test.set(key, value);
            }
        }
        test.summary = summary(&test, row.block_kib, row.transfer_kib);
        self.current = test;
    }

    fn end_test(&mut self) {
        let test = std::mem::take(&mut self.current);
        if !test.is_empty() {
            self.tests.push(test);
        }
    }

    fn finish(mut self) -> Vec<FoundTest> {
        self.end_test();
        self.tests
    }
}
