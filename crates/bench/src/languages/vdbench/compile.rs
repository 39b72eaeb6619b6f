//! From definitions to tests: consecutive points on the same files are phases of one workload, so that files are made once.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use units::Bytes;

use super::Script;
use super::definitions::{self, Anchor, FileLoad, Load, Storage};
use super::expansion::{self, Pace, Point};
use super::hosts::Hosts;
use super::keys::Kind;
use super::lexer::Variables;
use super::run::{self, Rates, Run};
use super::statements::Definitions;
use super::trouble::Troubles;
use super::values::{Rate, Reader};
use super::{files, trees};
use crate::data::{BLOCK, Data};
use crate::workload::{Phase, PhaseRate, SkipAbove, Tree, VERSION, Workload};

/// How a phase is shown in reports: one line of the expansion.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Name of its phase in the workload.
    pub phase: String,
    /// Name of the rd.
    pub run: String,
    /// `Uncontrolled MAX`, `1000`.
    pub rate: String,
    /// Length without warm-up; none for what is done once.
    pub elapsed: Option<Duration>,
    /// What totals leave out, when the file says so.
    pub warm_up: Option<Duration>,
    /// Length of a line.
    pub interval: Duration,
    /// `xfersize=4k rdpct=70`, or `None`.
    pub loops: String,
}

impl Shown {
    /// The line that announces it: `Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=60; For loops: None`.
    pub fn header(&self) -> String {
        let elapsed =
            self.elapsed.map_or_else(|| "(none)".to_owned(), |time| format!("{}", time.as_secs_f64()));
        let warm_up = self.warm_up.map_or_else(String::new, |time| format!(" warmup={}", time.as_secs_f64()));
        format!(
            "Starting RD={}; I/O rate: {}; elapsed={elapsed}{warm_up}; For loops: {}",
            self.run, self.rate, self.loops
        )
    }

    /// What totals leave out: the first interval unless the file says otherwise.
    pub fn left_out(&self) -> Duration {
        self.warm_up.unwrap_or(self.interval)
    }
}

/// What points of one test have in common.
#[derive(Debug, Clone, PartialEq)]
pub enum World {
    /// Files.
    Files {
        /// Their names.
        luns: Vec<PathBuf>,
        /// Their sizes.
        sizes: Vec<Bytes>,
        /// What is in them.
        data: Data,
    },
    /// Trees of one shape.
    Tree {
        /// Their directories.
        anchors: Vec<PathBuf>,
        /// Their shape.
        tree: Tree,
        /// Files of each.
        files: u64,
        /// Bytes of them that are used, of each.
        working: Option<Bytes>,
        /// What is in them.
        data: Data,
    },
}

/// One test: a workload and how its phases are shown.
#[derive(Debug, Clone)]
pub struct Test {
    /// What it works on.
    pub world: World,
    /// What to do.
    pub workload: Workload,
    /// Its points in order.
    pub shown: Vec<Shown>,
    /// What all transfer sizes divide.
    pub(super) unit: u64,
    /// Whether files are made first.
    pub(super) formats: bool,
    /// Groups of ranks: one for each host that takes part.
    pub(super) groups: u32,
}

/// What the command line says besides the file.
#[derive(Debug, Clone, Default)]
pub struct Overrides<'a> {
    /// `-e`: length of each run.
    pub elapsed: Option<Duration>,
    /// `-i`: length of an interval.
    pub interval: Option<Duration>,
    /// `-w`: warm-up.
    pub warm_up: Option<Duration>,
    /// `-v`: compare what is read.
    pub verify: bool,
    /// Hosts that take part; as many as the file names when absent.
    pub groups: Option<u32>,
    /// `name=value`.
    pub variables: &'a Variables,
}

/// Makes tests of definitions.
pub struct Compiler<'a> {
    pub(super) troubles: &'a mut Troubles,
    pub(super) storages: Vec<Storage>,
    pub(super) loads: Vec<Load>,
    pub(super) anchors: Vec<Anchor>,
    pub(super) file_loads: Vec<FileLoad>,
    pub(super) data: Data,
    pub(super) verify: bool,
    pub(super) hosts: Hosts,
    /// Hosts that take part.
    pub(super) groups: u32,
    tests: Vec<Test>,
    notes: Vec<String>,
    names: HashSet<String>,
    repetitions: u32,
}

