use clap::Args;

/// What protects the target, and how to insist.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Safety")]
pub struct Guards {
    /// Allow filling the file system beyond 90 %
    #[arg(long)]
    pub fill_beyond: bool,
    /// Leave the files of the last repetition in the target
    #[arg(long)]
    pub keep_files: bool,
    /// Refuse to run unless the target is on this file system (lustre, nfs4, xfs): notices a missing mount
    #[arg(long, value_name = "TYPE")]
    pub expect_file_system: Option<String>,
}
