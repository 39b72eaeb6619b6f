use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand};

/// Where the ranks of a run are. Without any of these, and under no launcher, they are here.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hosts")]
pub struct FleetOptions {
    /// Run on these hosts over ssh: `node[01-24]`, `user@host:port`, a comma list, or a hostfile of Open MPI or MPICH
    #[arg(long, value_name = "LIST|FILE")]
    pub hosts: Option<String>,
    /// Ranks on each host: a number, `pcores` or `vcpus` [default: the slots of the list, or what one host would have]
    #[arg(long, value_name = "N", requires = "hosts")]
    pub ranks_per_host: Option<RanksPerHost>,
    /// The ssh to use, with options of yours
    #[arg(long, value_name = "COMMAND", default_value = "ssh", hide_default_value = true)]
    pub ssh: String,
    /// Copy this program to hosts where it is missing or of another version; the copies are removed at once
    #[arg(long, requires = "hosts")]
    pub push: bool,
    /// Go on when up to so many processes are lost on the way
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub allow_lost: u32,
    /// A host that says nothing for so long is lost
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::parse_duration)]
    pub host_timeout: Duration,
    /// Hosts that one host leads; more make a tree
    #[arg(long, value_name = "N", default_value_t = 64, hide = true)]
    pub fan_out: usize,
    /// Start the run in Slurm, with these options of `srun`, and follow it
    #[arg(long, value_name = "OPTIONS", conflicts_with = "hosts", allow_hyphen_values = true)]
    pub slurm: Option<String>,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            hosts: None,
            ranks_per_host: None,
            ssh: "ssh".to_owned(),
            push: false,
            allow_lost: 0,
            host_timeout: Duration::from_secs(10),
            fan_out: 64,
            slurm: None,
        }
    }
}

/// How many ranks a host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RanksPerHost {
    /// So many.
    Exactly(u32),
    /// One per physical core.
    PerPCore,
    /// One per schedulable thread.
    PerVCpu,
}

impl FromStr for RanksPerHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "pcores" => Ok(Self::PerPCore),
            "vcpus" => Ok(Self::PerVCpu),
            number => match number.parse() {
                Ok(number) if number > 0 => Ok(Self::Exactly(number)),
                _ => Err("neither a number from 1 nor `pcores` or `vcpus`".to_owned()),
            },
        }
    }
}

const AGENT_EXAMPLES: &str = "\
Examples:
  ssh node1 forebay agent    what `forebay run --hosts node1` does";

/// Take part in a run that another host leads (started by `--hosts`)
#[derive(Debug, Args)]
#[command(hide = true, after_help = AGENT_EXAMPLES)]
pub struct Agent {
    /// Directory of the copy that this program runs from, to be removed
    #[arg(long, value_name = "DIR")]
    pub pushed: Option<PathBuf>,
}

const HOSTS_EXAMPLES: &str = "\
Examples:
  forebay hosts check --hosts node[01-24]
  forebay hosts check --hosts hosts.txt --target /mnt/lustre
  mpirun -np 480 forebay hosts check";

/// Try the hosts that runs are to use
#[derive(Debug, Args)]
#[command(after_help = HOSTS_EXAMPLES)]
pub struct Hosts {
    /// What to do
    #[command(subcommand)]
    pub action: HostsAction,
}

/// What can be done with hosts.
#[derive(Debug, Subcommand)]
pub enum HostsAction {
    Check(CheckHosts),
}

/// Connect to all hosts and show what they are and how well they meet
///
/// Per process: version, cores, memory, how far its clock is from this host's, and the file system of a target. For all
/// together: what a barrier and a gather cost. Works with `--hosts`, `mpirun`, `mpiexec` and `srun`. Makes one small file in
/// the target, to see whether everyone sees it, and removes it.
#[derive(Debug, Args)]
#[command(after_help = HOSTS_EXAMPLES)]
pub struct CheckHosts {
    /// Directory that should be the same shared storage on all of them
    #[arg(short, long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// Barriers and gathers to time
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub rounds: u32,
    #[command(flatten)]
    pub fleet: FleetOptions,
}
