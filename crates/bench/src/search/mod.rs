//! Searches on top of runs: where throughput stops growing, the highest load that keeps a latency, and when repetitions no
//! longer differ. Each is a series of runs in one record.
//!
//! Deciding what to measure next is pure ([`saturation`], [`edge`], [`steady`]): it sees what was measured so far. Running is
//! left to whoever calls [`search`], so that it does not matter how many hosts take part.

mod edge;
mod load;
mod saturation;
mod steady;

use std::time::Duration;

use fault::{Fault, Kind, Result};
use record::{Load, PhaseResult, RunRecord, Search, SearchKind, SearchPoint};

pub use edge::{Edge, Trial, edge};
pub use load::with_load;
pub use saturation::{GROWTH, Saturation, saturation};
pub use steady::{Steady, steady};

use crate::runner::TestPlan;

/// Runs that prove an edge: so many must keep it.
const PROOFS: usize = 3;
/// The last rate that keeps and the first that does not may differ by this part.
const RESOLUTION: f64 = 0.05;
/// An open loop that reaches less than this of its rate does not keep it.
const REACHED: f64 = 0.95;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The load from which throughput no longer grows, up to a most.
    Saturation {
        /// Ranks or queue depth.
        load: Load,
        /// The most that is tried.
        most: u32,
    },
    /// The highest load whose latency stays within a target.
    LatencyTarget {
        /// Rate or queue depth.
        load: Load,
        /// The percentile that counts, in percent; 0 is the mean.
        percentile: f64,
        /// What it must not exceed.
        target: Duration,
        /// The most depth that is tried.
        most: u32,
    },
    /// Repetitions until the last ones are alike.
    SteadyState {
        /// How many must be alike.
        windows: usize,
        /// By how much they may differ: a share of their mean.
        within: f64,
        /// The most repetitions.
        most: usize,
    },
}

/// Runs one more test of a record, which is empty at first, and says how that went.
pub type RunOne<'a> = dyn FnMut(Option<RunRecord>, &TestPlan) -> (RunRecord, Result<()>) + 'a;

/// Runs `plan` at one load after the other until the goal is reached. The measured phase is `phase`, or the last one.
pub fn search(
    plan: &TestPlan,
    goal: &Goal,
    phase: Option<&str>,
    run: &mut RunOne<'_>,
) -> Result<(RunRecord, Result<()>)> {
    let phase = measured_phase(plan, phase)?;
    let mut seeking = Seeking { plan, goal, phase, record: None, points: Vec::new() };
    while let Some(next) = seeking.next() {
        match seeking.measure(next, run) {
            Ok(()) => {}
            // Without a first record there is nothing to keep.
            Err(fault) => return seeking.record.map(|record| (record, Err(fault))).ok_or_else(nothing),
        }
    }
    let found = seeking.found();
    seeking
        .record
        .map(|mut record| {
            record.search = Some(found);
            (record, Ok(()))
        })
        .ok_or_else(nothing)
}

fn nothing() -> Fault {
    Fault::new(Kind::Bug, "a search ended before its first run").hint("say which search this was")
}

/// The phase that a search looks at.
fn measured_phase(plan: &TestPlan, phase: Option<&str>) -> Result<String> {
    let names: Vec<&str> = plan.workload.phases.iter().map(|phase| phase.name.as_str()).collect();
    let found = match phase {
        None => names.last().copied(),
        Some(wanted) => names.iter().copied().find(|name| *name == wanted),
    };
    found.map(str::to_owned).ok_or_else(|| {
        Fault::new(Kind::Usage, format!("there is no phase `{}` to search with", phase.unwrap_or_default()))
            .hint(format!("phases are: {}", spec::quoted(names)))
    })
}

/// The next run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    /// At a load.
    At(f64),
    /// As the workload says.
    AsItIs,
}

struct Seeking<'a> {
    plan: &'a TestPlan,
    goal: &'a Goal,
    phase: String,
    record: Option<RunRecord>,
    points: Vec<SearchPoint>,
}