/// The tests that `definitions` make, and what should be said about them.
pub fn compile(definitions: &Definitions, overrides: &Overrides<'_>, troubles: &mut Troubles) -> Script {
    let mut compiler = Compiler {
        troubles,
        storages: Vec::new(),
        loads: Vec::new(),
        anchors: Vec::new(),
        file_loads: Vec::new(),
        data: Data::default(),
        verify: overrides.verify,
        hosts: Hosts::default(),
        groups: 1,
        tests: Vec::new(),
        notes: definitions.notes.clone(),
        names: HashSet::new(),
        repetitions: 1,
    };
    let runs = compiler.read(definitions, overrides);
    if compiler.troubles.is_empty() {
        runs.iter().for_each(|run| compiler.run(run));
    }
    compiler.finish();
    Script { tests: compiler.tests, notes: compiler.notes, hosts: compiler.hosts }
}

impl Compiler<'_> {
    fn read(&mut self, definitions: &Definitions, overrides: &Overrides<'_>) -> Vec<Run> {
        self.general(definitions);
        self.hosts = Hosts::read(definitions, &mut Reader { troubles: &mut *self.troubles });
        self.groups = overrides.groups.unwrap_or_else(|| self.hosts.groups());
        self.check_hosts();
        let mut reader = Reader { troubles: &mut *self.troubles };
        for definition in definitions.of(Kind::Storage) {
            self.storages.extend(definitions::storages(definition, &mut reader).into_iter().flatten());
            if ["compratio", "dedupratio", "dedupunit"].iter().any(|name| definition.get(name).is_some()) {
                reader
                    .troubles
                    .at(&definition.name.place, format!("sd `{}` has data of its own", definition.name.text), "here")
                    .hint("all files hold the same kind of data: set it at the beginning of the file, without `sd=`");
            }
        }
        self.loads
            .extend(definitions.of(Kind::Workload).filter_map(|own| definitions::load(own, &mut reader)));
        self.anchors
            .extend(definitions.of(Kind::FileSystem).filter_map(|own| definitions::anchor(own, &mut reader)));
        self.file_loads.extend(
            definitions.of(Kind::FileWorkload).filter_map(|own| definitions::file_load(own, &mut reader)),
        );
        let mut runs: Vec<Run> =
            definitions.of(Kind::Run).filter_map(|own| run::run(own, &mut reader)).collect();
        if definitions.of(Kind::Run).next().is_none() && self.troubles.is_empty() {
            self.troubles
                .whole("the file has no rd: nothing is run", "write rd=rd1,wd=wd1,iorate=max,elapsed=60");
        }
        for run in &mut runs {
            run.elapsed = overrides.elapsed.unwrap_or(run.elapsed);
            run.interval = overrides.interval.unwrap_or(run.interval);
            run.warm_up = overrides.warm_up.or(run.warm_up);
        }
        runs
    }

    fn general(&mut self, definitions: &Definitions) {
        let mut reader = Reader { troubles: &mut *self.troubles };
        let ratio = |name: &str, reader: &mut Reader<'_>| {
            definitions
                .general(name)
                .and_then(|parameter| reader.reduction(&parameter.values[0]))
                .unwrap_or_default()
        };
        self.data.compressible = ratio("compratio", &mut reader);
        self.data.duplicate = ratio("dedupratio", &mut reader);
        if let Some(parameter) = definitions.general("dedupunit")
            && let Some(unit) = reader.bytes(&parameter.values[0])
            && unit.get() != BLOCK as u64
        {
            self.notes.push(format!(
                "dedupunit={}: blocks of 4 KiB are unique or duplicates as a whole",
                parameter.text()
            ));
        }
        if let Some(parameter) = definitions.general("loop")
            && let Some(count) = reader.count(&parameter.values[0])
        {
            self.repetitions = count;
        }
        if let Some(parameter) = definitions.general("validate") {
            self.verify |= parameter.values[0].text.to_ascii_lowercase().starts_with('y');
        }
    }

    fn run(&mut self, run: &Run) {
        let Some(points) = expansion::points(run) else {
            let message = format!("the loops of rd `{}` make more than 100000 points", run.name.text);
            self.troubles.at(&run.name.place, message, "too many").hint("use fewer values");
            return;
        };
        // What is wrong has been told.
        let _ = if run.file_loads.is_empty() {
            self.run_on_files(run, &points)
        } else {
            self.run_on_tree(run, &points)
        };
        self.pace(run, &points);
    }

    /// Whether the last test works on the same files.
    pub(super) fn continues(&self, world: &World) -> bool {
        self.tests.last().is_some_and(|test| test.world == *world)
    }

    /// Begins a test.
    pub(super) fn begin(&mut self, world: World) {
        let data = match &world {
            World::Files { data, .. } | World::Tree { data, .. } => *data,
        };
        let workload = Workload {
            version: VERSION,
            name: "vdbench".to_owned(),
            data,
            repetitions: self.repetitions,
            ..Workload::empty()
        };
        self.tests.push(Test {
            world,
            workload,
            shown: Vec::new(),
            unit: 1,
            formats: false,
            groups: self.groups,
        });
    }

    /// Adds a point to the test on the same files, or begins one.
    pub(super) fn add(&mut self, world: World, mut phase: Phase, mut shown: Shown, unit: u64) {
        if !self.continues(&world) {
            self.begin(world);
        }
        phase.name = self.unique(&shown);
        phase.warm_up = shown.left_out().min(phase.stop.time.unwrap_or_default() / 2);
        shown.phase.clone_from(&phase.name);
        if let Some(test) = self.tests.last_mut() {
            test.unit = lcm(test.unit, unit);
            test.workload.phases.push(phase);
            test.shown.push(shown);
        }
    }

    /// Adds a phase that is no point.
    pub(super) fn add_first(&mut self, phase: Phase, formats: bool) {
        if let Some(test) = self.tests.last_mut() {
            test.formats |= formats;
            test.workload.phases.push(phase);
        }
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn unique(&mut self, shown: &Shown) -> String {
        let name =
            if shown.loops == "None" { shown.run.clone() } else { format!("{} {}", shown.run, shown.loops) };
        let mut own = name.clone();
        let mut number = 2;
        while !self.names.insert(own.clone()) {
            own = format!("{name} ({number})");
            number += 1;
        }
        own
    }

    /// The rates of a run's phases, which are the last ones.
    fn pace(&mut self, run: &Run, points: &[Point]) {
        let mut phases: Vec<&mut Phase> = self
            .tests
            .iter_mut()
            .flat_map(|test| {
                let names: HashSet<String> = test
                    .shown
                    .iter()
                    .filter(|own| own.run == run.name.text)
                    .map(|own| own.phase.clone())
                    .collect();
                test.workload.phases.iter_mut().filter(move |phase| names.contains(&phase.name))
            })
            .collect();
        let (mut max, mut before) = (String::new(), String::new());
        for (phase, point) in phases.iter_mut().zip(points) {
            match point.pace {
                Pace::At(Rate::Max) => max.clone_from(&phase.name),
                Pace::At(Rate::Fixed(operations_per_second)) => {
                    phase.rate = Some(PhaseRate::Fixed { operations_per_second, arrival: run.arrival });
                }
                Pace::Share(percent) => {
                    let share = units::Ratio::percent(percent);
                    phase.rate = Some(PhaseRate::Of { phase: max.clone(), share, arrival: run.arrival });
                    phase.skip_above = run
                        .stop_curve
                        .filter(|_| before != max)
                        .map(|mean| SkipAbove { phase: before.clone(), mean });
                }
                Pace::Series => {
                    if let Rates::Series(steps) = &run.rates {
                        phase.rate = Some(PhaseRate::Series { steps: steps.clone(), arrival: run.arrival });
                    }
                }
            }
            before.clone_from(&phase.name);
        }
    }

    fn finish(&mut self) {
        for test in &mut self.tests {
            match test.world.clone() {
                World::Files { luns, sizes, .. } => files::prepare(test, luns.len(), &sizes),
                World::Tree { anchors, tree, files, working, .. } => {
                    trees::prepare(test, (anchors.len(), &tree), files, working);
                }
            }
        }
    }
}

/// The least common multiple; saturates.
pub(super) fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// The greatest common divisor; that of 0 and another number is the other one.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
