//! PostgreSQL on a Unix socket, or on loopback as well, in a directory of its own, as a user that is not root.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::PATIENCE;
use super::certificates::Certificate;

/// The user and group `nobody`.
const NOBODY: u32 = 65534;
const PASSWORD: &str = "pass:of\\tests";

/// A server that runs; killed when it is dropped.
#[derive(Debug)]
pub struct Postgres {
    child: Child,
    dir: TempDir,
    port: u16,
}

/// How a server is reached over TCP.
#[derive(Debug, Clone, Copy)]
pub enum Over<'a> {
    /// In clear text alone.
    Clear,
    /// Encrypted or not, with the certificate of this host.
    Both(&'a Certificate),
    /// Encrypted alone.
    Encrypted(&'a Certificate),
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
    start(None)
}

/// Starts one that listens on loopback, too.
pub fn postgres_over(tcp: Over<'_>) -> Postgres {
    let _one = super::STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    start(Some(tcp))
}

fn start(tcp: Option<Over<'_>>) -> Postgres {
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
    server.args(["-c", "fsync=off"]);
    let port = match tcp {
        None => {
            server.args(["-c", "listen_addresses="]);
            5432
        }
        Some(over) => {
            let port = super::free_port();
            server.args(["-c", "listen_addresses=localhost", "-c", &format!("port={port}")]);
            encrypt(&mut server, &dir, over);
            port
        }
    };
    let child = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut server = Postgres { child, dir, port };
    server.wait();
    server
}

/// Gives the server its certificate, and rules of who may come in.
fn encrypt(server: &mut Command, dir: &TempDir, over: Over<'_>) {
    let (word, certificate) = match over {
        Over::Clear => ("host", None),
        Over::Both(certificate) => ("host", Some(certificate)),
        Over::Encrypted(certificate) => ("hostssl", Some(certificate)),
    };
    let rules =
        ["local all all", &format!("{word} all all 127.0.0.1/32"), &format!("{word} all all ::1/128")];
    let rules = rules.map(|rule| format!("{rule} scram-sha-256\n")).concat();
    std::fs::write(dir.path().join("rules"), rules).unwrap();
    server.args(["-c", &format!("hba_file={}", dir.path().join("rules").display())]);
    let Some(certificate) = certificate else { return };
    server.args(["-c", "ssl=on"]);
    for (setting, from) in [("ssl_cert_file", &certificate.path), ("ssl_key_file", &certificate.key)] {
        let to = dir.path().join(setting);
        std::fs::copy(from, &to).unwrap();
        std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o600)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&to, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        server.args(["-c", &format!("{setting}={}", to.display())]);
    }
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
        format!("postgres://forebay@{dir}:{}/postgres", self.port)
    }

    /// Its URL over TCP, at this name of the host.
    pub fn url_at(&self, host: &str) -> String {
        format!("postgres://forebay@{host}:{}/postgres", self.port)
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
