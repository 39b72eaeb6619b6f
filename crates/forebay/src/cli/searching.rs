use std::num::NonZeroU32;
use std::time::Duration;

use clap::{Args, ValueEnum};
use units::{Ratio, parse_duration};

/// Questions that take several runs to answer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Searches")]
pub struct Searching {
    /// Raise this until throughput stops growing by more than 2 %, and prove it by two further runs
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["slo", "until_steady"])]
    pub saturate: Option<Raised>,
    /// Find the highest load that keeps a latency: p99=5ms, p99.9=20ms, mean=1ms
    #[arg(long, value_name = "LATENCY", value_parser = target, conflicts_with = "until_steady")]
    pub slo: Option<Target>,
    /// What --slo raises: the rate of an open loop, or the I/Os in flight per rank
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SloLoad::Rate, requires = "slo")]
    pub slo_over: SloLoad,
    /// Repeat until the last runs lie within this of each other and don't drift
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "5%")]
    pub until_steady: Option<Ratio>,
    /// How many runs in a row must be steady
    #[arg(long, value_name = "N", default_value = "5", requires = "until_steady")]
    pub steady_runs: NonZeroU32,
    /// The most ranks, I/Os in flight or repetitions that are tried [default: 256, or 25 repetitions]
    #[arg(long, value_name = "N")]
    pub at_most: Option<NonZeroU32>,
    /// The phase that counts [default: the last one]
    #[arg(long, value_name = "PHASE")]
    pub search_phase: Option<String>,
}

/// What a saturation search raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Raised {
    /// Ranks
    Ranks,
    /// I/Os in flight per rank
    Depth,
}

/// What a search for a latency raises.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum SloLoad {
    /// Operations per second, started whatever the storage does
    #[default]
    Rate,
    /// I/Os in flight per rank
    Depth,
}

/// A latency to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// In percent; 0 is the mean.
    pub percentile: f64,
    /// At most this.
    pub latency: Duration,
}

fn target(text: &str) -> Result<Target, String> {
    let (name, latency) = text.split_once('=').ok_or("write a percentile and a latency: p99=5ms")?;
    let percentile = match name {
        "mean" => 0.0,
        "max" => 100.0,
        name => name
            .strip_prefix('p')
            .and_then(|number| number.parse().ok())
            .filter(|percent| (1.0..=100.0).contains(percent))
            .ok_or_else(|| format!("`{name}` is no percentile: p50, p99, p99.9, mean or max"))?,
    };
    let latency = parse_duration(latency).map_err(|error| error.to_string())?;
    if latency.is_zero() {
        Err("nothing takes no time".to_owned())
    } else {
        Ok(Target { percentile, latency })
    }
}
