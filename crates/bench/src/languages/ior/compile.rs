//! From IOR's parameters to a test: the workload, its target, and a line for everything that is done otherwise.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fault::Result;
use units::{Bytes, Ratio};

use super::parameters::Parameters;
use super::parse::{bytes, wrong};
use crate::data::{Data, Pattern};
use crate::runner::TestPlan;
use crate::workload::{
    EngineChoice, Existing, FileSet, Fsync, HoldMemory, Layout, Named, Order, Phase, RankShift, Stop,
    Striping, Transfer, TransferSize, VERSION, Workload,
};

/// Name of the phase that writes.
pub const WRITE: &str = "write";
/// Name of the phase that compares what was written (`-W`).
pub const CHECK: &str = "write check";
/// Name of the phase that reads.
pub const READ: &str = "read";

/// Who takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct World {
    /// Tasks in all.
    pub ranks: u32,
    /// Hosts.
    pub nodes: u32,
    /// Tasks on the first one.
    pub ranks_on_first_node: u32,
    /// Whether tasks 0 and 1 are on the same host.
    pub in_blocks: bool,
}

impl World {
    /// Tasks of one host.
    pub const fn local(ranks: u32) -> Self {
        Self { ranks, nodes: 1, ranks_on_first_node: ranks, in_blocks: true }
    }
}

/// One test, ready to run.
#[derive(Debug, Clone)]
pub struct Test {
    /// What was asked for, with tasks, seeds and signature settled.
    pub parameters: Parameters,
    /// Who takes part.
    pub world: World,
    /// What is run.
    pub plan: TestPlan,
    /// What should be said: what is done otherwise than IOR does it, and why.
    pub notes: Vec<String>,
    /// Whether IOR's mistakes are made, too.
    pub strict: bool,
}

impl Test {
    /// The test of `parameters`. `strict`: as IOR does it, its mistakes included.
    pub fn of(parameters: &Parameters, world: World, strict: bool) -> Result<Self> {
        parameters.check()?;
        let mut notes = Vec::new();
        let parameters = settled(parameters, world, &mut notes);
        let (target, more_targets, data) = places(&parameters.test_file)?;
        let mut compiler = Compiler { p: &parameters, world, strict, notes };
        let (files, iterations) = compiler.files(&target, data);
        let workload = Workload {
            version: VERSION,
            name: "ior".to_owned(),
            ranks: parameters.tasks as u32,
            seed: parameters.random_seed.cast_unsigned(),
            engine: compiler.engine(),
            pin: false,
            repetitions: bounded(parameters.repetitions),
            files,
            data: Data {
                pattern: pattern(&parameters.packet),
                signature: parameters.signature as u32,
                ..Data::default()
            },
            more_targets,
            hold_memory: compiler.memory()?,
            max_time: (parameters.maximum_time > 0)
                .then(|| Duration::from_secs(60 * parameters.maximum_time.cast_unsigned())),
            phases: compiler.phases(iterations),
        };
        if parameters.verbose > 3 {
            compiler.notes.push(
                "-vvvv: IOR prints every offset; `-O savePerOpDataCSV=FILE` writes a line for each transfer"
                    .to_owned(),
            );
        }
        let notes = compiler.notes;
        workload.check()?;
        let plan = TestPlan {
            name: "ior".to_owned(),
            test: "ior".to_owned(),
            target,
            workload,
            pcores: host::System::here().cpu().pcores.max(1),
            equivalence: None,
            expect_file_system: None,
        };
        Ok(Self { parameters, world, plan, notes, strict })
    }
}

impl Test {
    /// Files that results go to.
    pub fn files(&self) -> Vec<&Path> {
        let p = &self.parameters;
        let status = p.status_file.as_ref().filter(|_| p.write > 0);
        [p.summary_file.as_ref(), p.rank_details.as_ref(), status]
            .into_iter()
            .flatten()
            .map(Path::new)
            .collect()
    }

    /// Directories that files of single transfers go to.
    pub fn log_directory(&self) -> Option<&Path> {
        let parent = Path::new(self.parameters.operation_log.as_deref()?).parent()?;
        Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    }
}

