use std::io::Read as _;
use std::path::Path;

use bench::TestPlan;
use bench::languages::vdbench::{self, LiveReport, Overrides, Placing, Script, Test, flat_file, intervals};
use console::{Format, Printer};
use fault::{Fault, Kind};
use record::{Event, Listener, RunRecord};

use super::{Context, Result, ending, files, fleet, measure, runs, searching};
use crate::cli::{Live, Vdbench};
use crate::exit::Outcome;
use crate::failure::Failure;

/// Runs a parameter file of vdbench, over the hosts that options, a launcher or the file name.
pub fn run(context: &Context, arguments: &Vdbench) -> Result {
    refuse_nonsense(arguments)?;
    if arguments.fleet.slurm.is_some() || fleet::is_launched() {
        // Only the process that speaks reads the file.
        return fleet::over(context, &arguments.fleet, |context| {
            let text = read(&arguments.file)?;
            run_over(context, arguments, text)
        });
    }
    let text = read(&arguments.file)?;
    let script = understood(context, arguments, &text, None)?;
    if arguments.simulate {
        return simulate(context, &script);
    }
    let mut options = arguments.fleet.clone();
    match (&options.hosts, script.hosts.list()) {
        (None, Some(hosts)) => options.hosts = Some(hosts),
        (Some(_), Some(hosts)) => {
            context.printer.say(format!("note: `--hosts` takes the place of the file's {hosts}"));
        }
        _ => {}
    }
    fleet::over(context, &options, |context| run_over(context, arguments, text))
}

fn understood(
    context: &Context,
    arguments: &Vdbench,
    text: &str,
    groups: Option<u32>,
) -> std::result::Result<Script, Failure> {
    let overrides = Overrides {
        elapsed: arguments.elapsed,
        interval: arguments.interval,
        warm_up: arguments.warm_up,
        verify: arguments.validate || short_v(&context.settings.command),
        groups,
        variables: &arguments.variables,
    };
    Ok(vdbench::read(&arguments.file, text.to_owned(), &overrides)?)
}

/// As the process that leads: every host with ranks is one of vdbench's.
fn run_over(context: &Context, arguments: &Vdbench, text: String) -> Result {
    let several = context.crew.is_some_and(bench::crew::Crew::is_several);
    let script = understood(context, arguments, &text, several.then(|| context.ranks(1)))?;
    drop(text);
    if arguments.simulate {
        return simulate(context, &script);
    }
    script.notes.iter().for_each(|note| context.printer.say(format!("note: {note}")));
    let plans = plans(context, &script, arguments)?;
    if searching::goal(&arguments.searching).is_some() {
        let (searching, guards, outputs) = (&arguments.searching, &arguments.guards, &arguments.outputs);
        return searching::measure_and_show(context, plans, searching, guards, outputs);
    }
    let mut outputs = arguments.outputs.clone();
    let text = context.printer.format() == Format::Text;
    if text && context.printer.out_is_terminal() && matches!(outputs.live, Live::Auto) {
        // The intervals are the live view.
        outputs.live = Live::Off;
    }
    let reader: Option<Box<dyn Listener>> =
        text.then(|| Box::new(Intervals::new(context.printer.clone(), &script.tests)) as _);
    let judge = measure::Judge::default();
    let (record, outcome) = measure::measure_for(context, plans, &arguments.guards, &outputs, judge, reader)?;
    measure::finish(record.as_ref(), outcome, |record| {
        write_outputs(context, record, &script.tests, arguments)?;
        ending::show(context, record, &arguments.outputs)
    })
}

/// Prints the interval report while the run goes on.
struct Intervals {
    printer: Printer,
    report: LiveReport,
}

impl Intervals {
    fn new(printer: Printer, tests: &[Test]) -> Self {
        Self { printer, report: LiveReport::new(tests) }
    }
}

impl Listener for Intervals {
    fn on_event(&mut self, event: &Event) {
        if let Some(lines) = self.report.on_event(event) {
            // A standard output that can't be written fails the command when its result is printed.
            let _ = self.printer.data(lines);
        }
    }
}

