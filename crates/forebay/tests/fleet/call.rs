//! Calls of the program, with a place for records of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use testkit::lab::{Gluster, Lab, wait_until};
use testkit::skip::Need;

pub fn forebay() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_forebay"))
}

/// How a call ended.
#[derive(Debug)]
pub struct Call {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn call(command: &mut Command) -> Call {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Call { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

impl Call {
    /// It succeeded; the data of its JSON document.
    #[track_caller]
    pub fn data(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        let start = self.out.find('{').unwrap_or_else(|| panic!("{self:?}"));
        let mut values = serde_json::Deserializer::from_str(&self.out[start..]).into_iter::<Value>();
        values.next().unwrap().unwrap()["data"].take()
    }

    /// It was refused before anything was made, with these words.
    #[track_caller]
    pub fn assert_refused(&self, words: &[&str]) {
        assert!([1, 2].contains(&self.code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in {self:?}");
        }
    }
}

/// `forebay` on a host of a lab, with its records in the lab's directory.
pub fn on(lab: &Lab, host: usize, words: &[&str]) -> Command {
    let mut command = lab.command(host, forebay().to_str().unwrap());
    command.args(words).env("FOREBAY_RUNS_DIR", lab.dir().join("runs")).env("HOME", lab.dir());
    command
}

/// All records that calls of [`on`] have left.
pub fn records(runs: &Path) -> Vec<Value> {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// Names in a directory.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// A workload of two ranks on each host that writes, and then reads for `read_seconds` if any.
pub fn workload(lab_dir: &Path, more: &str) -> PathBuf {
    let text = format!(
        "version = 1\nname = \"fleet\"\nengine = \"psync\"\nranks = 2\n[files]\nblock_size = \"1 MiB\"\n\
         [[phases]]\nname = \"write\"\n[[phases.jobs]]\n[phases.jobs.activity.transfer]\nread = \"0%\"\n\
         transfer_size = {{ fixed = \"64 KiB\" }}\n{more}"
    );
    let path = lab_dir.join("workload.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A requirement that any storage meets, and a sweep.
pub const SPEC: &str = "version = 1\n[grid]\nname = \"lab\"\npcores = 6\nclients = 3\n[[storage]]\nname = \"scratch\"\nrole = \"work\"\n\
    write_per_pcore = \"1 kB/s\"\nread_per_pcore = \"1 kB/s\"\n[[test]]\nname = \"short\"\ntest = \"iotest\"\nfile_size = \"2 MiB\"\n\
    [[sweep]]\nname = \"scaling\"\nhosts = [1, 3]\nranks = [1, 2]\n";

/// The configuration of a small IO500 on `target`, and where its results go.
pub fn io500(dir: &Path, target: &Path) -> (PathBuf, PathBuf) {
    let (ini, results) = (dir.join("io500.ini"), dir.join("results"));
    let text = format!(
        "[global]\ndatadir = {}/io500\nresultdir = {}\ntimestamp-datadir = FALSE\n[ior-easy]\nblockSize = 4m\n\
         [mdtest-easy]\nn = 20\n[ior-hard]\nsegmentCount = 20\n[mdtest-hard]\nn = 10\n",
        target.display(),
        results.display()
    );
    std::fs::write(&ini, text).unwrap();
    (ini, results)
}

/// A phase that reads until somebody stops it.
pub const ENDLESS: &str = "[[phases]]\nname = \"read\"\n[[phases.jobs]]\n[phases.jobs.activity.transfer]\nread = \"100%\"\n\
    transfer_size = { fixed = \"64 KiB\" }\npacing = { open = { operations_per_second = 50.0 } }\n[phases.stop]\ntime = \"1 h\"\nrepeat = true\n";

/// A lab of a host to type on and three to run on, and the file system that all of them share.
pub fn lab(what: &str) -> Option<(Lab, PathBuf)> {
    let ssh = [Need::Program("sshd"), Need::Program("ssh"), Need::Program("ssh-keygen")];
    let mut lab = Lab::new(what, 4, &[ssh.as_slice(), &Gluster::NEEDS].concat())?;
    lab.start_sshd(&[1, 2, 3]);
    let volume = Gluster::serve(&mut lab, 0);
    let shared = volume.mount(&mut lab, &[0, 1, 2, 3]);
    Some((lab, shared))
}

pub fn assert_nothing_is_left(lab: &Lab, shared: &Path) {
    for host in 1..=3 {
        wait_until("the end of all agents", || lab.processes(host, &forebay()).is_empty());
    }
    let listed = lab.run(1, &["ls", "-A", shared.to_str().unwrap()]);
    assert_eq!(listed.trim(), "");
}

/// `forebay` on the host that one types on, over the three others, with its data as JSON.
pub fn over(lab: &Lab, words: &[&str]) -> Command {
    let mut command = on(lab, 0, words);
    command.args(["--hosts", "h[1-3]", "--ssh", &lab.ssh(), "--host-timeout", "5s"]);
    command
}

/// The phases of a test of a record, by name.
#[track_caller]
pub fn phase<'r>(record: &'r Value, test: usize, name: &str) -> &'r Value {
    let phases = record["tests"][test]["repetitions"][0]["phases"].as_array().unwrap();
    let found = phases.iter().find(|phase| phase["name"] == name);
    found.unwrap_or_else(|| {
        panic!("no phase {name} in {:?}", phases.iter().map(|p| &p["name"]).collect::<Vec<_>>())
    })
}
