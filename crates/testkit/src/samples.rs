//! Run records that look like real ones, for tests of everything that reads records.
//!
//! Fill in what matters and leave the rest: `Sample { ranks: 500, ..Sample::default() }.build()`. The same sample
//! always builds the same record; sums agree with their parts as they do in a measured run.

mod environment;
mod hosts;
mod phase;

use std::path::PathBuf;

use record::{
    Check, Direction, PhaseResult, Repetition, RequirementVerdict, RunError, RunRecord, RunState,
    SpecDocument, Spread, TestRecord, VERSION, Validity,
};
use units::Bandwidth;

pub use environment::{lustre_client, raid_of_nvme};
pub use hosts::over_hosts;
pub use phase::{Noise, data_phase, metadata_phase};

/// What a sample record should look like.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Ranks (and pCores) of the run.
    pub ranks: u32,
    /// Repetitions of the test.
    pub repetitions: u32,
    /// About how long each phase takes.
    pub seconds: u32,
    /// What one rank writes, in MB/s.
    pub write_mb: f64,
    /// What one rank reads, in MB/s.
    pub read_mb: f64,
    /// What the requirement asks per pCore and direction, in MB/s; `None` for a run without requirements.
    pub required_mb: Option<f64>,
    /// Transfers per interval whose latency is recorded (fewer make huge samples cheap).
    pub latencies_per_interval: u64,
    /// Adds a phase without bytes (`stat`).
    pub with_metadata_phase: bool,
    /// Adds a failed check, which makes the run not valid.
    pub with_failed_check: bool,
    /// Storage behind a Lustre client instead of local NVMe devices.
    pub on_lustre: bool,
    /// The user's own name for the run.
    pub label: Option<String>,
    /// Name of the host.
    pub hostname: String,
    /// How far the run came.
    pub state: RunState,
    /// Why it ended early.
    pub error: Option<RunError>,
    /// The design whose limits the run is held against; its storage has to be `work`.
    pub design: Option<record::DesignSheet>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            ranks: 8,
            repetitions: 3,
            seconds: 40,
            write_mb: 171.0,
            read_mb: 212.0,
            required_mb: Some(150.0),
            latencies_per_interval: 600,
            with_metadata_phase: false,
            with_failed_check: false,
            on_lustre: false,
            label: Some("before the upgrade".to_owned()),
            hostname: "grid-node-03".to_owned(),
            state: RunState::Complete,
            error: None,
            design: None,
        }
    }
}

impl Sample {
    /// The record.
    pub fn build(&self) -> RunRecord {
        let test = self.test();
        let requirements = self.requirements(&test);
        let elapsed_ns = test
            .repetitions
            .iter()
            .flat_map(|repetition| &repetition.phases)
            .map(|phase| phase.started_ns + phase.last_done.elapsed_ns)
            .max()
            .unwrap_or(0);
        let spec = self.required_mb.map(|required| SpecDocument {
            path: PathBuf::from("grid.toml"),
            text: format!(
                "version = 1\n\n[grid]\nname = \"risk\"\npcores = {}\n\n[[storage]]\nname = \"work\"\nread_per_pcore = \"{required} MB/s\"\nwrite_per_pcore = \"{required} MB/s\"\n",
                self.ranks
            ),
            grid: "risk".to_owned(),
        });
        RunRecord {
            version: VERSION,
            id: "20261121-214226-3f9a1c".to_owned(),
            label: self.label.clone(),
            state: self.state,
            error: self.error.clone(),
            program: "forebay 0.1.0".to_owned(),
            command: ["forebay", "prove", "grid.toml", "--target", "/srv/sas work"]
                .map(str::to_owned)
                .to_vec(),
            process_id: 4711,
            boot_id: "5d3a2f8e-8c0b-4c55-9a53-0f4f3f7a1f10".to_owned(),
            started_at: "2026-11-21T21:42:26Z".to_owned(),
            elapsed_ns,
            spec,
            environment: self.environment(),
            tests: vec![test],
            requirements,
            design: self.design.clone(),
            imported: None,
            search: None,
            sweep: None,
        }
    }

