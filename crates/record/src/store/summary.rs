use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{Check, Validity};
use crate::process::Origin;
use crate::run::{RequirementVerdict, RunState};

/// One line of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Name of the run.
    pub id: String,
    /// Why the file can't be read, if it can't; the fields below are then empty.
    pub damaged: Option<String>,
    /// The user's own name for it.
    pub label: Option<String>,
    /// Wall clock at the start, RFC 3339.
    pub started_at: Option<String>,
    /// Wall clock when another tool's result was read, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<String>,
    /// Monotonic length of the run.
    pub elapsed_ns: u64,
    /// How far it came.
    pub state: Option<RunState>,
    /// Says `running`, but its process is gone.
    pub killed: bool,
    /// Name of the host it ran on.
    pub hostname: String,
    /// Name of the grid in its spec, if there was one.
    pub grid: Option<String>,
    /// Names of its tests.
    pub tests: Vec<String>,
    /// What its checks say.
    pub validity: Option<Validity>,
    /// Whether every requirement is met; `None` without requirements.
    pub met: Option<bool>,
}

impl Summary {
    pub(super) fn damaged(id: String, why: &str) -> Self {
        Self {
            id,
            damaged: Some(why.to_owned()),
            label: None,
            started_at: None,
            imported_at: None,
            elapsed_ns: 0,
            state: None,
            killed: false,
            hostname: String::new(),
            grid: None,
            tests: Vec::new(),
            validity: None,
            met: None,
        }
    }

    /// The word for how far it came: `complete`, `running`, `interrupted`, `failed`, `killed`, `damaged`.
    pub const fn state_word(&self) -> &'static str {
        match self.state {
            None => "damaged",
            Some(_) if self.killed => "killed",
            Some(RunState::Running) => "running",
            Some(RunState::Complete) => "complete",
            Some(RunState::Interrupted) => "interrupted",
            Some(RunState::Failed) => "failed",
        }
    }

    /// What the list is sorted by: when a run started, or was imported. Ids begin with the time; runs whose files can't be
    /// read sort by that alone.
    pub(super) fn order(&self) -> (i128, &str) {
        let came = self.imported_at.as_ref().or(self.started_at.as_ref());
        let came = came.and_then(|text| text.parse::<jiff::Timestamp>().ok()).or_else(|| time_of(&self.id));
        (came.map_or(i128::MIN, jiff::Timestamp::as_nanosecond), &self.id)
    }
}

fn time_of(id: &str) -> Option<jiff::Timestamp> {
    let time = jiff::civil::DateTime::strptime("%Y%m%d-%H%M%S", id.get(..15)?).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// The part of a run document that a list needs; the rest (histograms, series) is skipped, not built.
#[derive(Deserialize)]
pub(super) struct Outline {
    label: Option<String>,
    state: RunState,
    process_id: u32,
    boot_id: String,
    started_at: String,
    elapsed_ns: u64,
    spec: Option<OutlineSpec>,
    environment: OutlineEnvironment,
    tests: Vec<OutlineTest>,
    requirements: Vec<RequirementVerdict>,
    #[serde(default)]
    imported: Option<OutlineImported>,
}

#[derive(Deserialize)]
struct OutlineImported {
    imported_at: String,
}

#[derive(Deserialize)]
struct OutlineSpec {
    grid: String,
}

#[derive(Deserialize)]
struct OutlineEnvironment {
    hostname: String,
}

#[derive(Deserialize)]
struct OutlineTest {
    name: String,
    repetitions: Vec<OutlineRepetition>,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct OutlineRepetition {
    phases: Vec<OutlinePhase>,
}

#[derive(Deserialize)]
struct OutlinePhase {
    checks: Vec<Check>,
}

impl Outline {
    pub(super) fn summary(self, id: String, is_gone: impl FnOnce(Origin<'_>) -> bool) -> Summary {
        let killed = self.state == RunState::Running
            && is_gone(Origin {
                hostname: &self.environment.hostname,
                boot_id: &self.boot_id,
                process_id: self.process_id,
            });
        Summary {
            id,
            damaged: None,
            validity: Some(self.validity()),
            met: crate::run::met(&self.requirements),
            killed,
            label: self.label,
            started_at: Some(self.started_at),
            imported_at: self.imported.map(|imported| imported.imported_at),
            elapsed_ns: self.elapsed_ns,
            state: Some(self.state),
            hostname: self.environment.hostname,
            grid: self.spec.map(|spec| spec.grid),
            tests: self.tests.into_iter().map(|test| test.name).collect(),
        }
    }

    fn validity(&self) -> Validity {
        if self.state != RunState::Complete {
            return Validity::NotValid;
        }
        let phases = self.tests.iter().flat_map(|t| &t.repetitions).flat_map(|r| &r.phases);
        Validity::of(phases.flat_map(|p| &p.checks).chain(self.tests.iter().flat_map(|t| &t.checks)))
    }
}
