//! IO500's `result_summary.txt` and `result.txt`.

mod sections;
mod summary;

use record::statistics::Io500Score;
use record::{Check, OperationKind};
use units::Bytes;

pub use sections::read as result;
pub use summary::read as summary;

use crate::found::{Found, FoundPhase, FoundTest};

const GIB: f64 = 1_073_741_824.0;
/// Largest difference between a stated score and the one that follows from the phases.
const SCORE_SLACK: f64 = 0.01;

/// One line of a summary, or one section.
#[derive(Debug, Clone, Default)]
struct Stated {
    name: String,
    /// GiB/s or kIOPS.
    score: f64,
    seconds: f64,
    began: Option<f64>,
    invalid: Vec<String>,
}

/// Scores of the whole.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    bandwidth: f64,
    metadata: f64,
    total: f64,
}

/// The phases that count, in the order of a run; `true` for bandwidths.
const SCORED: [(&str, bool); 12] = [
    ("ior-easy-write", true),
    ("mdtest-easy-write", false),
    ("ior-hard-write", true),
    ("mdtest-hard-write", false),
    ("find", false),
    ("ior-easy-read", true),
    ("mdtest-easy-stat", false),
    ("ior-hard-read", true),
    ("mdtest-hard-stat", false),
    ("mdtest-easy-delete", false),
    ("mdtest-hard-read", false),
    ("mdtest-hard-delete", false),
];

fn kind(name: &str) -> OperationKind {
    let ends = |word: &str| name.ends_with(word);
    match name {
        _ if name.starts_with("ior") && ends("write") => OperationKind::Write,
        _ if name.starts_with("ior") => OperationKind::Read,
        _ if ends("write") || ends("create") => OperationKind::Create,
        _ if ends("stat") => OperationKind::Stat,
        _ if ends("delete") => OperationKind::Remove,
        _ if name.starts_with("find") => OperationKind::Find,
        _ => OperationKind::ReadFile,
    }
}

impl Stated {
    fn phase(&self) -> Option<FoundPhase> {
        if self.score <= 0.0 {
            return None;
        }
        let kind = kind(&self.name);
        let seconds = if self.seconds > 0.0 { self.seconds } else { 1.0 };
        let mut phase = if self.name.starts_with("ior") {
            let bytes = Bytes::new((self.score * GIB * seconds) as u64);
            // How large the transfers were is settled for the hard phases alone.
            let transfer = self.name.starts_with("ior-hard").then(|| Bytes::new(47_008));
            let operations = transfer.map_or(0, |transfer| bytes / transfer);
            FoundPhase { transfer, ..FoundPhase::new(&self.name, kind, operations, bytes, seconds) }
        } else {
            let operations = (self.score * 1000.0 * seconds).round() as u64;
            FoundPhase::new(&self.name, kind, operations, Bytes::ZERO, seconds)
        };
        phase.wear_out = self.name.ends_with("write");
        phase.began = self.began;
        phase.checks.push(Check::note(
            "imported-rate",
            "IO500 states a rate and the time of the whole phase: what was done is the product of both",
            "look at the rate; the phase's own time was a little shorter",
        ));
        for reason in &self.invalid {
            phase.checks.push(Check::fail("imported-invalid", reason, "IO500 calls this phase invalid"));
        }
        Some(phase)
    }
}

fn found(
    stated: &[Stated],
    total: Option<Total>,
    version: Option<String>,
    started_at: Option<String>,
) -> Found {
    let mut test = FoundTest { name: "io500".to_owned(), kind: "io500", ..FoundTest::default() };
    test.summary = match total {
        Some(total) => format!(
            "score {:.6} (bandwidth {:.6} GiB/s, metadata {:.6} kIOPS)",
            total.total, total.bandwidth, total.metadata
        ),
        None => "no score".to_owned(),
    };
    if let Some(check) = total.and_then(|total| rescored(stated, total)) {
        test.checks.push(check);
    }
    stated.iter().filter_map(Stated::phase).for_each(|phase| test.add(0, phase));
    Found { tool: "IO500", version, started_at, tests: vec![test], ..Found::default() }
}

/// Whether the stated score follows from the phases.
fn rescored(stated: &[Stated], total: Total) -> Option<Check> {
    let scores = |bandwidth: bool| -> Vec<f64> {
        let of_it = |one: &&Stated| SCORED.contains(&(one.name.as_str(), bandwidth)) && one.score > 0.0;
        stated.iter().filter(of_it).map(|one| one.score).collect()
    };
    let ours = Io500Score::of(&scores(true), &scores(false))?;
    let off = (ours.total - total.total).abs() / ours.total;
    let evidence = format!("stated {:.6}, from the phases {:.6}", total.total, ours.total);
    Some(if off <= SCORE_SLACK {
        Check::pass("io500-score", evidence)
    } else {
        Check::note("io500-score", evidence, "the file was edited, or its rules differ from today's")
    })
}
