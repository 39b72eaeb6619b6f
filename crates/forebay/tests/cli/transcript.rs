//! A directory of its own, and what `forebay` says in it.

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;
use testkit::redact::Redactor;

/// A place to run the program in: an empty directory that is also its home.
pub struct Place {
    dir: TempDir,
}

/// What one call of the program did.
#[derive(Debug)]
pub struct Call {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The program, ready to be called here, knowing nothing of the environment of the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.env_clear().env("HOME", self.path()).current_dir(self.path()).args(arguments);
        command
    }

    pub fn call(&self, arguments: &[&str]) -> Call {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Call { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// A call as it is kept in a snapshot.
    pub fn transcript(&self, arguments: &[&str]) -> String {
        let call = self.call(arguments);
        let line = arguments.join(" ");
        let text = format!(
            "$ forebay {line}\nexit: {}\n--- stdout\n{}--- stderr\n{}",
            call.code, call.out, call.err
        );
        Redactor::new().path(self.path(), "dir").apply(&text)
    }
}
