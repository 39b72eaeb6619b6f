//! Hosts that are namespaces of this machine: each with its own network, processes, mounts, name and, if wanted, clock, joined
//! by a switch. Everything is removed when the lab is dropped, also by a panic.
//!
//! Nothing else uses it than tests: what goes wrong here is a panic.
//!
//! They share this machine's files, so that a program or a key is where it is on all of them.

#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test that panics has failed")]

mod gluster;
mod host;
mod slurm;
mod sshd;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::skip::{Need, can, program};
pub use gluster::Gluster;
use host::Host;
pub use slurm::Slurm;

/// Nothing here may take this long.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a lab needs of a machine.
pub const NEEDS: [Need; 5] = [
    Need::Root,
    Need::Program("ip"),
    Need::Program("nsenter"),
    Need::Program("unshare"),
    Need::Program("setpriv"),
];

/// Labs of one process differ by this.
static LABS: AtomicU32 = AtomicU32::new(0);

/// Some hosts and the switch between them. They are called `h0`, `h1`, and so on.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<Host>,
    switch: String,
    dir: TempDir,
}

impl Lab {
    /// So many hosts. `None`, after saying why, where that can't be done.
    #[track_caller]
    pub fn new(what: &str, hosts: usize, more_needs: &[Need]) -> Option<Self> {
        Self::with_clocks(what, &vec![0; hosts], more_needs)
    }

    /// A host for each of `clocks`, whose monotonic clock is so many seconds ahead of this machine's.
    #[track_caller]
    pub fn with_clocks(what: &str, clocks: &[i64], more_needs: &[Need]) -> Option<Self> {
        if !can(what, &[&NEEDS, more_needs].concat()) {
            return None;
        }
        sweep();
        let number = LABS.fetch_add(1, Ordering::Relaxed);
        let name = format!("forebay-{}-{number}", std::process::id());
        let switch = format!("{name}-switch");
        let dir = tempfile::Builder::new().prefix("forebay-lab").tempdir().unwrap();
        let mut lab = Self { hosts: Vec::new(), switch, dir };
        tool("ip", &["netns", "add", &lab.switch]);
        tool("ip", &["-n", &lab.switch, "link", "add", "br0", "type", "bridge"]);
        tool("ip", &["-n", &lab.switch, "link", "set", "br0", "up"]);
        // A network of this lab's own, in case two labs can see each other.
        let network = format!("10.{}.{}", 64 + std::process::id() % 64, number % 250);
        for (place, clock) in clocks.iter().enumerate() {
            let address = format!("{network}.{}", place + 1);
            lab.hosts.push(Host::new(&name, place, address, &lab.switch, *clock));
        }
        Some(lab)
    }

    /// A directory of the lab's own.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The address of a host.
    pub fn address(&self, host: usize) -> &str {
        &self.hosts[host].address
    }

    /// A command on a host. Its process is a child of this one, and gets its signals.
    pub fn command(&self, host: usize, name: &str) -> Command {
        let path = if name.contains('/') { PathBuf::from(name) } else { installed(name) };
        let mut command = self.hosts[host].enter();
        command.arg(path);
        command
    }

    /// Runs a command on a host; its output, whatever comes of it.
    pub fn try_run(&self, host: usize, words: &[&str]) -> Output {
        self.command(host, words[0]).args(&words[1..]).output().unwrap()
    }

    /// Runs a command on a host that must succeed; what it wrote.
    #[track_caller]
    pub fn run(&self, host: usize, words: &[&str]) -> String {
        let output = self.try_run(host, words);
        let err = String::from_utf8_lossy(&output.stderr);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "h{host} {words:?}: {out}{err}");
        out
    }

    /// Starts something on a host that goes on until the lab ends.
    pub fn start(&mut self, host: usize, words: &[&str]) {
        self.hosts[host].start(words, &self.dir.path().join(format!("h{host}.log")));
    }

    /// What is started on a host has said this in its log.
    pub fn log(&self, host: usize) -> String {
        std::fs::read_to_string(self.dir.path().join(format!("h{host}.log"))).unwrap_or_default()
    }

    /// Pulls a host's cable.
    pub fn cut(&self, host: usize) {
        tool("ip", &["-n", &self.switch, "link", "set", &format!("e{host}"), "down"]);
    }

    /// Processes of a host that run `program`, as this machine numbers them.
    pub fn processes(&self, host: usize, program: &Path) -> Vec<u32> {
        self.hosts[host].processes(program)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.hosts.clear();
        quietly("ip", &["netns", "del", &self.switch]);
    }
}

/// Removes the networks of tests that were killed.
fn sweep() {
    for entry in std::fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process =
            name.strip_prefix("forebay-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            quietly("ip", &["netns", "del", &name]);
        }
    }
}

/// Looks again and again until `condition` holds.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn installed(name: &str) -> PathBuf {
    program(name).unwrap_or_else(|| panic!("`{name}` is not installed"))
}

/// Runs a program of this machine that must succeed.
#[track_caller]
fn tool(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(installed(name)).args(arguments).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {words}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a program of this machine, whatever comes of it.
fn quietly(name: &str, arguments: &[&str]) {
    if let Some(path) = program(name) {
        let _ = Command::new(path).args(arguments).output();
    }
}
