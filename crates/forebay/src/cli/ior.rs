use std::num::NonZeroU32;

use clap::Args;

use super::{FleetOptions, Guards, Outputs, Searching};

const EXAMPLES: &str = "\
Examples:
  forebay ior -w -r -F -e -t 1m -b 1g -o /mnt/data/test.file --ranks 8
  forebay ior -z -w -r -i 2 -m -d 1 -e -F -t 32m -b 8g -o /mnt/data/f -O summaryFormat=JSON -O summaryFile=out.json
  mpirun --hostfile hosts.txt --map-by node -np 480 forebay ior -w -r -F -t 4m -b 4g -o /lustre/f
  forebay ior -r -R -G 1234 -F -o /mnt/data/written-by-ior --label 'does it verify?' --format json

";

fn after_help() -> String {
    format!("{EXAMPLES}{}", bench::languages::ior::help())
}

/// Run an IOR command line as it is, and print what IOR prints
///
/// Options are IOR's, by IOR's own rules; Forebay's own are the long ones below and may stand anywhere between them. Files have
/// the names that IOR gives them. What IOR prints goes to standard output (`--format json` gives the run record instead), and
/// everything else comes with it: percentiles, a second-by-second series, the verdict, the report. Where IOR is wrong it is
/// done right, and a line says so.
#[derive(Debug, Args)]
#[command(after_help = after_help(), override_usage = "forebay ior [Forebay's options] [IOR's options]")]
pub struct Ior {
    /// Tasks on this host, where no launcher says how many there are
    #[arg(long, value_name = "N", default_value = "1")]
    pub ranks: NonZeroU32,
    /// Do as IOR does where it is known to be wrong
    #[arg(long)]
    pub strict_ior: bool,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
    /// IOR's options
    #[arg(last = true, allow_hyphen_values = true, hide = true)]
    pub arguments: Vec<String>,
}
