use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use units::{Bytes, parse_duration};

use super::{FleetOptions, Guards, Outputs};

const EXAMPLES: &str = "\
Examples:
  forebay iotest -t /mnt/data
  forebay iotest -t /mnt/data --time-boxed 60s
  forebay iotest -t /mnt/data --classic | grep 'throughput rate'";

/// Run the SAS-style throughput test: one writer, then one reader, per pCore
///
/// Semantics of rhel_iotest: 64 KiB sequential I/O, fsync at the end, files as large as memory (shrunk if the file
/// system is too small), and the rate per pCore is the size over the mean time. Phases start together, data doesn't
/// compress, and cached pages are dropped between writing and reading.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Iotest {
    /// Directory on the storage under test
    #[arg(short, long, value_name = "DIR")]
    pub target: PathBuf,
    /// Readers and writers, instead of the pCores of this host
    #[arg(long, value_name = "N")]
    pub pcores: Option<NonZeroU32>,
    /// Size of each file, instead of the size of memory
    #[arg(long, value_name = "SIZE")]
    pub file_size: Option<Bytes>,
    /// Stop each phase after this time: a short run that stands for the full one, and says so
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub time_boxed: Option<Duration>,
    /// Bypass the page cache with O_DIRECT
    #[arg(long)]
    pub direct: bool,
    /// Print the result block of rhel_iotest, line for line
    #[arg(long)]
    pub classic: bool,
    /// How often the test runs
    #[arg(long, value_name = "N", default_value = "1")]
    pub repetitions: NonZeroU32,
    /// What is written
    #[arg(long, value_enum, default_value_t = Data::Random)]
    pub data: Data,
    /// How I/O is issued
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Leave cached pages alone between writing and reading
    #[arg(long)]
    pub keep_cache: bool,
    /// Pin each reader and writer to its pCore
    #[arg(long)]
    pub pin: bool,
    #[command(flatten)]
    pub fleet: FleetOptions,
    #[command(flatten)]
    pub guards: Guards,
    #[command(flatten)]
    pub outputs: Outputs,
}

/// What is written to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Incompressible and unique: storage can't cheat
    Random,
    /// Zeros, as dd if=/dev/zero: storage that compresses looks faster than it is
    Zeros,
}

/// How I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Chosen by a short probe on the target
    Auto,
    /// One pread or pwrite call at a time
    Psync,
    /// io_uring
    Uring,
}
