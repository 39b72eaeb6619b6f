use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// How results are written to standard output
    #[arg(long, global = true, value_enum, default_value_t = FormatName::Text, value_name = "FORMAT")]
    pub format: FormatName,
    /// Show results, warnings and errors only: no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Where run records are kept [default: forebay/runs in the user's data directory]
    #[arg(long, global = true, env = "FOREBAY_RUNS_DIR", hide_env_values = true, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Log what the program does; -vv for more, -vvv for all (FOREBAY_LOG takes filters)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// The names of the formats.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FormatName {
    /// Tables and sentences
    Text,
    /// One JSON document
    Json,
    /// One JSON object a line, events as they happen
    Jsonl,
}

impl From<FormatName> for console::Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Text => Self::Text,
            FormatName::Json => Self::Json,
            FormatName::Jsonl => Self::Jsonl,
        }
    }
}