/// Tasks, seeds and signature, where IOR takes them from elsewhere.
fn settled(parameters: &Parameters, world: World, notes: &mut Vec<String>) -> Parameters {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let ranks = i64::from(world.ranks);
    let tasks = if parameters.tasks == 0 { ranks } else { parameters.tasks.min(ranks) };
    if parameters.tasks > ranks {
        notes.push(format!("-N {} is more than there are: {ranks} tasks take part", parameters.tasks));
    }
    let or_now = |number: i64, none: i64| if number == none { now.cast_signed() } else { number };
    Parameters {
        tasks,
        signature: or_now(parameters.signature, 0),
        random_seed: or_now(parameters.random_seed, -1),
        ..parameters.clone()
    }
}

/// Directory and name of each file of `-o a@b`.
fn places(test_file: &str) -> Result<(PathBuf, Vec<PathBuf>, Vec<String>)> {
    let (mut directories, mut names) = (Vec::new(), Vec::new());
    for place in test_file.split('@') {
        let path = Path::new(place);
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(wrong(format!("`-o {test_file}` names no file"), "write `-o DIRECTORY/FILE`"));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        directories.push(parent.unwrap_or_else(|| Path::new(".")).to_owned());
        names.push(name.to_owned());
    }
    let first = directories.remove(0);
    Ok((first, directories, names))
}

struct Compiler<'a> {
    p: &'a Parameters,
    world: World,
    strict: bool,
    notes: Vec<String>,
}

