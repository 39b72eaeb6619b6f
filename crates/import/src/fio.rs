//! fio's JSON: jobs of one name and group are one phase. Percentiles, or with `json+` whole distributions, are kept.

use fault::Result;
use record::{Check, Latency, OperationKind, OperationResult};
use serde_json::Value;
use units::Bytes;

use crate::found::{Found, FoundPhase, FoundTest};
use crate::json;
use crate::page::Page;

const DIRECTIONS: [(&str, OperationKind); 2] =
    [("read", OperationKind::Read), ("write", OperationKind::Write)];
/// Options that name things.
const NAMING: [&str; 5] = ["name", "filename", "directory", "output", "filename_format"];

/// Reads the document.
pub fn read(page: &Page) -> Result<Found> {
    let document = json::object(page)?;
    let lists = ["jobs", "client_stats"].map(|key| document.get(key).and_then(Value::as_array));
    let Some(jobs) = lists.into_iter().flatten().find(|list| !list.is_empty()) else {
        return Err(page.missing("the key `jobs` with a list"));
    };
    let global = document.get("global options");
    let mut test = FoundTest { name: "fio".to_owned(), kind: "fio", ..FoundTest::default() };
    let mut phases: Vec<(u64, FoundPhase, u32)> = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        let name = json::text(job, &["jobname"])
            .ok_or_else(|| page.missing(&format!("the key `jobname` in job {place}")))?;
        if name == "All clients" {
            continue;
        }
        let group = json::count(job, &["groupid"]).unwrap_or(0);
        settings(&mut test, name, global, job);
        let phase = phase(name, global, job);
        if phase.main.is_empty() {
            continue;
        }
        match phases.iter_mut().find(|(other, known, _)| *other == group && known.name == name) {
            Some((_, known, count)) => {
                merge(known, phase);
                *count += 1;
            }
            None => phases.push((group, phase, 1)),
        }
    }
    if phases.is_empty() {
        return Err(page.missing("a job that has read or written (`io_bytes` above zero)"));
    }
    for (_, mut phase, count) in phases {
        phase.ranks = Some(count);
        test.add(0, phase);
    }
    test.summary = format!(
        "{} of fio",
        if jobs.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", jobs.len()) }
    );
    let host = |job: &Value| json::text(job, &["hostname"]).map(str::to_owned);
    let version =
        json::text(&document, &["fio version"]).map(|text| text.trim_start_matches("fio-").to_owned());
    let seconds = document.get("timestamp").and_then(Value::as_i64);
    Ok(Found {
        tool: "fio",
        version,
        command: page.after("$ ").unwrap_or_default().to_owned(),
        hostname: jobs.first().and_then(host).unwrap_or_default(),
        started_at: seconds.and_then(|s| Some(jiff::Timestamp::from_second(s).ok()?.to_string())),
        tests: vec![test],
    })
}

fn option<'a>(global: Option<&'a Value>, job: &'a Value, key: &str) -> Option<&'a str> {
    json::text(job, &["job options", key]).or_else(|| global?.get(key)?.as_str())
}

fn settings(test: &mut FoundTest, name: &str, global: Option<&Value>, job: &Value) {
    let options = [global, job.get("job options")].into_iter().flatten().filter_map(Value::as_object);
    for (key, value) in options.flatten() {
        if test.target.is_empty() && ["filename", "directory"].contains(&key.as_str()) {
            value.as_str().unwrap_or_default().clone_into(&mut test.target);
        }
        if !NAMING.contains(&key.as_str()) {
            test.set(&format!("{name}.{key}"), value.clone());
        }
    }
}

