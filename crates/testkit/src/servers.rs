//! Real servers on loopback, each in a directory of its own at a port of its own, ended when it is dropped.
//!
//! `scripts/install-test-tools` puts them below `servers/` in the target directory (`FOREBAY_SERVERS` names another place).

#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test that panics has failed")]

mod azurite;
mod certificates;
mod postgres;
mod proxy;
mod s3;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use azurite::azurite;
pub use certificates::{Authority, Certificate};
pub use postgres::{Over, Postgres, postgres, postgres_over, programs as postgres_programs};
pub use proxy::{Proxy, Trouble};
pub use s3::s3;

/// Nothing here may take this long.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often another port is tried, where somebody took the first meanwhile.
const TRIES: u32 = 3;

/// Held while a server starts.
static STARTING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The bucket or container that every server has.
pub const BUCKET: &str = "box-of-tests";

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    /// How its URLs begin, up to the bucket and a slash.
    pub url: String,
    /// Variables that lead a client to it and let it in.
    pub variables: Vec<(String, String)>,
    /// What must never be shown.
    pub secrets: Vec<String>,
    /// The variable that has the address, so that a proxy can take its place.
    endpoint: &'static str,
    _dir: TempDir,
}

/// Where a server is installed, if it is.
pub fn installed(name: &str) -> Option<PathBuf> {
    let place = match std::env::var_os("FOREBAY_SERVERS") {
        Some(place) => PathBuf::from(place),
        // target/debug/deps/test, or target/debug/program
        None => std::env::current_exe()
            .ok()?
            .ancestors()
            .find(|dir| dir.join("servers").is_dir())?
            .join("servers"),
    };
    Some(place.join(name)).filter(|path| path.exists())
}

impl Server {
    /// Starts what `command` says for a directory and a port, and waits until it answers.
    fn start(command: impl Fn(&TempDir, u16) -> Command, endpoint: &'static str) -> Self {
        // One at a time: until it listens, its port looks free to the next.
        let _one = STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for _ in 0..TRIES {
            let dir = tempfile::tempdir().unwrap();
            let port = free_port();
            let mut command = command(&dir, port);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            if answers(&mut child, address) {
                let (url, variables, secrets) = (String::new(), Vec::new(), Vec::new());
                return Self { child, address, url, variables, secrets, endpoint, _dir: dir };
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("a server does not start: {endpoint}");
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The variables with another address in place of the server's.
    pub fn variables_through(&self, proxy: &Proxy) -> Vec<(String, String)> {
        let (from, to) = (self.address.to_string(), proxy.address().to_string());
        let led = |(name, value): &(String, String)| {
            let value = if name == self.endpoint { value.replace(&from, &to) } else { value.clone() };
            (name.clone(), value)
        };
        self.variables.iter().map(led).collect()
    }

    /// The value of a variable of this server, as a client would look it up.
    pub fn look_up(&self, name: &str) -> Option<String> {
        self.variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    /// Sends one request and returns the answer.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// A port that nothing listens at, below those that the kernel gives to connections of others.
fn free_port() -> u16 {
    std::iter::repeat_with(|| fastrand::u16(16_000..32_000))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .unwrap()
}

fn answers(child: &mut Child, address: SocketAddr) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        if let Ok(mut stream) = TcpStream::connect(address)
            && stream.set_read_timeout(Some(Duration::from_secs(5))).is_ok()
            && stream.write_all(request).is_ok()
            && stream.read(&mut [0; 16]).is_ok_and(|count| count > 0)
        {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
