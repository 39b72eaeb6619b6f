use bench::prove::Overrides;
use bench::sweep::{Striped, plan, points};
use console::{Align, Cell, Table};
use fault::{Fault, Kind};
use record::{RunRecord, RunState, Store, SweepPoint, Validity};
use spec::Document;

use super::measure::{self, Judge};
use super::{Context, Result, ending, files, fleet, prove};
use crate::cli::{FleetOptions, RanksPerHost, Sweep};
use crate::exit::Outcome;
use crate::failure::Failure;

/// Runs what is left of a spec's sweeps and shows all of it.
pub fn run(context: &Context, arguments: &Sweep) -> Result {
    let document = spec::load(&arguments.spec)?;
    let sweeps = chosen(&document, arguments.sweep.as_deref())?;
    let store = context.settings.store()?;
    let mut records = Vec::new();
    let mut rows = Vec::new();
    for sweep in sweeps {
        let all = points(&document, sweep, arguments.target.as_deref())?;
        let done = if arguments.again { Vec::new() } else { done(&store, &all)? };
        let missing = all.iter().filter(|point| record_of(&done, point).is_none()).count();
        context.printer.say(format!("sweep {}: {} points, {missing} to run", sweep.name, all.len()));
        for (number, point) in all.iter().enumerate() {
            if let Some(record) = record_of(&done, point) {
                rows.push((point.clone(), true));
                records.push(record.clone());
                continue;
            }
            rows.push((point.clone(), false));
            if arguments.dry_run {
                continue;
            }
            context.printer.say(format!("point {} of {}: {}", number + 1, all.len(), point.words()));
            let record = run_point(context, arguments, &document, sweep, point)?;
            let state = record.state;
            records.push(record);
            if state != RunState::Complete {
                let stopped = records.pop();
                context.printer.say("the same command goes on from here");
                return stopped.as_ref().map_or(Ok(Outcome::Done), ending::outcome);
            }
        }
    }
    if arguments.dry_run {
        return list(context, &rows);
    }
    show(context, arguments, &records)
}

fn chosen<'a>(document: &'a Document, name: Option<&str>) -> fault::Result<Vec<&'a spec::Sweep>> {
    let all = || document.spec.sweep.iter();
    let found: Vec<&spec::Sweep> = all().filter(|sweep| name.is_none_or(|name| sweep.name == name)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let fault = Fault::new(
        Kind::Spec,
        match name {
            Some(name) => format!("there is no sweep `{name}` in `{}`", document.path.display()),
            None => format!("`{}` has no sweep", document.path.display()),
        },
    );
    Err(if all().next().is_some() {
        fault.hint(format!("it has {}", spec::quoted(all().map(|sweep| sweep.name.as_str()))))
    } else {
        fault.hint("add a section `[[sweep]]` with a `name` and lists of values, such as `ranks = [1, 2, 4]`")
    })
}

/// Complete runs of these points.
fn done(store: &Store, points: &[SweepPoint]) -> fault::Result<Vec<RunRecord>> {
    let mut found: Vec<RunRecord> = Vec::new();
    let complete = |state| state == Some(RunState::Complete);
    for summary in
        store.list()?.into_iter().filter(|summary| summary.damaged.is_none() && complete(summary.state))
    {
        let Ok(record) = store.load(&summary.id) else { continue };
        if record.sweep.as_ref().is_some_and(|own| points.contains(own)) {
            found.push(record);
        }
    }
    // Of several runs of one point, the newest counts.
    found.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(found)
}

fn record_of<'a>(records: &'a [RunRecord], point: &SweepPoint) -> Option<&'a RunRecord> {
    records.iter().find(|record| record.sweep.as_ref() == Some(point))
}

/// One point, over as many hosts as it says.
fn run_point(
    context: &Context,
    arguments: &Sweep,
    document: &Document,
    sweep: &spec::Sweep,
    point: &SweepPoint,
) -> std::result::Result<RunRecord, Failure> {
    let options = hosts_of(&arguments.fleet, point)?;
    let mut found = None;
    let outcome = fleet::over(context, &options, |context| {
        let record = measure_point(context, arguments, document, sweep, point)?;
        let outcome =
            if record.state == RunState::Complete { Ok(Outcome::Done) } else { ending::outcome(&record) };
        found = Some(record);
        outcome
    });
    match (found, outcome) {
        (Some(record), _) => Ok(record),
        (None, Err(failure)) => Err(failure),
        (None, Ok(_)) => {
            Err(Fault::new(Kind::Unsupported, "sweeps run over `--hosts`, and not under a launcher")
                .hint("leave out `mpirun`, `srun` and `--slurm`, and name the hosts with `--hosts`")
                .into())
        }
    }
}

