use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use units::Bytes;

use super::jobs::SyncAction;

const EXAMPLES: &str = "\
Examples:
  forebay sync /data /mnt/grid/data                     copy, and next time only what changed
  forebay sync /data /mnt/grid/data --delete --dry-run  what would be copied and removed
  forebay sync /data /mnt/grid/data --exclude '*.tmp' --bwlimit '08:00,100MB/s 18:00,off'
  forebay sync /data /mnt/grid/data --verify all        read everything back and compare
  forebay sync /data /mnt/grid/data --watch --delete    and go on: what changes follows at once
  forebay sync /data s3://bucket/data                   to an object store, with all of it
  forebay sync /data s3://bucket/data --layout chunks   as chunks: only what changed is ever sent
  forebay sync az://account/container/data /data        and back: the same tree
  forebay sync /data ssh://me@node7:2222/mnt/data       to another host, or from one
  forebay sync node7:/mnt/data node8:/mnt/data --push   as rsync and scp write them
  forebay sync serve --jobs sync.toml                   many of them, each when it is due
  forebay sync /gpfs/data /lustre/data --state postgres://grid@db/movers    the same on several hosts
  mpirun -np 8 --hostfile hosts forebay sync /gpfs/data /lustre/data           or as ranks of one run

Another host needs ssh without a password, and this program, which --push brings along; no daemon,
no port. HOST:PATH is a host when its colon stands before the first slash: a local path of such a
name is written ./a:/b or /dir/a:/b. A path without a slash at its start is below the home there.

Places in object stores are s3://BUCKET/PREFIX, az://ACCOUNT/CONTAINER/PREFIX, gs://BUCKET/PREFIX,
swift://CONTAINER/PREFIX and hdfs://HOST/PATH (over WebHDFS). Credentials come from where the
provider's own tools look for them, never from here: AWS_*, ~/.aws, AZURE_STORAGE_*, OS_STORAGE_URL,
GOOGLE_APPLICATION_CREDENTIALS, the machine's identity. AWS_ENDPOINT_URL, STORAGE_EMULATOR_HOST and
AZURE_STORAGE_BLOB_ENDPOINT name other servers.";

/// Make a directory like another: fast, only what changed, and safe to stop
///
/// Copies the content of SOURCE into DESTINATION with all that belongs to it: owners, modes, times, extended attributes,
/// ACLs, hard links and holes. A file appears under its name when it is complete, never before. What was done is
/// remembered outside both trees, so that the next sync need not look at the destination, and one that was stopped or
/// killed goes on where it was. Exits 3 when something could not be copied; each such entry is named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Sync {
    #[command(subcommand)]
    pub action: Option<SyncAction>,
    /// Directory, here or on another host, or place in an object store, to read; one that is called as a command is `./jobs`
    #[arg(value_name = "SOURCE", required = true)]
    pub source: Option<PathBuf>,
    /// Directory, here or on another host, or place in an object store, to make like it; its parent or bucket must exist
    #[arg(value_name = "DESTINATION", required = true)]
    pub destination: Option<PathBuf>,
    /// Show what would be done, do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Threads that scan and copy [default: one per CPU, more across a network]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// Where to remember what was done [default: a directory per pair in the user's state directory], or where several
    /// movers meet: postgres://USER@HOST/DATABASE, on one host sqlite:FILE
    #[arg(long, value_name = "DIR|URL")]
    pub state: Option<PathBuf>,
    /// How long a mover that says nothing keeps what it works on, before others take it over
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "30s", requires = "state")]
    pub lease: Duration,
    /// Serve live figures for Prometheus at http://ADDRESS/metrics while it runs; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub watching: SyncWatching,
    #[command(flatten)]
    pub removing: Removing,
    #[command(flatten)]
    pub choosing: Choosing,
    #[command(flatten)]
    pub judging: SyncJudging,
    #[command(flatten)]
    pub reaching: SyncReaching,
}

/// Flags about other hosts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other hosts")]
pub struct SyncReaching {
    /// The ssh to use, with options of yours
    #[arg(long, value_name = "COMMAND", default_value = "ssh", hide_default_value = true)]
    pub ssh: String,
    /// Copy this program to a host where it is missing or of another version; the copy is removed at once
    #[arg(long)]
    pub push: bool,
    /// Connections to each host [default: one per CPU, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub connections: Option<u8>,
    /// How content is compressed on its way to and from hosts
    #[arg(long, value_enum, default_value_t = CompressRule::Auto, value_name = "HOW")]
    pub compress: CompressRule,
}

/// The names of the ways to compress.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CompressRule {
    /// By the speed of the link, and only what gets shorter
    Auto,
    /// zstd: more CPU, fewer bytes
    Zstd,
    /// LZ4: little CPU
    Lz4,
    /// Not at all
    Off,
}

/// Flags about going on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watching")]
pub struct SyncWatching {
    /// Go on after the first sync: copy what changes, until Ctrl-C
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// Look at everything again this often, for what nobody told of; 0s never does
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration, default_value = "1h", requires = "watch")]
    pub rescan: Duration,
    /// What tells of changes
    #[arg(long, value_enum, value_name = "WAY", default_value_t = WatchBy::Best, requires = "watch")]
    pub watch_by: WatchBy,
    /// Changelog of a Lustre MDT and the user registered with it, such as scratch-MDT0000=cl1; one for each MDT
    #[arg(long, value_name = "MDT=USER", requires = "watch")]
    pub changelog: Vec<String>,
}