/// What vdbench's command line can say and makes no sense here.
fn refuse_nonsense(arguments: &Vdbench) -> fault::Result<()> {
    if arguments.processes.is_some() {
        return Err(Fault::new(Kind::Usage, "`-m` sets a number of Java processes, and there are none")
            .hint("leave it out: threads are I/Os in flight, and one process is enough for them"));
    }
    if arguments.journal.is_some() {
        return Err(Fault::new(Kind::Usage, "`-j` keeps a journal to recover with, and there is none")
            .hint("`-v` compares all data from seed, file and offset alone"));
    }
    Ok(())
}

/// `-v` is vdbench's data validation here, and what `--verbose` is called elsewhere.
fn short_v(command: &[String]) -> bool {
    command.iter().any(|word| word == "-v")
}

fn read(path: &Path) -> fault::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        return read.map(|_| text).map_err(|error| Fault::os("read parameter file", path, error));
    }
    super::files::read_input("parameter file", path)
}

/// A plan for each test.
fn plans(context: &Context, script: &Script, arguments: &Vdbench) -> fault::Result<Vec<TestPlan>> {
    let several = script.tests.len() > 1;
    let pcores = context.pcores(host::System::here().cpu().pcores.max(1));
    let plan = |(number, test): (usize, &Test)| {
        let placing = Placing { overwrite: arguments.overwrite, keep: arguments.guards.keep_files };
        let (target, mut workload) = test.placed(placing)?;
        workload.engine = arguments.engine.into();
        Ok(TestPlan {
            name: if several { format!("vdbench {}", number + 1) } else { "vdbench".to_owned() },
            test: "vdbench".to_owned(),
            target,
            workload,
            pcores,
            equivalence: None,
            expect_file_system: None,
        })
    };
    script.tests.iter().enumerate().map(plan).collect()
}

/// The expansion, one line per run.
fn simulate(context: &Context, script: &Script) -> Result {
    let rows = script.tests.iter().flat_map(|test| &test.shown);
    let lines: Vec<String> = rows.map(vdbench::Shown::header).collect();
    let count = lines.len();
    let document = serde_json::json!({
        "runs": lines,
        "notes": script.notes,
        "workloads": script.tests.iter().map(|test| &test.workload).collect::<Vec<_>>(),
    });
    context.printer.document("vdbench", &document, || {
        let mut text = lines.join("\n");
        text.push('\n');
        text
    })?;
    script.notes.iter().for_each(|note| context.printer.say(format!("note: {note}")));
    let time: std::time::Duration = script.tests.iter().map(|test| test.workload.time()).sum();
    context.printer.say(format!("{count} runs, {} in all", units::format_duration(time)));
    Ok(Outcome::Done)
}

/// What vdbench leaves in its output directory.
fn write_outputs(
    context: &Context,
    record: &RunRecord,
    tests: &[Test],
    arguments: &Vdbench,
) -> fault::Result<()> {
    if let Some(directory) = &arguments.output {
        std::fs::create_dir_all(directory).map_err(|error| Fault::os("make directory", directory, error))?;
        let page = |title: &str, text: &str| {
            format!(
                "<html><head><title>{title}</title></head><body><pre>\n{}</pre></body></html>\n",
                plain(text)
            )
        };
        let all = intervals(record, tests);
        let totals: String = all.split_inclusive('\n').filter(|line| !is_interval(line)).collect();
        for (name, text) in
            [("summary", all.as_str()), ("totals", totals.as_str()), ("flatfile", &flat_file(record, tests))]
        {
            files::write(
                context,
                &directory.join(format!("{name}.html")),
                &page(&format!("vdbench {name}"), text),
            )?;
        }
    }
    if arguments.matrix.is_some() || arguments.heat_map.is_some() {
        let matrix =
            report::matrix_csv(record)?.zip(report::matrix_svg(record)).ok_or_else(runs::no_matrix)?;
        for (path, text) in [(&arguments.matrix, &matrix.0), (&arguments.heat_map, &matrix.1)] {
            if let Some(path) = path {
                files::write(context, path, text)?;
            }
        }
    }
    Ok(())
}

/// A line of one interval, and not of averages.
fn is_interval(line: &str) -> bool {
    line.split_whitespace().nth(1).is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        && line.contains(':')
}

fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
