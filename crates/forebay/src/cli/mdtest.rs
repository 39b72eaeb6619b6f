use std::num::NonZeroU32;

use clap::Args;

use super::{FleetOptions, Guards, Outputs};

const EXAMPLES: &str = "\
Examples:
  forebay mdtest --ranks 8 -n 100000 -u -F -d /mnt/data/md
  forebay mdtest --ranks 8 -n 1000 -i 3 -z 2 -b 3 -w 3901 -e 3901 -d /mnt/data/md
  forebay mdtest -C -n 1000000 -u -F -W 30 -x /tmp/items -d /mnt/data/md && forebay mdtest -T -n 1000000 -u -F -x /tmp/items -d /mnt/data/md";

/// Run mdtest's command line: rates of creating, looking at, reading and removing
///
/// Takes the options of mdtest 4.1 as they are and prints its table. Entries have mdtest's names in the directory that -d
/// names, and stay between runs with -C, -T, -E and -r. Our own options are the long ones below, anywhere. The record has
/// percentiles, series and the verdict; `forebay runs report` shows them.
#[derive(Debug, Args)]
#[command(after_help = help(), override_usage = "forebay mdtest [Forebay's options] [mdtest's options]")]
pub struct Mdtest {
    /// Tasks on this host
    #[arg(long, value_name = "N", default_value = "1")]
    pub ranks: NonZeroU32,
    /// Name items by whole paths, as mdtest does, instead of in their open directory
    #[arg(long)]
    pub full_paths: bool,
    /// Do and print as mdtest does where it is known to be wrong
    #[arg(long)]
    pub strict_mdtest: bool,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
    #[command(flatten)]
    pub fleet: FleetOptions,
    /// The options of mdtest
    #[arg(last = true, allow_hyphen_values = true, hide = true)]
    pub words: Vec<String>,
}

fn help() -> String {
    format!("{EXAMPLES}\n\nOptions of mdtest:\n{}", bench::languages::mdtest::help())
}
