use std::num::NonZeroU32;

use clap::Args;
use units::{Bandwidth, Bytes, Ratio};

use super::Role;
use super::planning::{Allowed, Facts, Judging, Showing};

const EXAMPLES: &str = "\
Examples:
  forebay size --pcores 48 --capacity 100TiB
  forebay size --pcores 48 --per-core 150MB/s --capacity 100TiB --cloud azure
  forebay size --pcores 64 --read 200MB/s --write 100MB/s --capacity 40TiB --region us-east-1 --why 1";

/// Plan for so many pCores, so much throughput and capacity, without a spec file
///
/// The same as `forebay plan` with a spec of one storage; what no flag says has the defaults of a spec.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Size {
    /// pCores of the whole grid
    #[arg(long, value_name = "N", required_unless_present = "explain")]
    pub pcores: Option<NonZeroU32>,
    /// Usable capacity
    #[arg(long, value_name = "SIZE", required_unless_present = "explain")]
    pub capacity: Option<Bytes>,
    /// Reading and writing, per pCore [default: 150 MB/s]
    #[arg(long, value_name = "RATE")]
    pub per_core: Option<Bandwidth>,
    /// Reading, per pCore, instead of --per-core
    #[arg(long, value_name = "RATE")]
    pub read: Option<Bandwidth>,
    /// Writing, per pCore, instead of --per-core
    #[arg(long, value_name = "RATE")]
    pub write: Option<Bandwidth>,
    /// Reads against writes, such as 80:20
    #[arg(long, value_name = "MIX")]
    pub mix: Option<Ratio>,
    /// Size of one I/O of the application [default: 64 KiB]
    #[arg(long, value_name = "SIZE")]
    pub io_size: Option<Bytes>,
    /// I/Os go anywhere, not from front to end
    #[arg(long)]
    pub random: bool,
    /// What the storage holds; decides mix and durability
    #[arg(long, value_enum, default_value_t = Role::Data)]
    pub role: Role,
    /// Memory per pCore [default: 8 GiB]
    #[arg(long, value_name = "SIZE")]
    pub memory_per_pcore: Option<Bytes>,
    /// Hosts that use the storage [default: as many as needed]
    #[arg(long, value_name = "N")]
    pub clients: Option<NonZeroU32>,
    /// VM SKU of the clients [default: the cheapest]
    #[arg(long, value_name = "SKU")]
    pub client_sku: Option<String>,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub allowed: Allowed,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub showing: Showing,
}
