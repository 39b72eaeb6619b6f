//! A directory of its own with a target and run records in it, and what the program does there.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Run directories start with this.
pub const PREFIX: &str = "forebay-run-";

pub struct Place {
    dir: TempDir,
}

/// How one call of the program ended.
#[derive(Debug)]
pub struct Call {
    /// Exit code; a signal that ended it counts as 1000 and its number.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    /// With an empty directory `target`. Other users may look into it.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(dir.path().join("target")).unwrap();
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn target(&self) -> PathBuf {
        self.path("target")
    }

    /// The program's arguments in front of which a launcher such as `prlimit` may stand.
    pub fn command_after(&self, launcher: &[&str], arguments: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_forebay");
        let mut words = launcher.iter().copied().chain([program]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(arguments);
        command.env_clear().env("FOREBAY_RUNS_DIR", self.path("runs"));
        command.env("HOME", self.dir.path()).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_after(&[], arguments)
    }

    pub fn call(&self, arguments: &[&str]) -> Call {
        call(self.command(arguments))
    }

    /// `forebay run` of a workload on a target.
    pub fn run_command(&self, workload: &str, target: &Path) -> Command {
        std::fs::write(self.path("workload.toml"), workload).unwrap();
        let mut command = self.command(&["run", "workload.toml", "--format", "jsonl", "--target"]);
        command.arg(target);
        command
    }

    pub fn clean(&self, target: &Path, options: &[&str]) -> Call {
        let mut command = self.command(&["clean"]);
        command.arg(target).args(options);
        call(command)
    }

    /// All run records, by file name. Every file with a final name must be a whole document.
    pub fn records(&self) -> BTreeMap<String, Value> {
        let Ok(entries) = std::fs::read_dir(self.path("runs")) else { return BTreeMap::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                (path.file_name().unwrap().to_string_lossy().into_owned(), value)
            })
            .collect()
    }

    /// The only record.
    pub fn record(&self) -> Value {
        let records = self.records();
        assert_eq!(records.len(), 1, "{:?}", records.keys());
        records.into_values().next().unwrap()
    }

    /// The partial record of a run that ended early: kept, marked, and never valid.
    #[track_caller]
    pub fn assert_partial(&self, state: &str) -> Value {
        let record = self.record();
        assert_eq!(record["state"], state, "{}", record["error"]);
        assert!(record["error"]["message"].is_string());
        let list = self.call(&["runs", "list", "--format", "jsonl"]);
        let line: Value = serde_json::from_str(list.out.trim()).unwrap();
        assert_eq!(line["state"], state);
        let shown = self.call(&["runs", "show", "latest"]);
        assert!(shown.out.ends_with("numbers: not valid\n"), "{}", shown.out);
        record
    }

    /// Nothing was begun, so nothing is kept.
    #[track_caller]
    pub fn assert_no_record(&self) {
        assert_eq!(self.records().len(), 0);
    }
}

pub fn call(mut command: Command) -> Call {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Call { code: code(output.status), out: text(output.stdout), err: text(output.stderr) }
}

pub fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 1000 + status.signal().unwrap_or(0))
}

impl Call {
    /// A failure as every one must be told: exit code 1, what is wrong in `words`, and a hint.
    #[track_caller]
    pub fn assert_failed(&self, words: &[&str]) {
        assert_eq!(self.code, 1, "{self:?}");
        let text = format!("{}\n{}", self.err, self.error().unwrap_or_default());
        assert!(text.contains("error: ") && text.contains("hint: "), "{self:?}");
        for word in words {
            assert!(text.contains(word), "{word:?} is missing in {self:?}");
        }
    }

    /// The error envelope of the JSON formats in the words of the text format.
    fn error(&self) -> Option<String> {
        let line = self.err.lines().find(|line| line.contains("\"kind\":\"error\""))?;
        let data = serde_json::from_str::<Value>(line).unwrap()["data"].take();
        assert_eq!(data["exit_code"], self.code);
        Some(format!("error: {}\nhint: {}", data["message"].as_str()?, data["hint"].as_str()?))
    }
}

/// The program where every user can run it, with a target and a place for records that everyone may write to.
pub fn for_everyone(place: &Place) -> PathBuf {
    let program = place.path("forebay");
    std::fs::copy(env!("CARGO_BIN_EXE_forebay"), &program).unwrap();
    std::fs::create_dir(place.path("runs")).unwrap();
    for name in ["runs", "target"] {
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    program
}

/// Names in a directory, but for what mkfs makes.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}

#[track_caller]
pub fn assert_empty(dir: &Path) {
    assert_eq!(names(dir), Vec::<String>::new());
}

/// Every entry below a directory: what it is, and when and with what it was last changed.
pub fn snapshot(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for name in names(dir) {
        let path = dir.join(name);
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let mode = meta.permissions().mode();
        found.insert(path.clone(), format!("{mode:o} {:?} {content:x?}", meta.modified().unwrap()));
        if meta.is_dir() {
            found.extend(snapshot(&path));
        }
    }
    found
}
