use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    /// How the run is shown while it goes on
    #[arg(long, value_enum, value_name = "VIEW", default_value_t = Live::Auto)]
    pub live: Live,
    /// Write every live event to this file or pipe, a line of JSON each; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub live_json: Option<PathBuf>,
    /// Serve live figures for Prometheus at http://ADDRESS/metrics while it runs; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
}

/// How a run is shown while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Live {
    /// The whole terminal where there is a large enough one, plain lines elsewhere
    Auto,
    /// One live line on a terminal, plain lines elsewhere
    Line,
    /// Plain lines
    Log,
    /// Nothing
    Off,
}
