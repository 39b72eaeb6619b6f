use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay completions bash > ~/.local/share/bash-completion/completions/forebay
  forebay completions fish > ~/.config/fish/completions/forebay.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Print the manual page, or write the pages of all commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay man | man -l -
  forebay man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Write one page per command into this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
