//! Sweeps: a spec's test at every combination of some settings. Deciding what the points are is pure; each point is a run of
//! its own, so that a sweep goes on where it was interrupted.

mod stripes;

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::Path;

use fault::{Fault, Kind, Result};
use record::{SweepPoint, SweepSetting};
use serde_json::Value;
use spec::{Document, Sweep, Test, TestKind};
use units::Bytes;

pub use stripes::Striped;

use crate::prove::{self, Overrides, ProvePlan};
use crate::workload::{Activity, TransferSize, Workload};

/// The points of `sweep`: every combination, the first setting outermost.
pub fn points(document: &Document, sweep: &Sweep, target: Option<&Path>) -> Result<Vec<SweepPoint>> {
    let test = test_of(document, sweep)?;
    let mut hasher = DefaultHasher::new();
    (&test.name, format!("{test:?}"), target).hash(&mut hasher);
    (&document.spec.grid.name, document.spec.storage.len()).hash(&mut hasher);
    if let Some(workload) = &test.workload {
        // A workload that has changed is another one.
        std::fs::read_to_string(document.resolve(workload)).ok().hash(&mut hasher);
    }
    let fingerprint = format!("{:016x}", hasher.finish());
    let mut all: Vec<Vec<SweepSetting>> = vec![Vec::new()];
    for (name, values) in sweep.axes() {
        let extend = |outer: &Vec<SweepSetting>| {
            let setting = |value: &String| SweepSetting { name: name.clone(), value: value.clone() };
            values
                .iter()
                .map(|value| outer.iter().cloned().chain([setting(value)]).collect())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    let point =
        |settings| SweepPoint { sweep: sweep.name.clone(), settings, fingerprint: fingerprint.clone() };
    Ok(all.into_iter().map(point).collect())
}

/// The test of a sweep: the named one, or the only one.
pub fn test_of<'a>(document: &'a Document, sweep: &Sweep) -> Result<&'a Test> {
    let found = match &sweep.test {
        Some(name) => document.spec.test.iter().find(|test| test.name == *name),
        None => document.spec.test.first(),
    };
    found.ok_or_else(|| {
        Fault::new(Kind::Spec, format!("sweep `{}` has no test to run", sweep.name))
            .hint("add a `[[test]]` to the spec")
    })
}

/// The plan of a point. The stripes of its target are not set yet.
pub fn plan(
    document: &Document,
    sweep: &Sweep,
    point: &SweepPoint,
    overrides: &Overrides<'_>,
) -> Result<ProvePlan> {
    let mut test = test_of(document, sweep)?.clone();
    let iotest = test.test == TestKind::Iotest;
    let ranks: Option<u32> = point.get("ranks").and_then(|ranks| ranks.parse().ok());
    let size: Option<Bytes> = point.get("transfer_size").and_then(|size| size.parse().ok());
    if iotest {
        test.pcores = ranks.or(test.pcores);
        test.transfer_size = size.or(test.transfer_size);
        if !sweep.parameter.is_empty() {
            return Err(Fault::new(Kind::Spec, format!("sweep `{}` sets parameters of an iotest", sweep.name))
                .hint("parameters are those of a workload: use `test = \"workload\"`, or `ranks` and `transfer_size`"));
        }
    }
    let mut planned = prove::plan(document, &test, overrides)?;
    if !iotest {
        if let Some(ranks) = ranks {
            planned.plan.workload.ranks = ranks;
        }
        if let Some(size) = size {
            set_size(&mut planned.plan.workload, size);
        }
        for parameter in &sweep.parameter {
            let Some(value) = point.get(&parameter.path) else { continue };
            planned.plan.workload = with_parameter(&planned.plan.workload, &parameter.path, value)?;
        }
        planned.plan.workload.check()?;
    }
    Ok(planned)
}

fn set_size(workload: &mut Workload, size: Bytes) {
    for job in workload.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        match &mut job.activity {
            Activity::Transfer(transfer) => transfer.transfer_size = TransferSize::Fixed(size),
            Activity::Entries(entries) => entries.transfer_size = Some(size),
        }
    }
}