impl Compiler<'_> {
    fn note(&mut self, text: &str) {
        let note = format!("{text} (--strict-ior does it as IOR)");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The files, and transfers of each task where that is not all of them.
    fn files(&mut self, target: &Path, data: Vec<String>) -> (FileSet, Option<u64>) {
        let p = self.p;
        let shared = p.file_per_process == 0;
        let existing = match (p.write > 0, p.use_existing > 0) {
            (true, false) => Existing::Replace,
            _ => Existing::Use,
        };
        let named = Named {
            data_per_repetition: p.multi_file > 0,
            existing,
            keep: p.keep_file > 0,
            keep_damaged: p.keep_file_with_error > 0,
            ..Named { data, ..Named::default() }
        };
        let mut files = FileSet {
            layout: if shared { Layout::Shared } else { Layout::PerRank },
            block_size: Bytes::new(p.block_size.cast_unsigned()),
            segments: p.segments.cast_unsigned(),
            directory_per_rank: p.unique_directory > 0 && !shared,
            striping: self.striping(),
            named: Some(named),
            ..FileSet::default()
        };
        if existing == Existing::Use && p.keep_file == 0 && p.write == 0 {
            self.notes.push(
                "IOR would remove the files at the end; this run did not make them, and they stay".to_owned(),
            );
        }
        let mut iterations = (p.wear_out_iterations > 0).then_some(p.wear_out_iterations.cast_unsigned());
        if p.random_offset > 1 && p.write == 0 {
            // Anywhere in what is there, as many transfers as the command line makes out.
            let all = files.block_size.get() / p.transfer_size.cast_unsigned() * files.segments;
            if let Some(size) = size_of(target, &files) {
                let ranks = if shared { p.tasks.cast_unsigned() } else { 1 };
                let unit = p.transfer_size.cast_unsigned();
                let own = Bytes::new((size / ranks / unit * unit).max(unit));
                (files.block_size, files.segments) = (own, 1);
                iterations = iterations.or(Some(all));
            }
        }
        (files, iterations)
    }

    /// How new files are striped. IOR has 0 and -1 for what the directory says.
    fn striping(&self) -> Option<Striping> {
        let p = self.p;
        let striping = Striping {
            stripe_count: i32::try_from(p.stripe_count).ok().filter(|count| *count != 0),
            stripe_size: (p.stripe_size > 0).then(|| Bytes::new(p.stripe_size.cast_unsigned())),
            first_ost: u32::try_from(p.first_ost).ok(),
            pool: p.ost_pool.clone(),
            extents: Vec::new(),
        };
        (striping != Striping::default() && p.write > 0).then_some(striping)
    }

    /// Files with a line per transfer. Reads have the names that IOR gives them.
    fn operation_log(&mut self, name: &str) -> Option<String> {
        let prefix = self.p.operation_log.as_ref()?;
        let both = self.p.write > 0 && (self.p.read > 0 || self.p.check_read > 0);
        let apart = both && name == WRITE && !self.strict;
        if apart {
            self.note(
                "-O savePerOpDataCSV: writes go to files of their own (-write-), IOR's reads replace them",
            );
        }
        Some(format!("{prefix}{}-{{repetition}}-{{rank}}.csv", if apart { "-write" } else { "" }))
    }

    fn engine(&self) -> EngineChoice {
        if self.p.api.eq_ignore_ascii_case("AIO") { EngineChoice::Uring } else { EngineChoice::Psync }
    }

    fn memory(&self) -> Result<Option<HoldMemory>> {
        let per_task = self.p.memory_per_task.as_deref();
        let (text, times, name) = match (self.p.memory_per_node.as_deref(), per_task) {
            (Some(text), _) => (text, 1, "-M"),
            (None, Some(text)) => (text, self.p.tasks.cast_unsigned(), "-O memoryPerTask"),
            (None, None) => return Ok(None),
        };
        if let Some(percent) = text.strip_suffix('%') {
            let share: f64 = percent.trim().parse().unwrap_or(-1.0);
            if !(share > 0.0 && share < 100.0) {
                return Err(wrong(format!("`{name} {text}` is no part of the memory"), "write 1% to 99%"));
            }
            return Ok(Some(HoldMemory::Share(Ratio::percent(share))));
        }
        let size = bytes(name, text)?.cast_unsigned();
        Ok((size > 0).then(|| HoldMemory::Size(Bytes::new(size * times))))
    }

    fn phases(&mut self, iterations: Option<u64>) -> Vec<Phase> {
        let p = self.p;
        let mut phases = Vec::new();
        let stop = self.stop(iterations);
        if p.write > 0 {
            let transfer = Transfer {
                read: Ratio::ZERO,
                fsync: self.fsync(),
                prefill: (p.prefill > 0).then(|| Bytes::new(p.prefill.cast_unsigned())),
                ..self.transfer()
            };
            phases.push(Phase { stop, ..self.timed(WRITE, transfer) });
        }
        if p.check_write > 0 {
            // One node further than the reads go.
            let rank_shift =
                if p.reorder_tasks > 0 { self.constant(p.task_offset + 1) } else { RankShift::None };
            let transfer = Transfer { verify: true, rank_shift, ..self.transfer() };
            let stop = Stop { operations: iterations, ..Stop::default() };
            phases.push(Phase { stop, ..Phase::transfer(CHECK, transfer) });
        }
        if p.read > 0 || p.check_read > 0 {
            let rank_shift = self.reordered();
            let transfer = Transfer { verify: p.check_read > 0, rank_shift, ..self.transfer() };
            let written = self.written();
            let stop = Stop { operations: written.or(stop.operations), ..stop };
            phases.push(Phase { stop, ..self.timed(READ, transfer) });
        }
        phases
    }

    fn timed(&mut self, name: &str, transfer: Transfer) -> Phase {
        let delay = Duration::from_secs(self.p.inter_test_delay.cast_unsigned());
        let operation_log = self.operation_log(name);
        let barriers = self.p.barriers > 0;
        Phase { pause_before: delay, barriers, operation_log, ..Phase::transfer(name, transfer) }
    }

    fn stop(&self, iterations: Option<u64>) -> Stop {
        let p = self.p;
        let seconds = |number: i64| (number > 0).then(|| Duration::from_secs(number.cast_unsigned()));
        Stop {
            time: seconds(p.deadline),
            wear_out: p.wear_out > 0,
            at_least: seconds(p.minimum_time),
            operations: iterations,
            // What is there may be less than what is to be read.
            repeat: p.random_offset > 1 && p.write == 0 && iterations.is_some(),
            ..Stop::default()
        }
    }

    /// How many transfers of each task an earlier run left.
    fn written(&mut self) -> Option<u64> {
        let file = self.p.status_file.as_deref().filter(|_| self.p.write == 0)?;
        let pairs = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        if pairs.is_none() {
            self.notes.push(format!("`{file}` does not say how much was written: all of it is read"));
        }
        pairs.filter(|pairs| *pairs > 0)
    }

    fn transfer(&mut self) -> Transfer {
        let p = self.p;
        let shared = p.file_per_process == 0;
        let run = (p.block_size / p.transfer_size).cast_unsigned();
        let order = match p.random_offset {
            0 => Order::Sequential,
            1 if shared && self.strict => Order::RandomDrawn,
            1 if p.segments > 1 => Order::RandomInBlocks,
            1 => Order::RandomOnce,
            _ if run > 1 => Order::RandomRuns(run),
            _ => Order::Random,
        };
        if p.random_offset == 1 && shared && !self.strict && p.tasks > 1 {
            self.note("-z: a shared file is dealt out in equal parts; IOR's tasks draw unequal ones");
        }
        Transfer {
            transfer_size: TransferSize::Fixed(Bytes::new(p.transfer_size.cast_unsigned())),
            order,
            queue_depth: if self.engine() == EngineChoice::Uring { bounded(p.pending) } else { 1 },
            direct: p.direct > 0,
            fsync: Fsync::Never,
            single_attempt: p.single_attempt > 0,
            think_time: Duration::from_micros(p.inter_io_delay.cast_unsigned()),
            ..Transfer::default()
        }
    }

    fn fsync(&mut self) -> Fsync {
        match (self.p.fsync_per_write > 0, self.p.fsync > 0) {
            (true, _) if self.strict => Fsync::EachTwice,
            (true, _) => {
                self.note("-Y: one fsync after each write; IOR makes two");
                Fsync::Every(1)
            }
            (false, true) => Fsync::AtEnd,
            (false, false) => Fsync::Never,
        }
    }

    fn reordered(&mut self) -> RankShift {
        let p = self.p;
        if p.reorder_tasks > 0 {
            return self.constant(p.task_offset);
        }
        let (seed, again) = (p.reorder_seed.unsigned_abs(), p.reorder_seed < 0);
        let shuffled = if again { RankShift::Reshuffled(seed) } else { RankShift::Shuffled(seed) };
        match p.reorder_random {
            0 => RankShift::None,
            1 if self.strict => {
                let nodes = i64::from(self.world.nodes);
                let away = if p.task_offset < nodes { p.task_offset } else { nodes - 1 };
                let at_least = bounded(away) * self.world.ranks_on_first_node;
                RankShift::Drawn { seed, at_least, again }
            }
            1 => {
                self.note(
                    "-Z: a permutation of the tasks; IOR's draws read some files twice and others never",
                );
                shuffled
            }
            _ => shuffled,
        }
    }

    /// So many nodes further.
    fn constant(&mut self, nodes: i64) -> RankShift {
        let ranks = self.p.tasks;
        let step = if self.world.in_blocks { i64::from(self.world.ranks_on_first_node) } else { 1 };
        let mut shift = nodes * step % ranks;
        if shift == 0 && ranks > 1 && !self.strict {
            self.note("-C on one host goes on by tasks; IOR's would each read what they wrote themselves");
            shift = nodes % ranks;
        }
        if shift == 0 { RankShift::None } else { RankShift::By(bounded(shift)) }
    }
}

/// Bytes of the first data file of the first repetition, if it is there.
fn size_of(target: &Path, files: &FileSet) -> Option<u64> {
    let named = files.named.as_ref()?;
    let name = crate::ground::Names::named(files, named, 0).data(files, 0);
    std::fs::symlink_metadata(target.join(name)).ok().map(|there| there.len())
}

fn pattern(packet: &str) -> Pattern {
    match packet.chars().next().map(|letter| letter.to_ascii_lowercase()) {
        Some('o') => Pattern::IorOffset,
        Some('i') => Pattern::IorIncompressible,
        Some('r') => Pattern::IorRandom,
        _ => Pattern::IorTimestamp,
    }
}

fn bounded(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
