//! One file per command: each turns its flags into calls of the rooms below, and their answers into output.

mod catalog;
mod clean;
mod completions;
mod ending;
mod files;
mod init;
mod iotest;
mod man;
mod measure;
mod plan;
mod prove;
mod run;
mod runs;
mod size;
mod spec;

use console::Printer;

use crate::cli::{CatalogAction, Command, RunsAction, SpecAction};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::signals;

/// What every command gets.
pub struct Context {
    /// The way out.
    pub printer: Printer,
    /// What flags and environment decide for all commands.
    pub settings: Settings,
}

/// What every command returns.
pub type Result = std::result::Result<Outcome, Failure>;

/// Runs one command.
pub fn run(context: &Context, command: Command) -> Result {
    if matches!(command, Command::Prove(_) | Command::Iotest(_) | Command::Run(_) | Command::Clean(_)) {
        signals::install(&context.printer)?;
    }
    match command {
        Command::Plan(arguments) => plan::run(context, &arguments),
        Command::Size(arguments) => size::run(context, &arguments),
        Command::Catalog(arguments) => match arguments.action {
            CatalogAction::List(arguments) => catalog::list(context, &arguments),
            CatalogAction::Show(arguments) => catalog::show(context, &arguments),
            CatalogAction::Check(arguments) => catalog::check(context, &arguments),
            CatalogAction::Diff(arguments) => catalog::diff(context, &arguments),
            CatalogAction::Refresh(arguments) => catalog::refresh(context, &arguments),
            CatalogAction::Calibrate(arguments) => catalog::calibrate(context, &arguments),
        },
        Command::Prove(arguments) => prove::run(context, &arguments),
        Command::Iotest(arguments) => iotest::run(context, &arguments),
        Command::Run(arguments) => run::run(context, &arguments),
        Command::Clean(arguments) => clean::run(context, &arguments),
        Command::Init(arguments) => init::run(context, &arguments),
        Command::Spec(arguments) => match arguments.action {
            SpecAction::Check(arguments) => spec::check(context, &arguments),
            SpecAction::Schema => spec::schema(context),
        },
        Command::Runs(arguments) => match arguments.action {
            RunsAction::List(arguments) => runs::list(context, &arguments),
            RunsAction::Show(arguments) => runs::show(context, &arguments),
            RunsAction::Export(arguments) => runs::export(context, &arguments),
            RunsAction::Compare(arguments) => runs::compare(context, &arguments),
            RunsAction::Report(arguments) => runs::report(context, &arguments),
            RunsAction::Rm(arguments) => runs::remove(context, &arguments),
        },
        Command::Completions(arguments) => completions::run(context, &arguments),
        Command::Man(arguments) => man::run(context, &arguments),
    }
}
