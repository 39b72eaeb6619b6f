use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use units::parse_duration;

use super::{Engine, FleetOptions, Guards, Outputs, Searching};

const EXAMPLES: &str = "\
Examples:
  forebay vdbench -f matrix.vdb                       run it; its files and anchors are the targets
  forebay vdbench -f matrix.vdb -s                    print the runs that its loops expand to
  forebay vdbench -f matrix.vdb lun=/mnt/data/file    set $lun
  forebay vdbench -f matrix.vdb --hosts node[1-8]     the same from eight hosts
  forebay vdbench -f matrix.vdb --matrix matrix.csv --heat-map matrix.svg";

/// Run a vdbench parameter file (sd, wd, rd and fsd, fwd, rd)
///
/// The language of vdbench 5.04: abbreviations, wildcards, ranges, variables, defaults, includes, loops in their order,
/// curves. A `lun` that is not there is made, and removed afterwards; one that is there is written only with `--overwrite`.
/// Trees are made in a fresh directory below their `anchor`. Hosts that `hd=` names are reached by ssh, as with `--hosts`,
/// which takes their place; each does all loads unless `host=` says otherwise. Intervals are printed as they end. `-v` compares everything that is read with what was written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Vdbench {
    /// The parameter file; `-` reads standard input
    #[arg(short = 'f', value_name = "FILE")]
    pub file: PathBuf,
    /// Directory for summary.html, totals.html and flatfile.html, as vdbench writes them
    #[arg(short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print what would be run, and run nothing
    #[arg(short = 's', long)]
    pub simulate: bool,
    /// Compare what is read with what was written (vdbench -v)
    #[arg(long)]
    pub validate: bool,
    /// Length of every run in seconds, instead of what the file says
    #[arg(short = 'e', value_name = "SECONDS", value_parser = seconds)]
    pub elapsed: Option<Duration>,
    /// Length of an interval of the report in seconds
    #[arg(short = 'i', value_name = "SECONDS", value_parser = seconds)]
    pub interval: Option<Duration>,
    /// Warm-up in seconds, left out of averages
    #[arg(short = 'w', value_name = "SECONDS", value_parser = seconds)]
    pub warm_up: Option<Duration>,
    /// Processes to share the work: there are none here, threads are I/Os in flight
    #[arg(short = 'm', value_name = "N", hide = true)]
    pub processes: Option<String>,
    /// Journal recovery, which there is none of here
    #[arg(short = 'j', value_name = "MODE", num_args = 0..=1, default_missing_value = "", hide = true)]
    pub journal: Option<String>,
    /// Values of the file's $variables
    #[arg(value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
    /// How I/O is issued
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Write the points as CSV: read share, seek, transfer size, IOPS, bandwidth, latency
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Write the points as heat maps (SVG)
    #[arg(long, value_name = "FILE")]
    pub heat_map: Option<PathBuf>,
    /// Write over files that are there already: what is in them is lost
    #[arg(long, help_heading = "Safety")]
    pub overwrite: bool,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(number) => Duration::try_from_secs_f64(number).map_err(|error| error.to_string()),
        Err(_) => parse_duration(text).map_err(|error| error.to_string()),
    }?;
    if time.is_zero() { Err("must be more than nothing".to_owned()) } else { Ok(time) }
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("variables are written NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
