use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::{Engine, FleetOptions, Guards, Outputs, Searching};

const EXAMPLES: &str = "\
Examples:
  forebay run workload.toml -t /mnt/data
  forebay run workload.toml -t /mnt/data --repetitions 5 --format json
  forebay run workload.toml -t /mnt/data --saturate depth
  forebay run workload.toml -t /mnt/data --slo p99=5ms";

/// Run a workload file: phases over a set of files, exactly as written
///
/// A workload says everything about what is done: files, phases, transfer size, order, queue depth, stop rule,
/// pacing, data and verification. The other tests are workloads too; `forebay runs show` prints the one that ran.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    /// The workload file (TOML)
    #[arg(value_name = "WORKLOAD")]
    pub workload: PathBuf,
    /// Directory on the storage under test
    #[arg(short, long, value_name = "DIR")]
    pub target: PathBuf,
    /// How often the workload runs, instead of what it says
    #[arg(long, value_name = "N")]
    pub repetitions: Option<NonZeroU32>,
    /// How I/O is issued, instead of what the workload says
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// Pin each rank to its pCore
    #[arg(long)]
    pub pin: bool,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
}
