use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::{FleetOptions, Guards, Outputs};

const EXAMPLES: &str = "\
Examples:
  forebay prove grid.toml --target /mnt/data
  forebay prove grid.toml --target /mnt/data --repetitions 5 --report verdict.html
  forebay prove grid.toml --target /mnt/data --design design.toml
  forebay prove grid.toml --format jsonl > events.jsonl";

/// Run a spec's tests on storage and say whether the requirements are met
///
/// Runs every `[[test]]` of the spec on its target, repeats it, and prints required against measured for each
/// `[[storage]]` requirement: median and range, margin, whether the numbers can be believed, and what limited them.
/// Exits 0 when all requirements are met, 4 when not. Files are made only inside a fresh directory below the target,
/// and removed at the end.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Prove {
    /// The spec file (`forebay init` writes one)
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
    /// Directory on the storage under test, instead of the targets in the spec
    #[arg(short, long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// The design the storage was built by (`forebay plan --design` writes one): its limits are held against what is
    /// measured, and the one that explains it is named
    #[arg(long, value_name = "FILE")]
    pub design: Option<PathBuf>,
    /// How often each test runs, instead of what the spec says [default: 3]
    #[arg(long, value_name = "N")]
    pub repetitions: Option<NonZeroU32>,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
}
