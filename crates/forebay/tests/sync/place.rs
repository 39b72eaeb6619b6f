use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::trees::{differences, picture};

/// A source, a destination and a state of a test's own.
pub struct Place {
    dir: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Call {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    /// In the system's temporary directory, or below `dir`.
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub fn destination(&self) -> PathBuf {
        self.path("destination")
    }

    /// Writes files below the source.
    pub fn write(&self, files: &[(&str, &str)]) {
        for (name, content) in files {
            let path = self.source().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }

    /// The command, with the state in a place of its own.
    pub fn command(&self, from: &Path, to: &Path, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.arg("sync").arg(from).arg(to).arg("--state").arg(self.path("state")).args(flags);
        command.stdin(Stdio::null());
        command
    }

    pub fn sync(&self, flags: &[&str]) -> Call {
        call(self.command(&self.source(), &self.destination(), flags))
    }

    /// Syncs, expects that all went well, and returns the record.
    #[track_caller]
    pub fn sync_well(&self, flags: &[&str]) -> Value {
        let call = self.sync(&[flags, &["--format", "json"]].concat());
        assert_eq!(call.code, Some(0), "{call:?}");
        call.record()
    }

    #[track_caller]
    pub fn assert_equal(&self) {
        let lines = differences(&picture(&self.source()), &picture(&self.destination()));
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    pub fn has(&self, name: &str) -> bool {
        self.destination().join(name).symlink_metadata().is_ok()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.destination().join(name)).unwrap()
    }
}

pub fn call(mut command: Command) -> Call {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Call { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Call {
    /// The job's record, of a call with `--format json`.
    #[track_caller]
    pub fn record(&self) -> Value {
        serde_json::from_str::<Value>(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))["data"]
            .take()
    }

    /// A failure as every one must be told.
    #[track_caller]
    pub fn assert_failed(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains("error: ") && self.err.contains("hint: "), "{self:?}");
        words.iter().for_each(|word| assert!(self.err.contains(word), "{word:?} is missing in {self:?}"));
    }
}
