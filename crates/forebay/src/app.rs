//! One run of the program: command line, settings, command, exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use console::{Format, Printer};

use crate::cli::{Cli, foreign};
use crate::commands::{self, Context};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::{exit, logs};

/// Runs the command that `arguments` ask for.
pub fn run(arguments: &[OsString]) -> ExitCode {
    if arguments.len() <= 1 {
        // clap's own help for this case stays away where an environment variable stands for an option.
        let failure = Failure::CommandLine(Cli::command().render_help());
        failure.tell(&printer(wanted_format(arguments), false));
        return exit::code(failure.exit_code());
    }
    let cli = match Cli::try_parse_from(foreign::arranged(arguments)) {
        Ok(cli) => cli,
        Err(error) => return exit::code(not_a_command(&error, arguments)),
    };
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let settings = Settings::new(&cli.global, words);
    logs::start(settings.verbosity);
    let printer = self::printer(settings.format, settings.quiet);
    let context = Context::new(printer, settings);
    let code = match commands::run(&context, cli.command) {
        Ok(outcome) => exit::of_outcome(outcome),
        Err(failure) => {
            failure.tell(&context.printer);
            failure.exit_code()
        }
    };
    commands::farewell(code);
    exit::code(code)
}

/// Of the many processes that a launcher started, one speaks.
fn printer(format: Format, quiet: bool) -> Printer {
    if commands::is_silent() {
        return Printer::to(format, true, Box::new(std::io::sink()), Box::new(std::io::sink()));
    }
    Printer::new(format, quiet)
}

/// Help and versions are data; everything else clap says is an error in the command line.
fn not_a_command(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let printer = self::printer(wanted_format(arguments), false);
    let failure = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match printer.data(error.render().ansi()) {
            Ok(()) => return exit::of_outcome(exit::Outcome::Done),
            Err(fault) => fault.into(),
        },
        _ => Failure::CommandLine(error.render()),
    };
    failure.tell(&printer);
    failure.exit_code()
}

/// The format in a command line that could not be understood as a whole.
fn wanted_format(arguments: &[OsString]) -> Format {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let after_flag = words.windows(2).filter(|pair| pair[0] == "--format").map(|pair| pair[1]);
    let name = words.iter().filter_map(|word| word.strip_prefix("--format=")).chain(after_flag).next_back();
    match name {
        Some("json") => Format::Json,
        Some("jsonl") => Format::Jsonl,
        _ => Format::Text,
    }
}
