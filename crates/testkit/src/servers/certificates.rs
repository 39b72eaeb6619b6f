//! Certificates for servers of tests, by an authority that each test makes for itself with `openssl`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What openssl asks for in a file.
const CONFIG: &str = "[req]\ndistinguished_name=name\nx509_extensions=authority\n[name]\n\
[authority]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n";

/// Who vouches for servers.
#[derive(Debug)]
pub struct Authority {
    dir: TempDir,
}

/// A server's certificate and its key, in PEM.
#[derive(Debug)]
pub struct Certificate {
    /// What it shows.
    pub path: PathBuf,
    /// What it keeps.
    pub key: PathBuf,
    _dir: TempDir,
}

impl Authority {
    /// One that nobody knows yet.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config"), CONFIG).unwrap();
        let authority = Self { dir };
        request(&authority, authority.dir.path(), &["-x509", "-days", "2", "-out", "certificate"]);
        authority
    }

    /// Its own certificate.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("certificate")
    }

    /// One for the server of these names: `DNS:localhost`, `IP:127.0.0.1`.
    pub fn vouch_for(&self, names: &str) -> Certificate {
        let dir = tempfile::tempdir().unwrap();
        request(self, dir.path(), &["-out", "request"]);
        std::fs::write(dir.path().join("names"), format!("subjectAltName={names}\n")).unwrap();
        let (own, key) = (self.path(), self.dir.path().join("key"));
        let mut sign = Command::new("openssl");
        sign.args([
            "x509",
            "-req",
            "-in",
            "request",
            "-out",
            "certificate",
            "-days",
            "2",
            "-extfile",
            "names",
        ]);
        sign.arg("-CA").arg(own).arg("-CAkey").arg(key).args(["-set_serial", "7"]);
        run(sign.current_dir(dir.path()));
        Certificate { path: dir.path().join("certificate"), key: dir.path().join("key"), _dir: dir }
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes a key in `dir`, and asks for a certificate for it.
fn request(authority: &Authority, dir: &Path, more: &[&str]) {
    let mut request = Command::new("openssl");
    request.args([
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        "key",
    ]);
    request.args(["-subj", "/CN=tests", "-config"]).arg(authority.dir.path().join("config")).args(more);
    run(request.current_dir(dir));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
