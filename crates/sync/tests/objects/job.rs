use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use sync::{Counters, Deletes, Event, Filter, Layout, Options, Verify, Watcher};
use testkit::servers::Server;
use testkit::trees::{Picture, differences, picture};

/// Says to this program that it is the process of a job, and which.
const JOB: &str = "FOREBAY_TEST_JOB";

/// What a job is asked to do.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Order {
    pub source: PathBuf,
    pub destination: PathBuf,
    pub state: PathBuf,
    pub delete: bool,
    pub most: Option<u64>,
    pub dry_run: bool,
    pub check_destination: bool,
    pub verify_all: bool,
    pub verify: Option<Verify>,
    pub layout: Option<Layout>,
    pub prune: Option<u64>,
    pub manifest: Option<u64>,
    pub exclude: Vec<String>,
}

/// What became of a job.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// The record, of a job that came to an end.
    pub record: Value,
    /// The error of one that did not.
    pub error: Option<String>,
    /// Failures and notes as they were told, and steps of the plan.
    pub told: Vec<String>,
}

impl Report {
    pub fn entries(&self, name: &str) -> u64 {
        self.record["entries"][name].as_u64().unwrap()
    }

    pub fn bytes(&self, name: &str) -> u64 {
        self.record["bytes"][name].as_u64().unwrap()
    }

    #[track_caller]
    pub fn assert_complete(&self) {
        assert_eq!(self.record["state"], "complete", "{self:#?}");
    }
}

/// Trees and states of a test's own.
pub struct Place {
    dir: tempfile::TempDir,
    variables: Vec<(String, String)>,
    pub url: String,
}

impl Place {
    /// With a server that is reached as its variables say.
    pub fn new(server: &Server) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            variables: server.variables.clone(),
            url: server.url.clone(),
        }
    }

    pub fn with_variables(mut self, variables: Vec<(String, String)>) -> Self {
        self.variables = variables;
        self
    }

    /// Variables of a second server beside the first.
    pub fn and(mut self, server: &Server) -> Self {
        self.variables.extend(server.variables.clone());
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn location(&self, prefix: &str) -> PathBuf {
        PathBuf::from(format!("{}{prefix}", self.url))
    }

    /// From one place to another; places with `://` are taken as they are, others are trees of this test.
    pub fn order(&self, source: &Path, destination: &Path) -> Order {
        let pair = chunk_of(format!("{}>{}", source.display(), destination.display()).as_bytes());
        Order {
            source: source.to_owned(),
            destination: destination.to_owned(),
            state: self.path(&format!("state-{pair}")),
            ..Order::default()
        }
    }

    fn command(&self, order: &Order) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "job::the_process_of_a_job", "--nocapture", "--test-threads=1"]);
        command.env(JOB, serde_json::to_string(order).unwrap()).envs(self.variables.iter().cloned());
        command.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null());
        command
    }

    pub fn run(&self, order: &Order) -> Report {
        let output = self.command(order).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.split_once("REPORT ")).map(|(_, line)| line.to_owned());
        let line = line.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
        serde_json::from_str(&line).unwrap()
    }

    #[track_caller]
    pub fn run_well(&self, order: &Order) -> Report {
        let report = self.run(order);
        report.assert_complete();
        report
    }

    /// Starts a job that somebody will kill.
    pub fn spawn(&self, order: &Order) -> std::process::Child {
        self.command(order).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

fn chunk_of(bytes: &[u8]) -> String {
    bytes.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte))).to_string()
}

/// The trees must be equal.
#[track_caller]
pub fn assert_equal(expected: &Path, found: &Path) {
    assert_same(&picture(expected), &picture(found));
}

#[track_caller]
pub fn assert_same(expected: &Picture, found: &Picture) {
    let lines = differences(expected, found);
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

struct Teller(std::sync::Mutex<Vec<String>>);

impl Watcher for Teller {
    fn event(&self, event: &Event<'_>) {
        let line = match event {
            Event::Failed(path, fault) | Event::Unstable(path, fault) => {
                format!("failed {}: {fault}", sync::printable(path))
            }
            Event::Note(text) => format!("note {text}"),
            Event::Planned(step) => format!("{} {}", step.act.word(), sync::printable(step.path)),
            Event::Stage(_) => return,
        };
        self.0.lock().unwrap().push(line);
    }

    fn stopping(&self) -> bool {
        false
    }
}

/// Does nothing unless this process was started by [`Place::run`] or [`Place::spawn`].
#[test]
#[allow(clippy::print_stdout, reason = "the process that started this one reads it")]
fn the_process_of_a_job() {
    let Ok(order) = std::env::var(JOB) else { return };
    let order: Order = serde_json::from_str(&order).unwrap();
    let mut filter = Filter::default();
    filter.set_patterns(&order.exclude, &[]).unwrap();
    let options = Options {
        source: order.source,
        destination: order.destination,
        state: Some(order.state),
        delete: order.delete.then_some(Deletes { most: order.most, trash: false }),
        dry_run: order.dry_run,
        check_destination: order.check_destination,
        verify: order.verify.unwrap_or(if order.verify_all { Verify::All } else { Verify::None }),
        layout: order.layout,
        prune: order.prune,
        manifest: order.manifest,
        special_files: true,
        filter,
        workers: Some(8),
        ..Options::default()
    };
    let teller = Teller(std::sync::Mutex::default());
    let done = sync::run(&options, &teller, &Counters::default());
    let (record, error) = match done {
        Ok(record) => (serde_json::to_value(record).unwrap(), None),
        Err(fault) => (Value::Null, Some(format!("{fault} / {}", fault.hint_text().unwrap_or("no hint")))),
    };
    let report = Report { record, error, told: teller.0.into_inner().unwrap() };
    println!("REPORT {}", serde_json::to_string(&report).unwrap());
}