impl Seeking<'_> {
    fn load(&self) -> Load {
        match self.goal {
            Goal::Saturation { load, .. } | Goal::LatencyTarget { load, .. } => *load,
            Goal::SteadyState { .. } => Load::Repetition,
        }
    }

    fn rates(&self) -> Vec<(u32, f64)> {
        self.points
            .iter()
            .map(|point| (point.load.unwrap_or(0.0) as u32, point.operations_per_second.get()))
            .collect()
    }

    fn trials(&self) -> Vec<Trial> {
        let trial = |point: &SearchPoint| Trial {
            load: point.load.unwrap_or_else(|| point.operations_per_second.get()),
            kept: point.kept.unwrap_or(false),
        };
        self.points.iter().map(trial).collect()
    }

    fn next(&self) -> Option<Next> {
        match self.goal {
            Goal::Saturation { most, .. } => match saturation(&self.rates(), *most) {
                Saturation::Measure(load) => Some(Next::At(f64::from(load))),
                Saturation::Found { .. } => None,
            },
            Goal::LatencyTarget { load: Load::OperationsPerSecond, .. } if self.points.is_empty() => {
                Some(Next::AsItIs)
            }
            Goal::LatencyTarget { .. } => match self.edge() {
                Edge::Measure(load) => Some(Next::At(load)),
                Edge::Found(_) | Edge::Nothing => None,
            },
            Goal::SteadyState { windows, within, most } => {
                let rates: Vec<f64> = self.rates().into_iter().map(|(_, rate)| rate).collect();
                match steady(&rates, *windows, *within) {
                    Steady::NotYet if rates.len() < *most => Some(Next::At(rates.len() as f64 + 1.0)),
                    _ => None,
                }
            }
        }
    }

    fn edge(&self) -> Edge {
        let trials = self.trials();
        match self.goal {
            Goal::LatencyTarget { load: Load::OperationsPerSecond, .. } => {
                let most = self.points.first().map_or(0.0, |point| point.operations_per_second.get());
                // The first run is the closed loop: if it keeps the target, nothing is faster.
                if trials.first().is_some_and(|first| first.kept) {
                    return Edge::Found(most);
                }
                edge(
                    &trials,
                    most / 2.0,
                    most,
                    |low, high| high - low <= RESOLUTION * high || high < most / 100.0,
                    PROOFS,
                )
            }
            Goal::LatencyTarget { most, .. } => {
                edge(&trials, 1.0, f64::from(*most), |low, high| high - low <= 1.0, PROOFS)
            }
            _ => Edge::Nothing,
        }
    }

    fn measure(&mut self, next: Next, run: &mut RunOne<'_>) -> Result<()> {
        let load = match next {
            Next::At(load) => Some(load),
            Next::AsItIs => None,
        };
        let shown = self.load().words(load.unwrap_or(f64::INFINITY));
        let again = self.points.iter().filter(|point| point.load == load).count();
        let mut plan = self.plan.clone();
        plan.name = if again > 0 && self.load() != Load::Repetition {
            format!("{}: {shown} (again {again})", self.plan.name)
        } else {
            format!("{}: {shown}", self.plan.name)
        };
        if let Some(load) = load {
            with_load(&mut plan.workload, &self.phase, self.load(), load)?;
        }
        plan.workload.repetitions = 1;
        let before = self.record.take();
        let (record, outcome) = run(before, &plan);
        let result = record.tests.last().and_then(|test| test.phases(&self.phase).next());
        let point = result.map(|result| self.point(&plan.name, load, result));
        self.record = Some(record);
        outcome?;
        self.points.push(point.ok_or_else(|| {
            Fault::new(Kind::Refused, format!("phase `{}` did not run", self.phase))
                .hint("search with another phase")
        })?);
        Ok(())
    }

    fn point(&self, test: &str, load: Option<f64>, result: &PhaseResult) -> SearchPoint {
        let mut latency = record::Latency::new();
        result.main_results().for_each(|own| latency.merge(&own.latency));
        let rate = result.last_done.iops();
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let kept = match self.goal {
            Goal::LatencyTarget { percentile, target, load: kind, .. } => {
                let found = if *percentile > 0.0 { latency.percentile(*percentile) } else { latency.mean() };
                let reached = match (kind, load) {
                    (Load::OperationsPerSecond, Some(asked)) => rate.get() >= REACHED * asked,
                    _ => true,
                };
                Some(found <= *target && reached)
            }
            _ => None,
        };
        SearchPoint {
            test: test.to_owned(),
            load,
            operations_per_second: rate,
            bandwidth_bytes_per_second: result.last_done.bandwidth(),
            latency_mean_ns: nanoseconds(latency.mean()),
            latency_p50_ns: nanoseconds(latency.percentile(50.0)),
            latency_p99_ns: nanoseconds(latency.percentile(99.0)),
            kept,
        }
    }

    fn found(&self) -> Search {
        let (kind, found, proven, target) = match self.goal {
            Goal::Saturation { most, .. } => match saturation(&self.rates(), *most) {
                Saturation::Found { knee, proven } => {
                    (SearchKind::Saturation, Some(f64::from(knee)), proven, None)
                }
                Saturation::Measure(_) => (SearchKind::Saturation, None, false, None),
            },
            Goal::LatencyTarget { target, .. } => {
                let target = Some(target.as_nanos() as u64);
                match self.edge() {
                    Edge::Found(load) => (SearchKind::LatencyTarget, Some(load), true, target),
                    _ => (SearchKind::LatencyTarget, None, false, target),
                }
            }
            Goal::SteadyState { windows, within, .. } => {
                let rates: Vec<f64> = self.rates().into_iter().map(|(_, rate)| rate).collect();
                let from = match steady(&rates, *windows, *within) {
                    Steady::From(first) => Some(first as f64),
                    Steady::NotYet => None,
                };
                (SearchKind::SteadyState, from, from.is_some(), None)
            }
        };
        let sentence = self.sentence(found, proven);
        Search {
            kind,
            load: self.load(),
            phase: self.phase.clone(),
            points: self.points.clone(),
            found,
            proven,
            target_ns: target,
            sentence,
        }
    }

    /// All of it in one sentence.
    fn sentence(&self, found: Option<f64>, proven: bool) -> String {
        let load = self.load();
        let at = |wanted: f64| self.points.iter().find(|point| point.load == Some(wanted));
        match (self.goal, found) {
            (Goal::Saturation { .. }, Some(knee)) => {
                let rate = at(knee).map_or(0.0, |point| point.operations_per_second.get());
                let further: Vec<String> = self
                    .points
                    .iter()
                    .filter(|point| point.load.is_some_and(|own| own > knee))
                    .map(|point| {
                        let share = 100.0 * point.operations_per_second.get() / rate.max(1e-9);
                        format!("{} reach {share:.0} %", load.words(point.load.unwrap_or(0.0)))
                    })
                    .collect();
                let reached = units_of(at(knee));
                if proven {
                    format!(
                        "throughput stops growing at {}: {reached}; {} of it",
                        load.words(knee),
                        further.join(", ")
                    )
                } else if !further.is_empty() {
                    format!(
                        "throughput seems to stop growing at {}: {reached}; {} of it, and a second point would prove it: raise `--at-most`",
                        load.words(knee),
                        further.join(", ")
                    )
                } else {
                    format!(
                        "throughput still grew at {}, the most that was tried: {reached}; where it stops is not known",
                        load.words(knee)
                    )
                }
            }
            (Goal::Saturation { .. }, None) => "nothing was measured".to_owned(),
            (Goal::LatencyTarget { percentile, target, most, .. }, found) => {
                let name =
                    if *percentile > 0.0 { format!("p{percentile}") } else { "mean latency".to_owned() };
                let target = units::format_duration(*target);
                let closed =
                    self.points.first().filter(|point| point.load.is_none() && point.kept == Some(true));
                match found {
                    _ if closed.is_some() => {
                        format!("{name} stays within {target} as fast as it goes: {}", units_of(closed))
                    }
                    Some(edge) if load == Load::QueueDepth && edge >= f64::from(*most) => format!(
                        "{name} stays within {target} up to {}, the most that was tried: {}",
                        load.words(edge),
                        units_of(at(edge))
                    ),
                    Some(edge) => {
                        let above = self.points.iter().filter(|point| point.kept == Some(false));
                        let above =
                            above.map(|point| point.load.unwrap_or(point.operations_per_second.get()));
                        let above = above.fold(f64::INFINITY, f64::min);
                        format!(
                            "the highest load that keeps {name} within {target} is {} ({}; kept {PROOFS} times); {} does not",
                            load.words(edge),
                            units_of(at(edge)),
                            load.words(above)
                        )
                    }
                    None => format!("no load keeps {name} within {target}"),
                }
            }
            (Goal::SteadyState { windows, within, .. }, Some(first)) => format!(
                "steady from repetition {first:.0} on: {windows} in a row lie within {:.1} % of each other",
                100.0 * within
            ),
            (Goal::SteadyState { windows, within, .. }, None) => format!(
                "never became steady: after {} repetitions no {windows} in a row lie within {:.1} %",
                self.points.len(),
                100.0 * within
            ),
        }
    }
}

fn units_of(point: Option<&SearchPoint>) -> String {
    let Some(point) = point else { return "not measured".to_owned() };
    if point.bandwidth_bytes_per_second.get() > 0.0 {
        format!("{}, {}", point.operations_per_second, point.bandwidth_bytes_per_second)
    } else {
        point.operations_per_second.to_string()
    }
}
