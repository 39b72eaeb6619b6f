//! PostgreSQL on a Unix socket, in a directory of its own, as a user that is not root.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::PATIENCE;

/// The user and group `nobody`.
const NOBODY: u32 = 65534;
const PASSWORD: &str = "pass:of\\tests";

/// A server that runs; killed when it is dropped.
#[derive(Debug)]
pub struct Postgres {
    child: Child,
    dir: TempDir,
}

/// Where its programs are, if they are installed: on the path, or where Debian puts them.
pub fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(debian).collect();
    folders.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// Starts one. Its user `forebay` logs in with a password.
pub fn postgres() -> Postgres {
    let programs = programs().unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(dir.path().join("password"), PASSWORD).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let data = dir.path().join("data");
    let mut initdb = as_nobody(&programs.join("initdb"), dir.path());
    initdb.arg("-D").arg(&data).args([
        "-U",
        "forebay",
        "-A",
        "scram-sha-256",
        "--no-locale",
        "-E",
        "UTF8",
        "--no-sync",
    ]);
    let made = initdb.arg("--pwfile").arg(dir.path().join("password")).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut server = as_nobody(&programs.join("postgres"), dir.path());
    server.arg("-D").arg(&data).arg("-k").arg(dir.path());
    server.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
    let child = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut server = Postgres { child, dir };
    server.wait();
    server
}

fn as_nobody(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        let nobody = NOBODY.to_string();
        command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
    }
    command.arg(program).current_dir(dir).stdin(Stdio::null());
    command
}

impl Postgres {
    /// Its URL, without the password.
    pub fn url(&self) -> String {
        let dir = self.dir.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://forebay@{dir}/postgres")
    }

    /// What `PGPASSWORD` must be, and what must never be shown.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// Runs statements with psql, and returns what they print.
    pub fn ask(&self, sql: &str) -> String {
        let output = self.psql(sql);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn psql(&self, sql: &str) -> std::process::Output {
        let beside = programs().unwrap().join("psql");
        let mut psql = Command::new(if beside.is_file() { beside } else { PathBuf::from("psql") });
        psql.args(["-X", "-A", "-t", "-c", sql, &self.url()]).env("PGPASSWORD", PASSWORD);
        psql.stdin(Stdio::null()).output().unwrap()
    }

    fn wait(&mut self) {
        let began = Instant::now();
        while !self.psql("SELECT 1").status.success() {
            assert!(self.child.try_wait().unwrap().is_none(), "the server ended");
            assert!(began.elapsed() < PATIENCE, "the server does not answer");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT takes its children along.
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        }
        let _ = self.child.wait();
    }
}