    /// A record without tests: what a run leaves that was stopped at once.
    pub fn build_without_tests(&self) -> RunRecord {
        let mut record = self.build();
        record.tests.clear();
        record.elapsed_ns = 0;
        for requirement in &mut record.requirements {
            requirement.measured_per_pcore = None;
            requirement.margin = None;
            requirement.met = false;
            requirement.validity = Validity::NotValid;
            requirement.limited_by = String::new();
        }
        record
    }

    fn environment(&self) -> host::Environment {
        if self.on_lustre {
            lustre_client(&self.hostname, self.ranks)
        } else {
            raid_of_nvme(&self.hostname, self.ranks)
        }
    }

    fn test(&self) -> TestRecord {
        let mut noise = Noise::new(7);
        let mut started_ns = 1_500_000_000;
        let mut repetitions = Vec::new();
        for number in 1..=self.repetitions {
            let drift = 1.0 + noise.around_zero(0.03);
            let mut phases = Vec::new();
            let mut add = |mut phase: PhaseResult| {
                phase.started_ns = started_ns;
                started_ns += phase.last_done.elapsed_ns + 800_000_000;
                phases.push(phase);
            };
            add(data_phase(self, Direction::Write, self.write_mb * drift, &mut noise));
            add(data_phase(self, Direction::Read, self.read_mb * drift, &mut noise));
            if self.with_metadata_phase {
                add(metadata_phase(self, &mut noise));
            }
            repetitions.push(Repetition { number, phases, removed_ns: None });
        }
        TestRecord {
            name: "work".to_owned(),
            test: "iotest".to_owned(),
            target: PathBuf::from("/srv/sas work"),
            summary: format!("{} ranks, 64 KiB sequential, fsync at end", self.ranks),
            workload: serde_json::json!({ "phases": ["write", "read"] }),
            pcores: self.ranks,
            equivalence: Some(format!("time-boxed {} s", self.seconds)),
            environment: None,
            held_memory: None,
            hosts: Vec::new(),
            repetitions,
            checks: vec![Check::pass(
                "variance",
                "write spreads by 2.4 % and read by 2.1 % over the repetitions (limit 10 %)",
            )],
        }
    }

    fn requirements(&self, test: &TestRecord) -> Vec<RequirementVerdict> {
        let Some(required) = self.required_mb else { return Vec::new() };
        [Direction::Write, Direction::Read]
            .into_iter()
            .map(|direction| {
                let phases: Vec<&PhaseResult> = test.phases(direction.word()).collect();
                let measured_per_pcore = spread(&phases);
                let margin =
                    measured_per_pcore.map(|spread| spread.median_bytes_per_second.as_mb() / required - 1.0);
                RequirementVerdict {
                    storage: "work".to_owned(),
                    test: test.name.clone(),
                    direction,
                    required_per_pcore: Bandwidth::mb_per_second(required),
                    measured_per_pcore,
                    pcores: self.ranks,
                    margin,
                    met: margin.is_some_and(|margin| margin >= 0.0),
                    validity: test.validity(),
                    limited_by: phases
                        .first()
                        .and_then(|phase| phase.limit.as_ref())
                        .map_or_else(String::new, |limit| limit.cause.words().to_owned()),
                }
            })
            .collect()
    }
}

fn spread(phases: &[&PhaseResult]) -> Option<Spread> {
    let mut rates: Vec<f64> = phases.iter().map(|phase| phase.rate_per_rank().get()).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2)?;
    Some(Spread {
        median_bytes_per_second: Bandwidth::bytes_per_second(*median),
        min_bytes_per_second: Bandwidth::bytes_per_second(*rates.first()?),
        max_bytes_per_second: Bandwidth::bytes_per_second(*rates.last()?),
    })
}
