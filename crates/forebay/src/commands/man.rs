use std::path::Path;

use clap::CommandFactory as _;
use fault::Fault;

use super::{Context, Result};
use crate::cli::{Cli, Man};
use crate::exit::Outcome;

/// Prints the main page, or writes all pages into a directory.
pub fn run(context: &Context, arguments: &Man) -> Result {
    match &arguments.dir {
        Some(dir) => write_all(context, dir),
        None => print_main(context),
    }
}

fn print_main(context: &Context) -> Result {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(Cli::command()).render(&mut page);
    written.map_err(|error| Fault::os("render", Path::new("forebay.1"), error))?;
    context.printer.data(String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}

fn write_all(context: &Context, dir: &Path) -> Result {
    std::fs::create_dir_all(dir).map_err(|error| Fault::os("create", dir, error))?;
    let commands = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(commands, dir)
        .map_err(|error| Fault::os("write manual pages to", dir, error))?;
    context.printer.say(format!("manual pages are in {}", dir.display()));
    Ok(Outcome::Done)
}
