use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  forebay import rhel_iotest_node07_261121-2130.results
  forebay import --list ior.json mdtest.txt fio.json
  forebay import before.json --label before && forebay runs compare latest 20261121-214226
  forebay import ior.json --spec grid.toml --test work --pcores 128";

/// Read results of other tools into run records
///
/// Takes what rhel_iotest, IOR (text, CSV, JSON), mdtest, vdbench (flatfile.html, summary.html), IO500 (result.txt,
/// result_summary.txt), fio (JSON) and elbencho (CSV, text) have written. Each file becomes a record that can be shown,
/// compared and turned into a report. What a file does not say stays unknown.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The tool that wrote them, instead of finding out from their content
    #[arg(long, value_enum, value_name = "TOOL")]
    pub from: Option<ImportFrom>,
    /// Show what the files hold and keep nothing
    #[arg(long)]
    pub list: bool,
    /// Your own name for the runs, shown in lists and reports
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Physical cores of the hosts that were measured, all together
    #[arg(long, value_name = "N")]
    pub pcores: Option<NonZeroU32>,
    /// Judge the results by the requirements of this spec
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    /// The test of the spec that these are results of [default: its only one]
    #[arg(long, value_name = "TEST", requires = "spec")]
    pub test: Option<String>,
}

/// A tool whose results can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// SAS's rhel_iotest.sh and iotest.sh
    RhelIotest,
    /// IOR
    Ior,
    /// mdtest
    Mdtest,
    /// vdbench
    Vdbench,
    /// IO500
    Io500,
    /// fio
    Fio,
    /// elbencho
    Elbencho,
}
