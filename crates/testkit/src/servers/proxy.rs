//! Stands between a client and a server, and does to some requests what networks and busy servers do.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The server is busy: 503, and nothing is done.
    Busy,
    /// The server fails: 500, and nothing is done.
    Broken,
    /// The answer is cut in the middle of its body.
    Cut,
    /// The connection is dropped before the server hears of the request.
    Dropped,
    /// The request is done, and the connection is dropped before its answer.
    Unheard,
    /// The answer stands still in the middle for so many milliseconds.
    Slow(u64),
}

type Rule = Box<dyn Fn(u64, &str) -> Option<Trouble> + Send>;

/// A proxy that runs.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    rule: Mutex<Rule>,
    requests: AtomicU64,
    troubles: AtomicU64,
    ended: AtomicBool,
}

impl Proxy {
    /// In front of `server`. `rule` says for each request, by its number and its first line, what happens to it.
    pub fn new(server: SocketAddr, rule: impl Fn(u64, &str) -> Option<Trouble> + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            server,
            rule: Mutex::new(Box::new(rule)),
            requests: AtomicU64::new(0),
            troubles: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let ours = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ours.ended.load(Ordering::Relaxed) {
                    return;
                }
                let ours = ours.clone();
                std::thread::spawn(move || {
                    // A client that goes away is none of our business.
                    let _ = ours.serve(stream);
                });
            }
        });
        Self { address, shared }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Requests to which something happened.
    pub fn troubles(&self) -> u64 {
        self.shared.troubles.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let Some((head, body)) = read_request(&mut client)? else { return Ok(()) };
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let line = head.lines().next().unwrap_or_default();
        let trouble = (self.rule.lock().unwrap())(number, line);
        if trouble.is_some() {
            self.troubles.fetch_add(1, Ordering::Relaxed);
        }
        match trouble {
            Some(Trouble::Busy) => return refuse(&mut client, "503 Service Unavailable"),
            Some(Trouble::Broken) => return refuse(&mut client, "500 Internal Server Error"),
            Some(Trouble::Dropped) => return client.shutdown(Shutdown::Both),
            _ => {}
        }
        let mut server = TcpStream::connect(self.server)?;
        server.write_all(without_keep_alive(&head).as_bytes())?;
        server.write_all(&body)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        let middle = middle_of(&answer);
        match trouble {
            Some(Trouble::Cut) => client.write_all(&answer[..middle])?,
            Some(Trouble::Unheard) => {}
            Some(Trouble::Slow(millis)) => {
                client.write_all(&answer[..middle])?;
                client.flush()?;
                std::thread::sleep(Duration::from_millis(millis));
                client.write_all(&answer[middle..])?;
            }
            _ => client.write_all(&answer)?,
        }
        client.shutdown(Shutdown::Both)
    }
}

/// The middle of an answer's body, or of the answer if it has none.
fn middle_of(answer: &[u8]) -> usize {
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    if body < answer.len() { body + (answer.len() - body) / 2 } else { answer.len() / 2 }
}

fn refuse(client: &mut TcpStream, status: &str) -> io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    client.write_all(answer.as_bytes())?;
    client.shutdown(Shutdown::Both)
}

/// One request per connection: whatever happens to it happens to it alone.
fn without_keep_alive(head: &str) -> String {
    let lines = head.trim_end().lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let kept: Vec<&str> = lines.collect();
    format!("{}\r\nConnection: close\r\n\r\n", kept.join("\r\n"))
}

fn read_request(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut buffer)? {
            0 => return Ok(None),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let field = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let length: usize = field("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    if field("expect").is_some() {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    while bytes.len() < end + length {
        match client.read(&mut buffer)? {
            0 => return Ok(None),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(Some((head, bytes.split_off(end))))
}