/// The first hosts of the list, as many as the point says, with its ranks on each.
fn hosts_of(all: &FleetOptions, point: &SweepPoint) -> fault::Result<FleetOptions> {
    let mut options = all.clone();
    if let Some(list) = &all.hosts
        && let Some(ranks) = point.get("ranks").and_then(|ranks| ranks.parse().ok())
    {
        options.hosts = Some(list.clone());
        options.ranks_per_host = Some(RanksPerHost::Exactly(ranks));
    }
    let Some(wanted) = point.get("hosts").and_then(|hosts| hosts.parse::<usize>().ok()) else {
        return Ok(options);
    };
    let there = all.hosts.as_deref().map(::fleet::hosts::read).transpose()?;
    match there {
        None if wanted == 1 => Ok(options),
        Some(hosts) if hosts.len() >= wanted => {
            let names: Vec<String> = hosts[..wanted].iter().map(ToString::to_string).collect();
            options.hosts = Some(names.join(","));
            Ok(options)
        }
        there => {
            let count = there.map_or(1, |hosts| hosts.len());
            Err(Fault::new(Kind::Usage, format!("the sweep wants {wanted} hosts, and there are {count}"))
                .hint("name them all with `--hosts node[01-24]`, or lower `hosts` in the sweep"))
        }
    }
}

fn measure_point(
    context: &Context,
    arguments: &Sweep,
    document: &Document,
    sweep: &spec::Sweep,
    point: &SweepPoint,
) -> std::result::Result<RunRecord, Failure> {
    let overrides = Overrides {
        target: arguments.target.as_deref(),
        repetitions: arguments.repetitions.map(std::num::NonZero::get),
    };
    let mut planned = plan(document, sweep, point, &overrides)?;
    let striped = Striped::make(&planned.plan.target, point)?;
    if let Some(striped) = &striped {
        striped.path().clone_into(&mut planned.plan.target);
    }
    planned.notes.iter().for_each(|note| context.printer.warn(note));
    let test = &mut planned.plan;
    // Where the sweep says the ranks, each stands for a pCore.
    let said = point.get("ranks").is_some();
    test.workload.ranks = context.ranks(test.workload.ranks);
    test.pcores = if said { test.workload.ranks } else { context.pcores(test.pcores) };
    let design =
        arguments.design.as_deref().map(|path| prove::evaluated(context, path, document)).transpose()?;
    let judge = Judge { document: Some(document), design, sweep: Some(point.clone()) };
    let (record, outcome) =
        measure::measure(context, vec![planned.plan], &arguments.guards, &arguments.outputs, judge)?;
    let Some(record) = record else {
        let fault = outcome.err();
        return Err(fault
            .unwrap_or_else(|| Fault::new(Kind::Bug, "a point did not begin").hint("say which"))
            .into());
    };
    if record.state == RunState::Failed {
        outcome?;
    }
    Ok(record)
}

fn list(context: &Context, rows: &[(SweepPoint, bool)]) -> Result {
    let document = serde_json::json!(
        rows.iter()
            .map(|(point, done)| serde_json::json!({ "point": point, "done": done }))
            .collect::<Vec<_>>()
    );
    context.printer.document("sweep_points", &document, || {
        let mut table = Table::new([("sweep", Align::Left), ("point", Align::Left), ("state", Align::Left)]);
        for (point, done) in rows {
            let state = if *done { Cell::good("done") } else { Cell::new("to run") };
            table.row([Cell::new(&point.sweep), Cell::new(point.words()), state]);
        }
        table.to_string()
    })?;
    Ok(Outcome::Done)
}

fn show(context: &Context, arguments: &Sweep, records: &[RunRecord]) -> Result {
    let csv = report::sweep_csv(records)?;
    let html = report::sweep_html(records)?;
    let rows: Vec<serde_json::Value> = records
        .iter()
        .map(|record| serde_json::json!({ "run": record.id, "sweep": record.sweep, "requirements": record.requirements }))
        .collect();
    context.printer.document("sweep", &serde_json::Value::from(rows), || table(records).to_string())?;
    match &arguments.outputs.report {
        Some(path) => files::write(context, path, &html)?,
        None => {
            if let Some(last) = records.last() {
                let path = context.settings.store()?.save_report(&format!("{}-sweep", last.id), &html)?;
                context.printer.say(format!("report: {}", path.display()));
            }
        }
    }
    if let Some(path) = &arguments.csv {
        files::write(context, path, &csv)?;
    }
    let met = records.iter().all(|record| record.met() != Some(false));
    Ok(if met { Outcome::Done } else { Outcome::NotMet })
}

fn table(records: &[RunRecord]) -> Table {
    let mut table = Table::new([
        ("point", Align::Left),
        ("direction", Align::Left),
        ("required per pCore", Align::Right),
        ("measured per pCore", Align::Right),
        ("verdict", Align::Left),
        ("numbers", Align::Left),
        ("run", Align::Left),
    ]);
    table.may_leave_out(&["run"]);
    for record in records {
        let point = record.sweep.as_ref().map(SweepPoint::words).unwrap_or_default();
        for verdict in &record.requirements {
            let measured =
                verdict.measured_per_pcore.map(|spread| spread.median_bytes_per_second.to_string());
            table.row([
                Cell::new(&point),
                Cell::new(verdict.direction.word()),
                Cell::new(verdict.required_per_pcore),
                Cell::new(measured.unwrap_or_else(|| "-".to_owned())),
                if verdict.met { Cell::good("met") } else { Cell::bad("not met") },
                match verdict.validity {
                    Validity::NotValid => Cell::bad(verdict.validity.words()),
                    other => Cell::new(other.words()),
                },
                Cell::new(&record.id),
            ]);
        }
    }
    table
}
