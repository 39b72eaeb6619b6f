//! IOR with `summaryFormat=JSON`.

use std::collections::BTreeMap;

use fault::Result;
use serde_json::Value;

use super::{Row, Setting, is_direct, remarks, summary};
use crate::found::{Found, FoundTest};
use crate::page::Page;
use crate::{clock, json};

/// Digits of the times.
const RESOLUTION: f64 = 0.000_1;
/// Parameters that say what was done.
const SETTINGS: [&str; 17] = [
    "api",
    "deadlineForStonewall",
    "stoneWallingWearOut",
    "nodes",
    "tasksPerNode",
    "fsync",
    "fsyncperwrite",
    "useExistingTestFile",
    "filePerProc",
    "reorderTasks",
    "reorderTasksRandom",
    "randomOffset",
    "checkRead",
    "collective",
    "segmentCount",
    "transferSize",
    "blockSize",
];

/// Reads the document.
pub fn read(page: &Page) -> Result<Found> {
    let document = json::object(page)?;
    let text = |key: &str| json::text(&document, &[key]).unwrap_or_default().to_owned();
    let command = text("Command line");
    let Some(tests) = document.get("tests").and_then(Value::as_array) else {
        return Err(page.missing("the key `tests` with a list"));
    };
    let mut found = Found {
        tool: "IOR",
        version: Some(text("Version")).filter(|version| !version.is_empty()),
        hostname: text("Machine").split_whitespace().nth(1).unwrap_or_default().to_owned(),
        started_at: clock::instant(&text("Began")),
        ..Found::default()
    };
    for (index, value) in tests.iter().enumerate() {
        let mut test = test(page, value, index, is_direct(&command))?;
        test.checks.extend(remarks(page.lines().map(|(_, line)| line)));
        found.tests.push(test);
    }
    found.command = command;
    Ok(found)
}

fn test(page: &Page, value: &Value, index: usize, direct: bool) -> Result<FoundTest> {
    let tasks = json::count(value, &["Options", "tasks"]);
    let mut test = FoundTest {
        name: if index == 0 { "ior".to_owned() } else { format!("ior-{}", index + 1) },
        kind: "ior",
        target: json::text(value, &["Parameters", "testFileName"]).unwrap_or_default().to_owned(),
        ranks: tasks.and_then(|tasks| u32::try_from(tasks).ok()),
        ..FoundTest::default()
    };
    for key in SETTINGS {
        if let Some(setting) = value.get("Parameters").and_then(|parameters| parameters.get(key)) {
            test.set(key, setting.clone());
        }
    }
    let parameter = |key: &str| json::count(value, &["Parameters", key]);
    let size = |key: &str| parameter(key).unwrap_or(0) as f64 / 1024.0;
    test.summary = summary(&test, size("blockSize"), size("transferSize"));
    let expected = [parameter("blockSize"), parameter("segmentCount"), tasks];
    let expected = expected.into_iter().try_fold(1u64, |product, factor| product.checked_mul(factor?));
    let setting = Setting {
        expected,
        resolution: RESOLUTION,
        deadline: parameter("deadlineForStonewall").is_some_and(|seconds| seconds > 0),
        wear_out: parameter("stoneWallingWearOut").is_some_and(|on| on > 0),
        direct,
    };
    let Some(results) = value.get("Results").and_then(Value::as_array) else {
        return Err(page.missing(&format!("the key `Results` with a list in test {index}")));
    };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (place, result) in results.iter().enumerate() {
        let access = json::text(result, &["access"]).unwrap_or_default().to_owned();
        if !["write", "read"].contains(&access.as_str()) {
            continue;
        }
        let number = |key: &str| {
            json::number(result, &[key])
                .ok_or_else(|| page.missing(&format!("a number `{key}` in result {place} of test {index}")))
        };
        let row = Row {
            mib_per_second: number("bwMiB")?,
            iops: json::number(result, &["iops"]),
            latency: json::number(result, &["latency"]),
            block_kib: number("blockKiB")?,
            transfer_kib: number("xferKiB")?,
            seconds: number("totalTime")?,
            access,
        };
        let repetition = seen.entry(row.access.clone()).or_default();
        if let Some(phase) = row.phase(setting) {
            test.add(*repetition, phase);
        }
        *repetition += 1;
    }
    Ok(test)
}
