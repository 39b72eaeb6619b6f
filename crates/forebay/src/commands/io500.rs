//! IO500: phases one after the other, all in one record, and the files that IO500 writes.

mod files;
mod results;

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use bench::languages::io500::{
    self as language, Cast, Config, Judged, PhaseName, Progress, Room, Scene, Scores, Step,
};
use bench::{Options, Session, TestPlan};
use console::Format;
use fault::{Fault, Kind};
use record::{PhaseResult, RunRecord, RunState};

use self::results::{Results, Wrote};
use super::watching::Watching;
use super::{Context, Result, ending, measure};
use crate::cli::{Io500, Io500Mode};
use crate::exit::Outcome;

/// Part of a file system that stays free.
const KEPT_FREE: f64 = 0.10;

/// What the configuration file says, and its text.
pub fn load(path: &Path) -> fault::Result<(String, Config)> {
    let text = super::files::read_input("configuration", path)?;
    let config = Config::read(&text, &path.display().to_string())?;
    Ok((text, config))
}

/// Runs IO500's phases.
pub fn run(context: &Context, arguments: &Io500) -> Result {
    if arguments.list {
        context.printer.data(language::list())?;
        return Ok(Outcome::Done);
    }
    let Some(path) = &arguments.config else { return Ok(Outcome::Done) };
    let (text, mut config) = load(path)?;
    if let Some(result) = &arguments.verify {
        return verify(context, result, &config);
    }
    let extended = arguments.mode == Io500Mode::Extended;
    if extended && !config.without_md_workbench() {
        return Err(Fault::new(
            Kind::Unsupported,
            "io500: the extended mode's md-workbench mixes four operations in one loop, which is none of our phases",
        )
        .hint("write `run = FALSE` below `[mdworkbench]`; find-easy and find-hard then run, and the score is without it")
        .into());
    }
    if let Some(seconds) = arguments.stonewall {
        config.set_stonewall(u64::from(seconds.get()));
    }
    let timestamp = arguments.timestamp.clone().unwrap_or_else(|| record::local_time("%Y.%m.%d-%H.%M.%S"));
    check_timestamp(&timestamp)?;
    let (data, result_directory) = config.directories(&timestamp);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let phases = language::phases(extended).into_iter().filter(|phase| config.runs(phase)).collect();
    let mut run = Run {
        context,
        arguments,
        phases,
        config,
        data,
        // IOR keeps it in 31 bits.
        signature: now % (1 << 31),
        done: Progress::default(),
        master: None,
    };
    if arguments.cleanup {
        files::remove_all(&run.data, run.ranks())?;
        context.printer.say(format!("removed what IO500 leaves in {}", run.data.display()));
        return Ok(Outcome::Done);
    }
    if arguments.dry_run {
        return run.show_plan();
    }
    // What the ini file says of any phase is read before the first one runs.
    run.plan()?;
    run.warn();
    files::make_all(&run.data)?;
    let mut results = Results::begin(&result_directory, &text, &run.config, (&program(), extended))?;
    let outcome = run.all_phases(&mut results);
    let removed =
        if arguments.guards.keep_files { Ok(()) } else { files::remove_all(&run.data, run.ranks()) };
    run.finish(&results, outcome.and(removed))
}

/// Says what follows from the phases of a result file, and fails where it does not count.
fn verify(context: &Context, path: &Path, config: &Config) -> Result {
    let text = super::files::read_input("result", path)?;
    let found = language::verify(&text, config);
    context
        .printer
        .data(language::score_lines(&Scores { invalid: found.wrong.clone(), ..found.scores }) + "\n")?;
    found.notes.iter().for_each(|note| context.printer.say(note));
    if found.wrong.is_empty() {
        return Ok(Outcome::Done);
    }
    let message = format!("`{}` is no valid result: {}", path.display(), found.wrong.join("; "));
    Err(Fault::new(Kind::Refused, message)
        .hint("run IO500 again, with the stonewall that its rules ask for")
        .into())
}

/// A name of one directory.
fn check_timestamp(text: &str) -> fault::Result<()> {
    let plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        && !text.starts_with('.');
    if plain {
        return Ok(());
    }
    Err(Fault::new(Kind::Usage, format!("`--timestamp {text}` is no name for a directory"))
        .hint("use letters, digits, `.`, `-` and `_`"))
}

struct Run<'a, 'c> {
    context: &'a Context<'c>,
    arguments: &'a Io500,
    phases: Vec<PhaseName>,
    config: Config,
    data: PathBuf,
    signature: u64,
    done: Progress,
    /// The record so far.
    master: Option<RunRecord>,
}

impl Run<'_, '_> {
    fn ranks(&self) -> u32 {
        self.context.ranks(self.arguments.ranks.get())
    }

    fn extended(&self) -> bool {
        self.arguments.mode == Io500Mode::Extended
    }

