//! In what two runs differ: what they did (which forbids a comparison) and where (which it is often about).

use std::fmt::Display;

use host::Environment;
use serde_json::Value;
use units::Bytes;

use crate::phase::PhaseResult;
use crate::run::{RunRecord, TestRecord};

/// Parts of a workload that name things or choose random numbers, and how often it is repeated: they change what a run
/// is called, not what it does.
const NAMING_KEYS: [&str; 10] =
    ["seed", "name", "names", "path", "paths", "prefix", "target", "directory", "label", "repetitions"];
/// The size that a free-space rule may shrink a little differently each time; a difference below this share is a note.
const SIZE_KEY: &str = "block_size";
const SIZE_SLACK: f64 = 0.10;
/// Beyond this many differences in one workload, the rest is counted.
const MOST_SHOWN: usize = 12;

/// Every way in which the runs did not do the same.
pub(super) fn unlike(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut differences = Vec::new();
    // Another program describes what it did in words of its own, so that ours can't be held against them.
    let one_tongue = tool(a) == tool(b);
    for left in &a.tests {
        match b.tests.iter().find(|right| right.name == left.name) {
            Some(right) => tests(left, right, one_tongue, &mut differences),
            None => differences.push(format!("test `{}` is only in run `{}`", left.name, a.id)),
        }
    }
    for right in b.tests.iter().filter(|right| a.tests.iter().all(|left| left.name != right.name)) {
        differences.push(format!("test `{}` is only in run `{}`", right.name, b.id));
    }
    if a.tests.is_empty() && b.tests.is_empty() {
        differences.push("neither run has a test".to_owned());
    }
    differences
}

fn tool(run: &RunRecord) -> Option<(&str, &str)> {
    run.imported.as_ref().map(|imported| (imported.tool.as_str(), imported.format.as_str()))
}

fn tests(a: &TestRecord, b: &TestRecord, one_tongue: bool, differences: &mut Vec<String>) {
    let mut differ = |what: &str, left: &dyn Display, right: &dyn Display| {
        let (left, right) = (left.to_string(), right.to_string());
        if left != right {
            differences.push(format!("test `{}`: {what} {left} against {right}", a.name));
        }
    };
    differ("kind", &a.test, &b.test);
    if a.pcores > 0 && b.pcores > 0 {
        differ("pCores", &a.pcores, &b.pcores);
    }
    let boxed = |test: &TestRecord| test.equivalence.clone().unwrap_or_else(|| "full length".to_owned());
    differ("length", &boxed(a), &boxed(b));
    for name in a.phase_names() {
        if let (Some(left), Some(right)) = (a.phases(name).next(), b.phases(name).next()) {
            if left.rank_count() > 0 && right.rank_count() > 0 {
                differ(&format!("ranks in phase `{name}`"), &left.rank_count(), &right.rank_count());
            }
            if let (Some(left), Some(right)) = (left.transfer_bytes, right.transfer_bytes) {
                differ(&format!("transfer size in phase `{name}`"), &left, &right);
            }
            differ(&format!("O_DIRECT in phase `{name}`"), &left.engine.direct, &right.engine.direct);
            differ(
                &format!("queue depth in phase `{name}`"),
                &left.engine.queue_depth,
                &right.engine.queue_depth,
            );
        }
    }
    for (here, there) in [(a, b), (b, a)] {
        let theirs = there.phase_names();
        for name in here.phase_names().into_iter().filter(|name| !theirs.contains(name)) {
            let ran = if std::ptr::eq(here, a) { "first" } else { "second" };
            differences.push(format!("test `{}`: phase `{name}` ran only in the {ran} run", a.name));
        }
    }
    if one_tongue {
        workloads(a, b, differences);
    }
}

fn workloads(a: &TestRecord, b: &TestRecord, differences: &mut Vec<String>) {
    let mut found = Vec::new();
    values("workload", &a.workload, &b.workload, &mut found);
    let more = found.len().saturating_sub(MOST_SHOWN);
    differences.extend(found.into_iter().take(MOST_SHOWN).map(|text| format!("test `{}`: {text}", a.name)));
    if more > 0 {
        differences.push(format!("test `{}`: {more} more differences in the workload", a.name));
    }
}

