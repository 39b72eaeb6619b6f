//! Trees on other hosts: a host to type on and two with a real sshd each. docs/SEMANTICS.md names these tests.

mod attack;
mod cuts;
mod delta;
mod links;
mod refusals;
mod renamed;
mod round_trip;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::lab::Lab;
use testkit::skip::Need;
use testkit::trees::{differences, picture};

use crate::place::{Call, call};

const SSH: [Need; 3] = [Need::Program("sshd"), Need::Program("ssh"), Need::Program("ssh-keygen")];

pub fn forebay() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_forebay"))
}

/// Hosts, of which all but the first have an sshd, and trees that all of them see.
pub struct Hosts {
    pub lab: Lab,
    dir: tempfile::TempDir,
    _namespaces: std::sync::RwLockReadGuard<'static, ()>,
}

impl Hosts {
    #[track_caller]
    pub fn new(what: &str, hosts: usize) -> Option<Self> {
        let namespaces = crate::devices::with_namespaces();
        let mut lab = Lab::new(what, hosts + 1, &SSH)?;
        lab.start_sshd(&(1..=hosts).collect::<Vec<_>>());
        Some(Self { lab, dir: tempfile::tempdir().unwrap(), _namespaces: namespaces })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The tree `name` as it is called from the first host: here, or on another.
    pub fn tree(&self, host: usize, name: &str) -> String {
        let path = self.path(name);
        if host == 0 { path.display().to_string() } else { format!("h{host}:{}", path.display()) }
    }

    /// A sync typed on the first host, with a state for each pair.
    pub fn command(&self, from: &str, to: &str, flags: &[&str]) -> Command {
        self.command_of(&forebay(), from, to, flags)
    }

    pub fn command_of(&self, program: &Path, from: &str, to: &str, flags: &[&str]) -> Command {
        let mut command = self.lab.command(0, program.to_str().unwrap());
        let state = format!("state-{}", format!("{from}>{to}").replace(|c: char| !c.is_alphanumeric(), "-"));
        command.args(["sync", from, to, "--ssh", &self.lab.ssh()]);
        command.args(["--state", self.path(&state).to_str().unwrap()]).args(flags);
        command.env("HOME", self.lab.dir()).stdin(Stdio::null());
        command
    }

    pub fn sync(&self, from: &str, to: &str, flags: &[&str]) -> Call {
        call(self.command(from, to, flags))
    }

    /// Syncs, expects that all went well, and returns the record.
    #[track_caller]
    pub fn sync_well(&self, from: &str, to: &str, flags: &[&str]) -> Value {
        let call = self.sync(from, to, &[flags, &["--format", "json"]].concat());
        assert_eq!(call.code, Some(0), "{call:?}");
        call.record()
    }

    #[track_caller]
    pub fn assert_equal(&self, one: &str, other: &str) {
        let lines = differences(&picture(&self.path(one)), &picture(&self.path(other)));
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    /// Makes files of this size.
    pub fn fill(&self, tree: &str, files: usize, size: usize) {
        for number in 0..files {
            let dir = self.path(tree).join(format!("d{:02}", number % 10));
            std::fs::create_dir_all(&dir).unwrap();
            let content: Vec<u8> = (0..size).map(|at| (at * 7 + number * 13 + at / 251) as u8).collect();
            std::fs::write(dir.join(number.to_string()), content).unwrap();
        }
    }
}

/// Processes that `parent` started, of this name.
pub fn children(parent: u32, name: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let Some((start, rest)) = stat.rsplit_once(") ") else { return false };
        let is_of = rest.split(' ').nth(1).and_then(|ppid| ppid.parse().ok()) == Some(parent);
        is_of && start.ends_with(&format!("({name}"))
    })
    .collect()
}
