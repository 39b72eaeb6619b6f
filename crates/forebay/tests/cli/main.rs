//! The command line as users see it: exit code, standard output and standard error of the real program.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod design;
mod errors;
mod help;
mod import;
mod init;
mod ior;
mod learning;
mod output;
mod planning;
mod runs;
mod shell_files;
mod sweep;
mod transcript;
mod vdbench;
