//! The `forebay` program: parses the command line, runs one command, and says how it went by its exit code.

mod app;
mod cli;
mod commands;
mod design;
mod exit;
mod failure;
mod logs;
mod question;
mod settings;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    app::run(&std::env::args_os().collect::<Vec<_>>())
}