fn values(place: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys.filter(|key| !NAMING_KEYS.contains(&key.as_str())) {
                let at = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                values(&format!("{place}.{key}"), &at(left), &at(right), found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                values(&format!("{place}[{index}]"), left, right, found);
            }
        }
        _ if place.ends_with(SIZE_KEY) && nearly_equal(a, b) => {}
        _ if a != b => found.push(format!("{place} {} against {}", short(a), short(b))),
        _ => {}
    }
}

fn nearly_equal(a: &Value, b: &Value) -> bool {
    let bytes = |value: &Value| Some(value.as_str()?.parse::<Bytes>().ok()?.get() as f64);
    matches!((bytes(a), bytes(b)), (Some(a), Some(b)) if (a - b).abs() <= SIZE_SLACK * a.max(b))
}

fn short(value: &Value) -> String {
    match value {
        Value::Null => "unset".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "a group of settings".to_owned(),
        other => other.to_string(),
    }
}

/// Differences of machine, storage and engine: allowed, but to be known.
pub(super) fn surroundings(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differ = |what: &str, left: &dyn Display, right: &dyn Display| {
        let (left, right) = (left.to_string(), right.to_string());
        if left != right {
            notes.push(format!("{what}: {} against {}", named(&left), named(&right)));
        }
    };
    differ("program", &a.program, &b.program);
    for left in &a.tests {
        let size = |test: &TestRecord| short(&test.workload["files"][SIZE_KEY]);
        if let Some(right) = b.tests.iter().find(|right| right.name == left.name) {
            differ(&format!("file size of test `{}`", left.name), &size(left), &size(right));
        }
    }
    for run in [a, b] {
        if let Some(imported) = &run.imported {
            let program = imported.program();
            notes.push(format!("run `{}` holds what {program} printed: its machine is not known", run.id));
        }
    }
    if a.imported.is_none() && b.imported.is_none() {
        machines(a, b, &mut notes);
    }
    notes
}

fn machines(a: &RunRecord, b: &RunRecord, notes: &mut Vec<String>) {
    let mut differ = |what: &str, left: &dyn Display, right: &dyn Display| {
        let (left, right) = (left.to_string(), right.to_string());
        if left != right {
            notes.push(format!("{what}: {} against {}", named(&left), named(&right)));
        }
    };
    let (left, right) = (&a.environment, &b.environment);
    differ("host", &left.hostname, &right.hostname);
    differ("machine", &left.machine, &right.machine);
    differ("kernel", &left.kernel, &right.kernel);
    differ("CPU", &left.cpu.model, &right.cpu.model);
    differ("vCPUs", &left.cpu.vcpus, &right.cpu.vcpus);
    differ("vCPUs allowed", &left.cpu.vcpus_allowed, &right.cpu.vcpus_allowed);
    differ("memory", &left.memory.cacheable(), &right.memory.cacheable());
    differ("clock source", &left.clock_source, &right.clock_source);
    let mount = |e: &Environment, what: fn(&host::Mount) -> &str| {
        e.target.as_ref().map(|mount| what(mount).to_owned()).unwrap_or_default()
    };
    differ("file system", &mount(left, |m| &m.file_system), &mount(right, |m| &m.file_system));
    differ("mounted", &mount(left, |m| &m.source), &mount(right, |m| &m.source));
    differ("mount options", &mount(left, |m| &m.options), &mount(right, |m| &m.options));
    for parameter in &left.client_parameters {
        let theirs = right.client_parameters.iter().find(|other| other.name == parameter.name);
        differ(&parameter.name, &parameter.value, &theirs.map_or("", |other| other.value.as_str()));
    }
    for test in &a.tests {
        for name in test.phase_names() {
            let engine = |run: &RunRecord| {
                let test = run.tests.iter().find(|other| other.name == test.name)?;
                test.phases(name).next().map(|phase: &PhaseResult| phase.engine.name.clone())
            };
            if let (Some(left), Some(right)) = (engine(a), engine(b)) {
                differ(&format!("engine of `{}` phase `{name}`", test.name), &left, &right);
            }
        }
    }
}

fn named(text: &str) -> &str {
    if text.is_empty() { "not known" } else { text }
}
