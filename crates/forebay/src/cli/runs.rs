use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::planning::Facts;

const EXAMPLES: &str = "\
Examples:
  forebay runs list
  forebay runs show latest
  forebay runs compare 20261121-214226-3f9a1c latest";

/// List, show, export, compare and remove the records of past runs
///
/// A run is named by its id, by the beginning of its id where only one run has it, or as `latest`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Runs {
    #[command(subcommand)]
    pub action: RunsAction,
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub enum RunsAction {
    List(List),
    Show(Show),
    Export(Export),
    Compare(Compare),
    Report(Report),
    Rm(Remove),
}

/// List the runs, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  forebay runs list\n  forebay runs list --limit 5 --format jsonl")]
pub struct List {
    /// Show only this many of the newest runs
    #[arg(short, long, value_name = "N")]
    pub limit: Option<usize>,
}

/// Show one run: verdict, results, checks and the machine it ran on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  forebay runs show latest\n  forebay runs show 20261121 --format json")]
pub struct Show {
    /// The run
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
}

/// Write a run as CSV or JSON for other programs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay runs export latest --as csv > phases.csv
  forebay runs export latest --as series-jsonl --output series.jsonl")]
pub struct Export {
    /// The run
    #[arg(value_name = "RUN")]
    pub run: String,
    /// What to write
    #[arg(long = "as", value_enum, default_value_t = ExportAs::Csv, value_name = "WHAT")]
    pub shape: ExportAs,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What an export holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportAs {
    /// One row per phase
    Csv,
    /// One row per second of every phase
    SeriesCsv,
    /// One row per point of the matrix of read share, seek and transfer size
    Matrix,
    /// The same as heat maps: one SVG that follows light and dark
    HeatMap,
    /// One flat JSON object per phase, a line each (loads into Parquet)
    Jsonl,
    /// One flat JSON object per second of every phase, a line each
    SeriesJsonl,
    /// The whole run document
    Json,
}

/// Compare two runs, or a run with what studies have published
///
/// Says which differences are larger than the noise. Refuses to compare runs that did not do the same, and names every
/// difference. With `--with published` the figures of one run stand beside those of the same test in the catalog.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay runs compare 20261121-214226-3f9a1c latest
  forebay runs compare latest --with published
  forebay runs compare latest --with published --test ior")]
pub struct Compare {
    /// The run to compare with; with `--with`, the run
    #[arg(value_name = "BASELINE")]
    pub baseline: String,
    /// The run that is compared
    #[arg(value_name = "RUN", required_unless_present = "with", conflicts_with = "with")]
    pub run: Option<String>,
    /// What to set beside one run
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "force")]
    pub with: Option<Beside>,
    /// Only published results of this test [default: the run's own; ior and mdtest for workloads]
    #[arg(long, value_name = "TEST", requires = "with")]
    pub test: Option<String>,
    /// Compare runs that did not do the same
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub facts: Facts,
}

/// What a single run is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Beside {
    /// Results of studies, from the catalog
    Published,
}

/// Write the report of a run as HTML or Markdown
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay runs report latest
  forebay runs report latest --output verdict.html
  forebay runs report latest --md --output verdict.md")]
pub struct Report {
    /// The run
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Where to write it [default: forebay-ID.html or .md here; - is standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write Markdown instead of HTML
    #[arg(long)]
    pub md: bool,
}

/// Remove the records of runs
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  forebay runs rm 20261121-214226-3f9a1c 20261120-101500-aa01bc")]
pub struct Remove {
    /// The runs, by their whole ids
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
}
