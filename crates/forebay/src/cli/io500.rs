use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FleetOptions, Guards, Outputs};

const EXAMPLES: &str = "\
Examples:
  forebay io500 --list > config.ini
  forebay io500 config.ini --ranks 8
  forebay io500 config.ini --ranks 8 --stonewall 30
  forebay io500 config.ini --dry-run
  forebay io500 config.ini --verify results/2026.11.21-21.42.26/result.txt";

/// Run the IO500 benchmark: its phases, score and result files
///
/// Reads IO500's ini file and runs its standard phases with a parallel find: ior and mdtest, easy and hard. Writes
/// result_summary.txt, result.txt and the files of each phase as IO500 does. Runs with another stonewall than 300 s, or whose
/// writes end before it, are marked INVALID. No file system is filled beyond 90 %.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Io500 {
    /// The ini file
    #[arg(value_name = "CONFIG", required_unless_present = "list")]
    pub config: Option<PathBuf>,
    /// Processes on this host
    #[arg(long, value_name = "N", default_value = "1")]
    pub ranks: NonZeroU32,
    /// Seconds of each write phase, instead of what the file says; anything but 300 is INVALID
    #[arg(long, value_name = "SECONDS")]
    pub stonewall: Option<NonZeroU32>,
    /// Name of the subdirectories for data and results [default: the time, 2026.11.21-21.42.26]
    #[arg(long, value_name = "TEXT")]
    pub timestamp: Option<String>,
    /// Which phases
    #[arg(long, value_enum, default_value_t = Io500Mode::Standard)]
    pub mode: Io500Mode,
    /// Show all keys of the ini file with their defaults
    #[arg(long)]
    pub list: bool,
    /// Show what each phase would do, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Recompute the score of this result.txt from its phases, and do nothing else
    #[arg(long, value_name = "FILE", requires = "config")]
    pub verify: Option<PathBuf>,
    /// Remove what a run with this --timestamp has left, and do nothing else
    #[arg(long, requires = "timestamp")]
    pub cleanup: bool,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
    #[command(flatten)]
    pub fleet: FleetOptions,
}

/// Which phases IO500 runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Io500Mode {
    /// The phases that are scored, and ior-rnd4K-easy-read
    Standard,
    /// With find-easy and find-hard besides; md-workbench has to be switched off in the ini file
    Extended,
}
