use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use units::{Bandwidth, Bytes, Ratio};

const EXAMPLES: &str = "\
Examples:
  forebay init
  forebay init grid.toml --name sas-prod --pcores 64 --clients 8 --capacity 100TiB
  forebay init grid.toml --pcores 64 --read '150 MB/s' --write '100 MB/s' --force";

/// Write a spec file with comments: what the grid needs
///
/// Asks what no flag answers if a person is at the terminal, and otherwise takes the defaults: the pCores of this host,
/// and the SAS rules' 8 GiB of memory and 150 MB/s for reading and writing per pCore.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Init {
    /// Where to write it; - is standard output
    #[arg(value_name = "PATH", default_value = "grid.toml")]
    pub path: PathBuf,
    /// Name of the grid
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// pCores of the whole grid
    #[arg(long, value_name = "N")]
    pub pcores: Option<NonZeroU32>,
    /// Hosts that use the storage
    #[arg(long, value_name = "N")]
    pub clients: Option<NonZeroU32>,
    /// Memory per pCore
    #[arg(long, value_name = "SIZE")]
    pub memory_per_pcore: Option<Bytes>,
    /// What the storage holds
    #[arg(long, value_enum)]
    pub role: Option<Role>,
    /// Usable capacity of the storage
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Reading, per pCore
    #[arg(long, value_name = "RATE")]
    pub read: Option<Bandwidth>,
    /// Writing, per pCore
    #[arg(long, value_name = "RATE")]
    pub write: Option<Bandwidth>,
    /// Reads against writes, such as 80:20
    #[arg(long, value_name = "MIX")]
    pub mix: Option<Ratio>,
    /// Directory on the storage under test
    #[arg(short, long, value_name = "DIR")]
    pub target: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// What a storage holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Permanent data: read more than written
    Data,
    /// Temporary files of running jobs
    Work,
    /// Home directories and programs
    Home,
    /// Anything else
    Other,
}

impl From<Role> for spec::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Data => Self::Data,
            Role::Work => Self::Work,
            Role::Home => Self::Home,
            Role::Other => Self::Other,
        }
    }
}