fn phase(name: &str, global: Option<&Value>, job: &Value) -> FoundPhase {
    let mut phase = FoundPhase { name: name.to_owned(), queue_depth: 1, ..FoundPhase::default() };
    for (key, kind) in DIRECTIONS {
        let Some(side) = job.get(key) else { continue };
        let bytes = json::count(side, &["io_bytes"]).unwrap_or(0);
        let operations = json::count(side, &["total_ios"]).unwrap_or(0);
        if bytes == 0 || operations == 0 {
            continue;
        }
        let milliseconds = json::number(side, &["runtime"]).unwrap_or(0.0);
        let rate = json::number(side, &["bw_bytes"]).unwrap_or(0.0);
        // Short runs last 0 ms; their rate has more digits.
        let seconds = if rate > 0.0 { bytes as f64 / rate } else { milliseconds / 1000.0 };
        phase.seconds = phase.seconds.max(seconds);
        let (latency, check) = latency(side, operations);
        phase.checks.extend(check);
        phase.main.push(kind);
        phase.operations.push(OperationResult { kind, operations, bytes: Bytes::new(bytes), latency });
    }
    phase.transfer = option(global, job, "bs").and_then(|text| text.parse().ok());
    phase.direct = option(global, job, "direct").is_some_and(|text| text != "0");
    phase.queue_depth = option(global, job, "iodepth").and_then(|text| text.parse().ok()).unwrap_or(1);
    phase.errors = u64::from(
        json::number(job, &["error"]).is_some_and(|code| code > 0.0)
            || job.get("error").and_then(Value::as_i64).is_some_and(|code| code < 0),
    );
    if phase.errors > 0 {
        phase.checks.push(Check::fail(
            "imported-error",
            "fio says that this job failed",
            "look at fio's own output",
        ));
    }
    phase
}

fn merge(known: &mut FoundPhase, other: FoundPhase) {
    known.seconds = known.seconds.max(other.seconds);
    known.errors += other.errors;
    known.checks.extend(other.checks.into_iter().filter(|check| check.rule != "imported-latency"));
    for result in other.operations {
        if let Some(mine) = known.operations.iter_mut().find(|mine| mine.kind == result.kind) {
            mine.operations = mine.operations.saturating_add(result.operations);
            mine.bytes = Bytes::new(mine.bytes.get().saturating_add(result.bytes.get()));
            mine.latency.merge(&result.latency);
        } else {
            known.main.push(result.kind);
            known.operations.push(result);
        }
    }
}

/// The distribution, from bins if there are some, else with the percentiles that are stated.
fn latency(side: &Value, operations: u64) -> (Latency, Option<Check>) {
    let mut latency = Latency::new();
    let clat = ["clat_ns", "lat_ns"]
        .iter()
        .find_map(|key| side.get(key).filter(|one| json::count(one, &["N"]) > Some(0)));
    let Some(clat) = clat else { return (latency, None) };
    if let Some(bins) = clat.get("bins").and_then(Value::as_object) {
        let pairs =
            bins.iter().filter_map(|(value, count)| Some((value.parse::<u64>().ok()?, count.as_u64()?)));
        pairs.for_each(|(value, count)| latency.record_many(value, count));
        return (latency, None);
    }
    let Some(stated) = clat.get("percentile").and_then(Value::as_object) else { return (latency, None) };
    let mut points: Vec<(f64, u64)> =
        stated.iter().filter_map(|(percent, value)| Some((percent.parse().ok()?, value.as_u64()?))).collect();
    points.retain(|(percent, _)| percent.is_finite() && (0.0..=100.0).contains(percent));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
        .push((100.0, json::count(clat, &["max"]).unwrap_or_else(|| points.last().map_or(0, |last| last.1))));
    let mut done = 0;
    for (percent, value) in &points {
        let until = (operations as f64 * percent / 100.0).ceil() as u64;
        latency.record_many(*value, until.saturating_sub(done));
        done = done.max(until);
    }
    let evidence = format!(
        "the {} stated percentiles are exact; between them, values are those of the next one",
        points.len() - 1
    );
    (
        latency,
        Some(Check::note("imported-latency", evidence, "`--output-format=json+` has whole distributions")),
    )
}