    fn warn(&self) {
        let printer = &self.context.printer;
        if self.config.stonewall() != self.config.asked_stonewall() {
            let (is, should) = (self.config.stonewall().as_secs(), self.config.asked_stonewall().as_secs());
            printer.warn(format!("a stonewall of {is} s instead of {should} s: the result is INVALID"));
        }
        printer.say(
            "unlike IO500: block sizes and numbers of files are lowered to what fits; a wear-out ends after ten times the stonewall; files go at the end; the score's hash is our own",
        );
    }

    fn scene(&self) -> fault::Result<Scene<'_>> {
        let cast = Cast {
            ranks: self.ranks(),
            on_first_host: self.context.ranks_on_first_host(),
            data: &self.data,
            signature: self.signature,
        };
        Ok(self.config.scene(cast, self.done, self.room()?))
    }

    /// What may be filled where the data goes.
    fn room(&self) -> fault::Result<Room> {
        let there = self.data.ancestors().find(|path| path.is_dir()).unwrap_or_else(|| Path::new("."));
        let environment = host::System::here().environment(Some(there))?;
        let Some(mount) = environment.target else {
            return Ok(Room { bytes: units::Bytes::tib(1 << 20), inodes: None });
        };
        let kept = mount.size_bytes.share(units::Ratio::new(KEPT_FREE));
        let inodes = (mount.inodes > 0).then_some(mount.inodes_free);
        if mount.size_bytes == units::Bytes::ZERO {
            return Ok(Room { bytes: units::Bytes::tib(1 << 20), inodes });
        }
        Ok(Room { bytes: mount.available_bytes.saturating_sub(kept), inodes })
    }

    /// All steps, as they are before anything has run.
    fn plan(&self) -> fault::Result<Vec<(PhaseName, Vec<Step>)>> {
        let scene = self.scene()?;
        self.phases.iter().map(|phase| Ok((*phase, scene.steps(phase)?))).collect()
    }

    fn show_plan(&self) -> Result {
        let mut lines = vec![language::version_line(&program(), self.extended())];
        for (phase, steps) in self.plan()? {
            if steps.is_empty() {
                let what = if phase == "timestamp" { "sets a mark for find" } else { "looks at all files" };
                lines.push(format!("{phase:>20}: {what}"));
            }
            for step in steps {
                lines.push(format!("{phase:>20}: {}", step.command.join(" ")));
                let (what, target) = (step.workload.summary(), step.target.display());
                lines.push(format!("{:>20}  {what} in {target}", ""));
            }
        }
        self.context.printer.data(lines.join("\n") + "\n")?;
        Ok(Outcome::Done)
    }

    fn all_phases(&mut self, results: &mut Results) -> fault::Result<()> {
        self.show(|| language::version_line(&program(), self.extended()))?;
        for phase in self.phases.clone() {
            if !self.has_input(phase) {
                self.context
                    .printer
                    .warn(format!("{phase} has nothing to work on: its write phase did not run"));
                continue;
            }
            let judged = match phase {
                "timestamp" => self.timestamp(results)?,
                _ => self.measured(phase, results)?,
            };
            self.show(|| language::result_line(&judged))?;
        }
        Ok(())
    }

    /// A line of the summary, for people.
    fn show(&self, line: impl FnOnce() -> String) -> fault::Result<()> {
        let text = self.context.printer.format() == Format::Text;
        if text { self.context.printer.data(line() + "\n") } else { Ok(()) }
    }

    /// Whether what a phase works on is there.
    fn has_input(&self, phase: &str) -> bool {
        let (easy, hard) = (self.done.easy_items > 0, self.done.hard_items > 0);
        match phase {
            "ior-easy-read" | "ior-rnd4K-easy-read" => self.done.easy_transfers > 0,
            "ior-hard-read" => self.done.hard_transfers > 0,
            "mdtest-easy-stat" | "mdtest-easy-delete" | "find-easy" => easy,
            "mdtest-hard-stat" | "mdtest-hard-read" | "mdtest-hard-delete" | "find-hard" => hard,
            "find" => easy || hard,
            _ => true,
        }
    }

    /// Finds look for what is newer than this.
    fn timestamp(&mut self, results: &mut Results) -> fault::Result<Judged> {
        let begun = Instant::now();
        results.mark()?;
        self.done.timestamp = Some(files::timestamp(&self.data)?);
        let judged = Judged::timestamp(begun.elapsed().as_secs_f64());
        results.add(&judged, &Wrote::default())?;
        Ok(judged)
    }

    /// Runs a phase, judges it, remembers what it left, and writes its files.
    fn measured(&mut self, phase: PhaseName, results: &mut Results) -> fault::Result<Judged> {
        let steps = self.scene()?.steps(phase)?;
        let mut wrote = Wrote::default();
        let mut whole: Option<PhaseResult> = None;
        for step in &steps {
            let name = match step.target.file_name().and_then(|name| name.to_str()) {
                Some(place) if steps.len() > 1 => format!("{phase} in {place}"),
                _ => phase.to_owned(),
            };
            self.one_test(&name, step)?;
            let record = self.master.as_ref();
            let of_phase = record.and_then(|record| record.tests.last()?.phases(phase).next());
            let (Some(record), Some(part)) = (record, of_phase) else {
                let message = format!("{phase} has no result");
                return Err(Fault::new(Kind::Bug, message).hint("see `forebay runs show latest`"));
            };
            wrote.text.push_str(&step.printed(record, self.context.hosts()));
            wrote.command = step.command.join(" ");
            whole = Some(whole.map_or_else(|| part.clone(), |whole| with_part(&whole, part)));
        }
        let Some(mut whole) = whole else {
            return Err(Fault::new(Kind::Bug, format!("{phase} is no phase that runs")));
        };
        if phase == "find" {
            let beside = files::look_beside(&self.data, &self.scene()?.sought())?;
            whole.last_done.operations += beside.looked_at;
            whole.last_done.elapsed_ns += beside.elapsed_ns;
            whole.matched = whole.matched.map(|matched| matched + beside.found);
        }
        self.remember(phase, &whole);
        let judged = language::judge(phase, &whole, &self.config);
        if phase.starts_with("find") {
            wrote.text = language::result_line(&judged) + "\n";
            wrote.command = format!("find {}", self.data.display());
        }
        wrote.phase = Some(whole);
        results.add(&judged, &wrote)?;
        Ok(judged)
    }

    /// What every rank has: a wear-out that was cut short leaves some behind.
    fn remember(&mut self, name: &str, phase: &PhaseResult) {
        let least = phase.ranks.iter().map(|rank| rank.operations).min().unwrap_or(0);
        let most = phase.ranks.iter().map(|rank| rank.operations).max().unwrap_or(0);
        match name {
            "ior-easy-write" => self.done.easy_transfers = least,
            "ior-hard-write" => self.done.hard_transfers = least,
            "mdtest-easy-write" => self.done.easy_items = most,
            "mdtest-hard-write" => self.done.hard_items = most,
            _ => {}
        }
    }

    /// Runs one phase as a test of the one record.
    fn one_test(&mut self, name: &str, step: &Step) -> fault::Result<()> {
        let store = self.context.settings.store()?;
        let plan = TestPlan {
            name: name.to_owned(),
            test: "io500".to_owned(),
            target: step.target.clone(),
            workload: step.workload.clone(),
            pcores: self.context.pcores(host::System::here().cpu().pcores.max(1)),
            equivalence: None,
            expect_file_system: self.arguments.guards.expect_file_system.clone(),
        };
        let options = Options {
            keep_files: true,
            fill_beyond: self.arguments.guards.fill_beyond,
            label: self.arguments.outputs.label.clone(),
            allow_lost: self.context.allow_lost,
        };
        let mut watching = Watching::start(&self.context.printer, &self.arguments.outputs)?;
        let mut save = |record: &RunRecord| store.save(record).map(|_| ());
        let mut session =
            Session::new(self.context.settings.command.clone(), options, &mut watching, &mut save);
        if let Some(crew) = self.context.crew {
            session = session.over(crew);
        }
        let before = self.master.take();
        let (tests, elapsed) =
            before.as_ref().map_or((0, 0), |record| (record.tests.len(), record.elapsed_ns));
        if let Some(record) = before {
            session.record = RunRecord { state: RunState::Running, ..record };
        }
        let (mut record, outcome) = session.run(&[plan]);
        // Each session counts from its own start.
        for test in record.tests.iter_mut().skip(tests) {
            for phase in test.repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
                phase.started_ns = phase.started_ns.saturating_add(elapsed);
            }
        }
        record.elapsed_ns = record.elapsed_ns.saturating_add(elapsed);
        if record.has_begun() {
            store.save(&record)?;
        }
        self.master = Some(record);
        outcome
    }

    fn finish(self, results: &Results, outcome: fault::Result<()>) -> Result {
        let mut scores = Vec::new();
        if outcome.is_ok() {
            scores.push(Scores::of(results.judged(), &self.config, false));
            if self.extended() {
                scores.push(Scores::of(results.judged(), &self.config, true));
            }
        }
        results.end(&scores)?;
        let context = self.context;
        measure::finish(self.master.as_ref(), outcome, |record| {
            if context.printer.format() != Format::Text {
                return ending::show(context, record, &self.arguments.outputs);
            }
            for scores in &scores {
                context.printer.data(language::score_lines(scores) + "\n")?;
            }
            context.printer.say(format!("results: {}", results.directory().display()));
            ending::write_reports(context, record, &self.arguments.outputs)?;
            ending::outcome(record)
        })
    }
}

/// Both parts of a find as one: files and times add up.
fn with_part(phase: &PhaseResult, part: &PhaseResult) -> PhaseResult {
    let mut whole = phase.clone();
    whole.last_done.operations += part.last_done.operations;
    whole.last_done.elapsed_ns += part.last_done.elapsed_ns;
    whole.matched = match (whole.matched, part.matched) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
    whole
}

fn program() -> String {
    format!("forebay {}", env!("CARGO_PKG_VERSION"))
}
