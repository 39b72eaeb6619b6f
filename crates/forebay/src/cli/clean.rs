use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  forebay clean /mnt/data --dry-run
  forebay clean /mnt/data";

/// Remove what killed runs left below a directory, and nothing else
///
/// A run keeps a journal of the files it makes. This removes the files named in journals of runs that are no longer
/// alive; files you made are never touched, and symlinks are not followed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Clean {
    /// Directory that was the target of runs
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Show what would be removed, remove nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also remove what runs of other hosts left: from here nobody can tell whether they are still alive
    #[arg(long)]
    pub other_hosts: bool,
}
