use std::path::Path;

use console::{Align, Cell, Table};
use fault::{Fault, Kind};
use import::Tool;
use record::{PhaseResult, RunRecord, TestRecord};
use serde_json::json;
use spec::Document;
use units::{Iops, format_duration};

use super::{Context, Result};
use crate::cli::{Import, ImportFrom};
use crate::exit::Outcome;

/// Reads results of other tools and keeps them. One file that can't be read does not keep the others; each is told.
pub fn run(context: &Context, arguments: &Import) -> Result {
    let document = arguments.spec.as_deref().map(spec::load).transpose()?;
    let mut records: Vec<RunRecord> = Vec::new();
    let mut failures = Vec::new();
    for path in &arguments.files {
        match read(path, arguments, document.as_ref()) {
            Ok(record) => records.push(record),
            Err(fault) => failures.push(fault),
        }
    }
    if records.is_empty()
        && let Some(last) = failures.pop()
    {
        failures.iter().for_each(|fault| context.printer.fault(fault));
        return Err(last.into());
    }
    if !arguments.list {
        let store = context.settings.store()?;
        records.iter().try_for_each(|record| store.save(record).map(|_| ()))?;
    }
    let shown: Vec<serde_json::Value> = records.iter().map(|record| listed(record, arguments.list)).collect();
    context.printer.items("imports", &shown, || {
        records.iter().map(|record| text(record, arguments.list)).collect::<Vec<_>>().join("\n\n")
    })?;
    failures.iter().for_each(|fault| context.printer.fault(fault));
    Ok(if failures.is_empty() { Outcome::Done } else { Outcome::Partial })
}

fn read(path: &Path, arguments: &Import, document: Option<&Document>) -> fault::Result<RunRecord> {
    let bytes = std::fs::read(path).map_err(|error| Fault::os("read", path, error))?;
    let mut record = ::import::read(path, &bytes, arguments.from.map(tool))?;
    record.label.clone_from(&arguments.label);
    if let Some(pcores) = arguments.pcores {
        record.tests.iter_mut().for_each(|test| test.pcores = pcores.get());
    }
    if let Some(document) = document {
        judge(&mut record, path, document, arguments.test.as_deref())?;
    }
    Ok(record)
}

/// Names the result after the spec's test, so that the spec's requirements are held against it.
fn judge(record: &mut RunRecord, path: &Path, document: &Document, test: Option<&str>) -> fault::Result<()> {
    let names = bench::prove::test_names(document);
    let name = match (test, names.as_slice()) {
        (Some(test), _) if names.iter().any(|name| name == test) => test.to_owned(),
        (Some(test), _) => {
            let message = format!("the spec `{}` has no test `{test}`", document.path.display());
            return Err(Fault::new(Kind::Usage, message)
                .hint(format!("it has {}", spec::quoted(names.iter().map(String::as_str)))));
        }
        (None, [only]) => only.clone(),
        (None, _) => {
            let message = format!("the spec `{}` has {} tests", document.path.display(), names.len());
            return Err(
                Fault::new(Kind::Usage, message).hint("say with `--test` which one these are results of")
            );
        }
    };
    let Some(first) = record.tests.first_mut() else { return Ok(()) };
    if first.pcores == 0 {
        let message = format!("`{}` does not say how many pCores were measured", path.display());
        return Err(Fault::new(Kind::Usage, message)
            .hint("requirements are per pCore: say how many the hosts had together with `--pcores N`"));
    }
    first.name = name;
    record.spec = Some(record::SpecDocument {
        path: document.path.clone(),
        text: document.text.clone(),
        grid: document.spec.grid.name.clone(),
    });
    record.requirements = bench::prove::verdicts(document, record);
    Ok(())
}

fn tool(from: ImportFrom) -> Tool {
    match from {
        ImportFrom::RhelIotest => Tool::RhelIotest,
        ImportFrom::Ior => Tool::Ior,
        ImportFrom::Mdtest => Tool::Mdtest,
        ImportFrom::Vdbench => Tool::Vdbench,
        ImportFrom::Io500 => Tool::Io500,
        ImportFrom::Fio => Tool::Fio,
        ImportFrom::Elbencho => Tool::Elbencho,
    }
}

fn listed(record: &RunRecord, only_listed: bool) -> serde_json::Value {
    let phases = |test: &TestRecord| -> Vec<serde_json::Value> {
        let of = |name: &&str| json!({ "phase": name, "repetitions": test.phases(name).count() });
        test.phase_names().iter().map(of).collect()
    };
    let tests: Vec<serde_json::Value> =
        record.tests.iter().map(|test| json!({ "test": test.name, "phases": phases(test) })).collect();
    let id = (!only_listed).then_some(&record.id);
    json!({ "run": id, "imported": record.imported, "started_at": record.started_at, "tests": tests })
}

fn text(record: &RunRecord, only_listed: bool) -> String {
    let file =
        record.imported.as_ref().map(|imported| imported.file.display().to_string()).unwrap_or_default();
    let kept = if only_listed { "not kept".to_owned() } else { format!("run {}", record.id) };
    let mut lines = vec![format!("{file}: {}, {kept}", record.program)];
    for test in &record.tests {
        lines.push(format!("{}: {}", test.name, test.summary));
        lines.push(table(test).to_string());
    }
    lines.join("\n")
}

fn table(test: &TestRecord) -> Table {
    let mut table = Table::new([
        ("phase", Align::Left),
        ("repetition", Align::Right),
        ("bandwidth", Align::Right),
        ("operations", Align::Right),
        ("time", Align::Right),
    ]);
    for repetition in &test.repetitions {
        for phase in &repetition.phases {
            table.row(row(repetition.number, phase));
        }
    }
    table
}

fn row(number: u32, phase: &PhaseResult) -> [Cell; 5] {
    let bytes = phase.bytes() > units::Bytes::ZERO;
    let counted = phase.operation_count() > 0;
    let rate: Iops = phase.last_done.iops();
    [
        Cell::new(&phase.name),
        Cell::new(number),
        Cell::new(if bytes { phase.bandwidth().to_string() } else { "-".to_owned() }),
        Cell::new(if counted { rate.to_string() } else { "-".to_owned() }),
        Cell::new(format_duration(std::time::Duration::from_nanos(phase.last_done.elapsed_ns))),
    ]
}
