//! IO500: its ini file, its phases in order, its scores and the files it writes.
//!
//! Each phase is a command line of IOR or mdtest, read by these languages and run as a test of its own. It is planned when the
//! phases before it are done: how much they wrote in their time is what the later ones read.

mod command;
mod config;
mod documents;
mod phases;
mod printed;
mod score;
#[cfg(test)]
mod tests;
mod verify;

pub use config::{Config, list};
pub use documents::{Timed, csv, result_line, result_text, score_lines, version_line};
pub use phases::{Cast, MORE_PHASES, PHASES, PhaseName, Progress, Room, SOUGHT, Scene, Step, phases};
pub use score::{Judged, Scores, judge};
pub use verify::{Verification, verify};
