use std::path::PathBuf;

use clap::Args;

/// What a run leaves behind besides its record.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct Outputs {
    /// Where to write the report, one self-contained HTML file [default: beside the run's record]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Your own name for the run, shown in lists and reports
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}
