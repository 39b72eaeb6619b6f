//! What a run shows while it goes on: the whole of a real terminal, lines of JSON, figures for Prometheus.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod figures;
mod terminal;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory with a target and a workload that runs for two seconds and more.
struct Place(TempDir);

const WORKLOAD: &str = r#"
version = 1
ranks = 2
engine = "psync"
[files]
block_size = "1 MiB"
[[phases]]
name = "write"
[phases.stop]
time = "2500 ms"
repeat = true
[[phases.jobs]]
[phases.jobs.activity.transfer]
read = "0%"
transfer_size = { fixed = "64 KiB" }
fsync = "never"
"#;

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("target")).unwrap();
        std::fs::write(place.path("workload.toml"), WORKLOAD).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `forebay run` with more arguments.
    fn run(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.args(["run", "workload.toml", "-t", "target"]).args(more);
        command.env_clear().env("FOREBAY_RUNS_DIR", self.path("runs")).env("HOME", self.0.path());
        command.env("TERM", "xterm-256color").current_dir(self.0.path()).stdin(Stdio::null());
        command
    }
}