/// The names of what tells of changes.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum WatchBy {
    /// Changelogs if they are named, else fanotify as root, else inotify
    Best,
    /// One mark for the file system; needs root
    Fanotify,
    /// A watch for each directory
    Inotify,
    /// The changelogs of Lustre that --changelog names: what any client changes
    Changelog,
    /// Nothing: only --rescan finds changes
    Rescan,
}

/// Flags about removing.
#[derive(Debug, Args)]
#[command(next_help_heading = "Removing")]
pub struct Removing {
    /// Remove at the destination what the source no longer has, after all copies
    #[arg(long)]
    pub delete: bool,
    /// The most entries that may be removed [default: the larger of 10 % and 1,000]
    #[arg(long, value_name = "N", requires = "delete")]
    pub max_delete: Option<u64>,
    /// Move removed files to .forebay-trash at the destination instead
    #[arg(long, requires = "delete")]
    pub trash: bool,
    /// Remove from a chunk store all but the newest N manifests, and packs that none of them needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub prune: Option<u64>,
    /// Go on though the source is empty and was not before
    #[arg(long)]
    pub allow_empty_source: bool,
    /// Go on though another file system is mounted at the source than last time
    #[arg(long)]
    pub allow_new_source: bool,
}

/// Flags that choose entries.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choosing entries")]
pub struct Choosing {
    /// Leave out what matches, as in .gitignore; neither copied nor removed
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Take what matches though --exclude matches too
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Name of files in the source whose lines are patterns for what is below
    #[arg(long, value_name = "NAME")]
    pub ignore_file: Vec<String>,
    /// Only the paths in this file, one a line or NUL-separated, with all below them (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "delete")]
    pub files_from: Option<PathBuf>,
    /// Only files of at least this size
    #[arg(long, value_name = "SIZE")]
    pub min_size: Option<Bytes>,
    /// Only files of at most this size
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<Bytes>,
    /// Only files changed within this time, such as 7d
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    pub newer_than: Option<Duration>,
    /// Only files not changed within this time
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    pub older_than: Option<Duration>,
    /// Only files of this user id
    #[arg(long, value_name = "UID")]
    pub owner: Vec<u32>,
    /// Copy fifos and device files too
    #[arg(long)]
    pub special_files: bool,
    /// Leave ACLs alone on both sides, such as for a file system that has none
    #[arg(long)]
    pub no_acls: bool,
    /// Leave other extended attributes alone on both sides
    #[arg(long)]
    pub no_xattrs: bool,
    /// Go into other file systems mounted below the source
    #[arg(long)]
    pub cross_mounts: bool,
}

/// Flags that decide what is done with what differs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparing and copying")]
pub struct SyncJudging {
    /// Leave files alone that are newer at the destination
    #[arg(short, long)]
    pub update: bool,
    /// Where both sides changed since the last sync
    #[arg(long, value_enum, default_value_t = ConflictRule::Source, value_name = "RULE")]
    pub conflict: ConflictRule,
    /// Look at the destination too, not only at what the last sync left there
    #[arg(long)]
    pub check_destination: bool,
    /// Change files of at least this size in place where they can't be cloned [default: 1 GiB]
    #[arg(long, value_name = "SIZE")]
    pub in_place_from: Option<Bytes>,
    /// How a changed file of 64 MiB or more (on another host, 8 MiB) is compared with its old copy
    #[arg(long, value_enum, default_value_t = DeltaRule::Auto, value_name = "RULE")]
    pub delta: DeltaRule,
    /// How an object store holds the tree [default: as it does already, else files]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub layout: Option<LayoutRule>,
    /// Take the tree of this manifest of a chunk store, not the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub manifest: Option<u64>,
    /// What is read back and compared
    #[arg(long, value_enum, default_value_t = VerifyLevel::None, value_name = "LEVEL")]
    pub verify: VerifyLevel,
    /// At most this much per second, perhaps by time of day: 100MB/s, or '08:00,100MB/s 18:00,off'
    #[arg(long, value_name = "LIMIT")]
    pub bwlimit: Option<String>,
}

/// The names of the conflict rules.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ConflictRule {
    /// The source wins
    Source,
    /// What was changed later wins
    Newer,
    /// The destination's is kept under another name
    KeepBoth,
    /// Neither is touched, and the file counts as failed
    Fail,
}

/// The names of the ways to compare.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DeltaRule {
    /// Blocks where they stand, or by content where a few places show that it moved
    Auto,
    /// Blocks where they stand
    Fixed,
    /// By content, wherever it stands; needs room for a second copy
    Content,
    /// Not at all: all of it is copied
    Off,
}

/// The names of the layouts.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LayoutRule {
    /// An object for every entry, under its path, as other programs read it
    Files,
    /// Chunks in packs, and a manifest: only what changed is sent, and the same content once
    Chunks,
}

/// The names of the levels.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum VerifyLevel {
    /// Nothing; all that is read is hashed in any case
    None,
    /// What was copied, before it gets its name
    Transferred,
    /// The same, and one in a hundred of the unchanged
    Sampled,
    /// The same, and all of the unchanged
    All,
}
