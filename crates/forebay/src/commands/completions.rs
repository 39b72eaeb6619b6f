use clap::CommandFactory as _;

use super::{Context, Result};
use crate::cli::{Cli, Completions};
use crate::exit::Outcome;

/// Prints a completion script.
pub fn run(context: &Context, arguments: &Completions) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "forebay", &mut script);
    context.printer.data(String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
