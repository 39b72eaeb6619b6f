use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::{FleetOptions, Guards, Outputs};

const EXAMPLES: &str = "\
Examples:
  forebay sweep grid.toml --target /mnt/data
  forebay sweep grid.toml --target /mnt/data --design design.toml --csv sweep.csv
  forebay sweep grid.toml --target /mnt/data --hosts node[01-24]
  forebay sweep grid.toml --dry-run";

/// Run a spec's sweeps: the same test at every combination of some settings
///
/// Each `[[sweep]]` of the spec lists values of hosts, ranks per host, transfer size, stripes or any parameter of a workload.
/// Every point is a run of its own in the store; points that are there already are not run again, so the same command
/// goes on after an interruption. One report has them all: per-pCore MB/s against the requirement, and against the limits
/// of clients and storage where a design is given.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Sweep {
    /// The spec file with its `[[sweep]]` sections
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
    /// Run this sweep only
    #[arg(long, value_name = "NAME")]
    pub sweep: Option<String>,
    /// Directory on the storage under test, instead of the target in the spec
    #[arg(short, long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// The design the storage was built by: its limits are drawn in
    #[arg(long, value_name = "FILE")]
    pub design: Option<PathBuf>,
    /// How often the test runs at each point, instead of what the spec says [default: 3]
    #[arg(long, value_name = "N")]
    pub repetitions: Option<NonZeroU32>,
    /// List the points and which are done; run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run all points again, done or not
    #[arg(long)]
    pub again: bool,
    /// Write the points as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
}