/// The workload with one parameter set: `phases.0.jobs.0.activity.transfer.queue_depth`.
pub fn with_parameter(workload: &Workload, path: &str, value: &str) -> Result<Workload> {
    let wrong = |message: String, hint: &str| Fault::new(Kind::Spec, message).hint(hint.to_owned());
    let bug =
        |error: serde_json::Error| Fault::new(Kind::Bug, format!("cannot express the workload: {error}"));
    let mut tree = serde_json::to_value(workload).map_err(bug)?;
    let mut at = &mut tree;
    let parts: Vec<&str> = path.split('.').collect();
    for (depth, part) in parts.iter().enumerate() {
        at = inner(at, part, depth + 1 == parts.len()).ok_or_else(|| no_parameter(path, part))?;
    }
    *at = as_value(value);
    serde_json::from_value(tree).map_err(|error| {
        wrong(
            format!("`{path} = {value}` makes no workload: {error}"),
            "write the path and the value as a workload file has them; `forebay runs show` prints the one that ran",
        )
    })
}

/// What is called `part` in a table or list. The last part of a path may be one that a file leaves out.
fn inner<'v>(at: &'v mut Value, part: &str, last: bool) -> Option<&'v mut Value> {
    match at {
        Value::Object(table) => {
            if last && !table.contains_key(part) {
                table.insert(part.to_owned(), Value::Null);
            }
            table.get_mut(part)
        }
        Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    }
}

fn no_parameter(path: &str, part: &str) -> Fault {
    Fault::new(Kind::Spec, format!("the workload has no `{part}` of `{path}`"))
        .hint("paths go from the top, lists by number: `phases.0.jobs.0.activity.transfer.queue_depth`")
}

/// A value as TOML has it: numbers, true and false, tables; everything else is text.
fn as_value(text: &str) -> Value {
    let read: Option<toml::Table> = toml::from_str(&format!("value = {text}")).ok();
    let value = read.and_then(|mut table| table.remove("value"));
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Phase, Transfer};

    fn workload() -> Workload {
        Workload { phases: vec![Phase::transfer("read", Transfer::read(Bytes::kib(4)))], ..Workload::empty() }
    }

    #[test]
    fn any_parameter_is_set_by_its_path() {
        let set = |path: &str, value: &str| with_parameter(&workload(), path, value);
        let deep = set("phases.0.jobs.0.activity.transfer.queue_depth", "8").unwrap();
        let Activity::Transfer(transfer) = &deep.phases[0].jobs[0].activity else { panic!("no transfer") };
        assert_eq!(transfer.queue_depth, 8);
        assert_eq!(set("ranks", "4").unwrap().ranks, 4);
        assert_eq!(set("files.block_size", "1 MiB").unwrap().files.block_size, Bytes::mib(1));
        assert!(set("phases.0.jobs.0.activity.transfer.order", "{ seek_percent = 50.0 }").is_ok());
        for (path, value) in
            [("phases.7.name", "x"), ("nothing.at.all", "1"), ("ranks", "many"), ("ranks.0", "1")]
        {
            let fault = set(path, value).unwrap_err();
            assert!(fault.kind() == Kind::Spec && fault.hint_text().is_some(), "{fault}");
        }
    }

    #[test]
    fn points_are_every_combination_in_order() {
        let text = "version = 1\n[grid]\nname = \"g\"\npcores = 2\n[[storage]]\nname = \"s\"\nrole = \"data\"\nread_per_pcore = \"1 MB/s\"\nwrite_per_pcore = \"1 MB/s\"\ncapacity = \"1 TiB\"\n[[test]]\nname = \"t\"\ntest = \"iotest\"\n[[sweep]]\nname = \"w\"\nranks = [1, 2]\ntransfer_size = [\"64 KiB\", \"1 MiB\", \"4 MiB\"]\n";
        let document = spec::parse("grid.toml", text).unwrap();
        let found = points(&document, &document.spec.sweep[0], None).unwrap();
        let words: Vec<String> = found.iter().map(SweepPoint::words).collect();
        let mut naive = Vec::new();
        for ranks in [1, 2] {
            for size in ["64 KiB", "1 MiB", "4 MiB"] {
                naive.push(format!(
                    "ranks={ranks} transfer_size={}",
                    format_args!("{:#}", size.parse::<Bytes>().unwrap())
                ));
            }
        }
        assert_eq!(words, naive);
        assert!(found.iter().all(|point| point.fingerprint == found[0].fingerprint));
        let other = points(&document, &document.spec.sweep[0], Some(Path::new("/elsewhere"))).unwrap();
        assert_ne!(other[0].fingerprint, found[0].fingerprint, "another target is another sweep");
    }
}
