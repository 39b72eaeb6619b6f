//! What a phase scores, why it may be invalid, and the score of the whole.

use record::{PhaseResult, statistics::Io500Score};

use super::{Config, MORE_PHASES, PhaseName};

const GIB: f64 = 1_073_741_824.0;
const KILO: f64 = 1000.0;

/// A phase with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its name.
    pub name: PhaseName,
    /// GiB/s for transfers, thousand operations per second for the rest.
    pub score: f64,
    /// The same until the stonewall, for phases that write.
    pub until_stonewall: Option<f64>,
    /// How long it took.
    pub seconds: f64,
    /// Why it does not count, in IO500's words.
    pub invalid: Vec<String>,
    /// Files that a find has found, and has looked at.
    pub found: Option<(u64, u64)>,
}

impl Judged {
    /// Whether its unit is GiB/s.
    pub fn is_bandwidth(&self) -> bool {
        self.name.starts_with("ior")
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        if self.name.starts_with('i') { "GiB/s" } else { "kIOPS" }
    }

    /// Whether it counts for the score; the extended one has more phases.
    pub fn is_scored(&self, extended: bool) -> bool {
        let more = MORE_PHASES.iter().any(|(phase, _)| *phase == self.name);
        !matches!(self.name, "timestamp" | "ior-rnd4K-easy-read") && (extended || !more)
    }

    /// The timestamp, which took so long and has no score.
    pub fn timestamp(seconds: f64) -> Self {
        Self {
            name: "timestamp",
            score: 0.0,
            until_stonewall: None,
            seconds,
            invalid: Vec::new(),
            found: None,
        }
    }
}

/// Judges what came of a phase by IO500's rules.
pub fn judge(name: PhaseName, phase: &PhaseResult, config: &Config) -> Judged {
    let seconds = phase.last_done.elapsed_ns as f64 / 1e9;
    let per_second = |mark: &record::Mark| {
        let time = mark.elapsed_ns as f64 / 1e9;
        let amount = if name.starts_with("ior") {
            mark.bytes.get() as f64 / GIB
        } else {
            mark.operations as f64 / KILO
        };
        if time > 0.0 { amount / time } else { 0.0 }
    };
    let score = per_second(&phase.last_done);
    let writes = name.ends_with("-write");
    let mut judged = Judged {
        name,
        score,
        until_stonewall: writes.then(|| per_second(&phase.first_done)),
        seconds,
        invalid: Vec::new(),
        found: phase.matched.map(|matched| (matched, phase.last_done.operations)),
    };
    let stonewall = config.stonewall().as_secs_f64();
    let asked = config.asked_stonewall().as_secs_f64();
    let mut say = |text: String| judged.invalid.push(text);
    if writes && seconds < stonewall {
        say(format!("Runtime of phase ({seconds:.6}) is below stonewall time. This shouldn't happen!"));
    }
    if writes && seconds < asked {
        say("Runtime is smaller than expected minimum runtime".to_owned());
    }
    if phase.wear_out_capped {
        say("The wear-out was cut short by its cap".to_owned());
    }
    if phase.verify_failures > 0 || phase.error_count > 0 {
        let errors = phase.verify_failures + phase.error_count;
        say(format!("Errors ({errors}) occured during phase. This invalidates your run."));
    }
    if judged.found.is_some_and(|(found, _)| found == 0) {
        judged.invalid.push("Find phase didn't find any files".to_owned());
    }
    if judged.is_scored(true) && judged.score <= 0.0 {
        judged.invalid.push("Score is zero".to_owned());
    }
    judged
}

/// The score of the whole, and whether it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// GiB/s.
    pub bandwidth: f64,
    /// kIOPS.
    pub metadata: f64,
    /// The square root of their product.
    pub total: f64,
    /// Why it does not count.
    pub invalid: Vec<String>,
    /// Whether it is that of the extended mode.
    pub extended: bool,
}

impl Scores {
    /// Of all phases. Phases without a score leave the mean, as in IO500, and make it invalid.
    pub fn of(phases: &[Judged], config: &Config, extended: bool) -> Self {
        let scores = |bandwidth: bool| -> Vec<f64> {
            let counts =
                |one: &&Judged| one.is_scored(extended) && one.is_bandwidth() == bandwidth && one.score > 0.0;
            phases.iter().filter(counts).map(|one| one.score).collect()
        };
        let (bandwidths, rates) = (scores(true), scores(false));
        let whole = Io500Score::of(&bandwidths, &rates);
        let mut invalid = Vec::new();
        if config.stonewall() != config.asked_stonewall() {
            invalid.push(format!("stonewall-time != {}", config.asked_stonewall().as_secs()));
        }
        let more = if extended { MORE_PHASES.len() } else { 0 };
        if bandwidths.len() < 4 || rates.len() < 8 + more {
            invalid.push("Not all phases have a score".to_owned());
        }
        if config.files_per_directory().is_ok_and(|each| each.is_some()) {
            invalid.push("files-per-dir is set".to_owned());
        }
        if phases.iter().any(|phase| !phase.invalid.is_empty()) {
            invalid.push("A phase is invalid".to_owned());
        }
        Self {
            bandwidth: whole.map_or(0.0, |score| score.bandwidth),
            metadata: whole.map_or(0.0, |score| score.metadata),
            total: whole.map_or(0.0, |score| score.total),
            invalid,
            extended,
        }
    }
}
