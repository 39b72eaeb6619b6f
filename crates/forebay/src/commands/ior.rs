use std::fs::OpenOptions;
use std::path::Path;

use bench::languages::ior::{Document, Ior as Language, Report, World};
use console::Format;
use fault::{Fault, Kind};
use record::RunRecord;

use super::{Context, Result, ending, measure, searching};
use crate::cli::Ior;
use crate::exit::Outcome;

/// Runs an IOR command line.
pub fn run(context: &Context<'_>, arguments: &Ior) -> Result {
    let world = world(context, arguments.ranks.get());
    let mut ior = Language::read(&arguments.arguments, world, arguments.strict_ior)?;
    for test in &mut ior.tests {
        test.plan.pcores = context.pcores(test.plan.pcores);
    }
    for note in &ior.notes {
        context.printer.say(format!("note: {note}"));
    }
    if ior.tests.iter().any(|test| test.parameters.dry_run > 0) {
        return show_plans(context, &ior);
    }
    for path in ior.tests.iter().flat_map(|test| test.files()) {
        refuse_unwritable(path)?;
    }
    for directory in ior.tests.iter().filter_map(|test| test.log_directory()) {
        refuse_missing(directory)?;
    }
    let plans = ior.tests.iter().map(|test| test.plan.clone()).collect();
    if searching::goal(&arguments.searching).is_some() {
        let (searching, guards, outputs) = (&arguments.searching, &arguments.guards, &arguments.outputs);
        return searching::measure_and_show(context, plans, searching, guards, outputs);
    }
    let (record, outcome) =
        measure::measure(context, plans, &arguments.guards, &arguments.outputs, measure::Judge::default())?;
    measure::finish(record.as_ref(), outcome, |record| show(context, arguments, &ior, record))
}

/// Who takes part: the processes of a launcher or of `--hosts`, or so many tasks here.
fn world(context: &Context<'_>, own: u32) -> World {
    let Some(crew) = context.crew.filter(|crew| crew.is_several()) else { return World::local(own) };
    let members = crew.members().iter().zip(crew.seats()).filter(|(_, seats)| **seats > 0);
    let seated: Vec<((&str, &str), u32)> =
        members.map(|(member, seats)| ((member.host.as_str(), member.boot_id.as_str()), *seats)).collect();
    let mut hosts: Vec<(&str, &str)> = seated.iter().map(|(host, _)| *host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let first = seated.first().map(|(host, _)| *host);
    let on_first: u32 = seated.iter().filter(|(host, _)| Some(*host) == first).map(|(_, seats)| *seats).sum();
    // Tasks are dealt to processes in their order.
    let second = match &seated[..] {
        [(host, 1), (next, _), ..] => next == host,
        _ => true,
    };
    World {
        ranks: crew.ranks(),
        nodes: hosts.len().max(1) as u32,
        ranks_on_first_node: on_first,
        in_blocks: second,
    }
}

/// What would be done.
fn show_plans(context: &Context<'_>, ior: &Language) -> Result {
    let workloads: Vec<_> = ior.tests.iter().map(|test| &test.plan.workload).collect();
    context.printer.document("workloads", &workloads, || {
        let lines = ior
            .tests
            .iter()
            .map(|test| format!("{} in `{}`", test.plan.workload.summary(), test.plan.target.display()));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    Ok(Outcome::Done)
}

/// A place for results that can't be written is told before anything is measured.
fn refuse_unwritable(path: &Path) -> fault::Result<()> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|e| Fault::os("write", path, e))
        .map(|_| ())
}

/// The same for a directory whose files are named when they are written.
fn refuse_missing(directory: &Path) -> fault::Result<()> {
    let found = std::fs::metadata(directory).map_err(|error| Fault::os("write in", directory, error))?;
    if found.is_dir() {
        return Ok(());
    }
    Err(Fault::new(Kind::Usage, format!("`{}` is no directory", directory.display()))
        .hint("name files in a directory that is there: `-O savePerOpDataCSV=DIRECTORY/NAME`"))
}

fn show(context: &Context<'_>, arguments: &Ior, ior: &Language, record: &RunRecord) -> Result {
    let report = Document::new(record, &ior.tests).report();
    if context.printer.format() == Format::Text {
        print(context, &report)?;
        ending::write_reports(context, record, &arguments.outputs)?;
    } else {
        ending::show(context, record, &arguments.outputs)?;
        if let Some(file) = &report.file {
            write(file, &report.text)?;
        }
    }
    for (file, text) in &report.others {
        write(file, text)?;
    }
    for warning in &report.warnings {
        context.printer.warn(warning);
    }
    if !report.warnings.is_empty() && ior.tests.iter().any(|test| test.parameters.warnings_are_errors > 0) {
        return Err(Fault::new(Kind::Corrupt, report.warnings[0].clone())
            .hint("--warningAsErrors makes a warning a failure")
            .into());
    }
    ending::outcome(record)
}

fn print(context: &Context<'_>, report: &Report) -> fault::Result<()> {
    match &report.file {
        None => context.printer.data(&report.text),
        Some(file) => {
            context.printer.data(format!("Writing output to {}", file.display()))?;
            write(file, &report.text)
        }
    }
}

fn write(path: &Path, text: &str) -> fault::Result<()> {
    std::fs::write(path, text).map_err(|error| Fault::os("write", path, error))
}
