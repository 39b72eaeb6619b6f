//! The field's command lines, typed as for the originals, and what parsers written for these find in the output.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod io500;
mod mdtest;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use record::RunRecord;
use tempfile::TempDir;

/// A directory in memory, with a place for records and results beside it.
struct Place {
    memory: TempDir,
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        let memory = tempfile::Builder::new().prefix("field").tempdir_in("/dev/shm").unwrap();
        Self { memory, home: tempfile::tempdir().unwrap() }
    }

    fn target(&self) -> String {
        self.memory.path().join("md").display().to_string()
    }

    /// Runs `forebay` in the home directory.
    fn forebay(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.current_dir(self.home.path()).env("HOME", self.home.path()).env_remove("XDG_DATA_HOME");
        let Output { status, stdout, stderr } = command.args(arguments).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    /// The same, which has to end well; returns standard output.
    fn expect(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.forebay(arguments);
        assert_eq!(code, Some(0), "{arguments:?}\n{out}\n{err}");
        out
    }

    /// The newest record.
    fn record(&self) -> RunRecord {
        let out = self.expect(&["runs", "export", "latest", "--as", "json"]);
        serde_json::from_str(&out).unwrap()
    }
}

/// Everything below a directory, as paths from it.
fn listing(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(entries) = std::fs::read_dir(directory) else { return names };
    for entry in entries.map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(listing(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        }
        names.push(name);
    }
    names.sort();
    names
}
