use std::path::{Path, PathBuf};

use bench::TestPlan;
use bench::languages::mdtest::{self as language, Capacity, Head, Mdtest as Command, Surroundings, Task};
use console::Format;
use fault::Fault;
use record::{RunRecord, TestRecord};

use super::{Context, Result, ending, measure};
use crate::cli::Mdtest;

/// Runs mdtest's command line.
pub fn run(context: &Context, arguments: &Mdtest) -> Result {
    let command = Command::read(&arguments.words, arguments.full_paths, arguments.strict_mdtest)?;
    let ranks = context.ranks(arguments.ranks.get());
    let items_left = items_left(&command)?;
    let tasks = command.compile(Surroundings {
        ranks,
        items_left,
        ranks_on_first_host: context.ranks_on_first_host(),
    })?;
    for deviation in &command.deviations {
        context.printer.say(format!("unlike mdtest: {deviation}"));
    }
    let made = make_directories(&command.directories)?;
    let plans = tasks.iter().map(|task| plan(context, &command, task, tasks.len())).collect();
    let started = now();
    let measured =
        measure::measure(context, plans, &arguments.guards, &arguments.outputs, measure::Judge::default());
    // Whatever became of the run: directories that it made and that are empty again were not there before.
    made.iter().rev().for_each(|directory| drop(std::fs::remove_dir(directory)));
    let (record, outcome) = measured?;
    if let (Some(record), Some(path)) = (&record, &command.status_file) {
        keep_items(record, path)?;
    }
    measure::finish(record.as_ref(), outcome, |record| {
        if context.printer.format() != Format::Text {
            return ending::show(context, record, &arguments.outputs);
        }
        let head = head(record, &arguments.words, (ranks, context.hosts()), started);
        let tests: Vec<(u32, &TestRecord)> = tasks.iter().map(|task| task.tasks).zip(&record.tests).collect();
        context.printer.data(language::table(&command, &head, &tests))?;
        context.printer.say(format!(
            "numbers: {}; forebay runs show {}",
            record.validity().words(),
            record.id
        ));
        ending::write_reports(context, record, &arguments.outputs)?;
        ending::outcome(record)
    })
}

fn plan(context: &Context<'_>, command: &Command, task: &Task, of: usize) -> TestPlan {
    let name = if of == 1 { language::TEST.to_owned() } else { format!("{}-{}", language::TEST, task.tasks) };
    TestPlan {
        name,
        test: language::TEST.to_owned(),
        target: command.directories.first().cloned().unwrap_or_default(),
        workload: task.workload.clone(),
        pcores: context.pcores(host::System::here().cpu().pcores.max(1)),
        equivalence: None,
        expect_file_system: None,
    }
}

/// What an earlier creation left, where this run creates nothing itself.
fn items_left(command: &Command) -> fault::Result<Option<u64>> {
    let Some(path) = command.status_file.as_ref().filter(|_| !command.creates()) else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| Fault::os("read status file", path, error))?;
    language::read_status(&text, path).map(Some)
}

/// Keeps the number of items of each task for later runs.
fn keep_items(record: &RunRecord, path: &Path) -> fault::Result<()> {
    let created = record.tests.iter().flat_map(|test| test.phases("file-create")).last();
    let most = created.and_then(|phase| phase.ranks.iter().map(|rank| rank.operations).max());
    let Some(most) = most.filter(|items| *items > 0) else { return Ok(()) };
    std::fs::write(path, format!("{most}")).map_err(|error| Fault::os("write status file", path, error))
}

/// Makes the directories that are missing, as mdtest does; returns those that it made.
fn make_directories(directories: &[PathBuf]) -> fault::Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for directory in directories {
        let missing: Vec<&Path> =
            directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
        for path in missing.into_iter().rev() {
            std::fs::create_dir(path).map_err(|error| Fault::os("create directory", path, error))?;
            made.push(path.to_owned());
        }
    }
    Ok(made)
}

fn now() -> String {
    record::local_time("%m/%d/%Y %H:%M:%S")
}

fn head(record: &RunRecord, words: &[String], (ranks, hosts): (u32, u32), started: String) -> Head {
    let capacity = record.environment.target.as_ref().map(|mount| Capacity {
        bytes: mount.size_bytes.get() as f64,
        used_bytes: mount.size_bytes.saturating_sub(mount.free_bytes.max(mount.available_bytes)).get() as f64,
        inodes: mount.inodes as f64,
        used_inodes: mount.inodes.saturating_sub(mount.inodes_free) as f64,
    });
    Head {
        program: format!("mdtest-4.1 ({})", record.program),
        words: words.to_vec(),
        ranks,
        hosts,
        started,
        finished: now(),
        capacity,
    }
}
