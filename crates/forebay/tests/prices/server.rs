//! A small HTTP server whose answers a test decides, and a place to run the program in.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path and query, decoded.
    pub path: String,
    /// Header fields by their name in lower case.
    pub fields: BTreeMap<String, String>,
}

impl Request {
    /// The first byte that is asked for.
    pub fn from(&self) -> u64 {
        let range = self
            .fields
            .get("range")
            .and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse().ok());
        range.unwrap_or(0)
    }
}

/// What to answer.
pub enum Answer {
    /// A page.
    Page(String),
    /// Another status, with more header fields.
    Status(u16, String),
    /// A page that ends before its end.
    Cut(String),
    /// A page, a few bytes at a time.
    Slow(String),
    /// Nothing at all.
    Silence,
    /// A status line with header fields, and a body made as it is sent: the writer returns when it is done or cut.
    Stream(String, Box<Body>),
}

/// Writes a body as it is made.
type Body = dyn FnOnce(&mut TcpStream) -> std::io::Result<()> + Send;
type Reply = dyn Fn(&Request, usize) -> Answer + Send + Sync;

/// A server on a port of its own.
pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers by `reply`, which hears the request and how many came before it.
    pub fn new(reply: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (reply, log): (Arc<Reply>, _) = (Arc::new(reply), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (reply, log) = (reply.clone(), log.clone());
                // A client that has gone is no failure of the server.
                std::thread::spawn(move || serve(stream.unwrap(), &*reply, &log).ok());
            }
        });
        Self { url, seen }
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, reply: &Reply, log: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut fields = BTreeMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else { break };
        fields.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let request = Request { path: decoded(path), fields };
    let before = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    let head = |status: &str, length: usize| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
        )
    };
    match reply(&request, before) {
        Answer::Page(text) => {
            stream.write_all(head("200 OK", text.len()).as_bytes())?;
            stream.write_all(text.as_bytes())
        }
        Answer::Status(status, fields) => stream.write_all(
            format!("HTTP/1.1 {status} -\r\n{fields}content-length: 0\r\nconnection: close\r\n\r\n")
                .as_bytes(),
        ),
        Answer::Cut(text) => {
            stream.write_all(head("200 OK", text.len()).as_bytes())?;
            stream.write_all(&text.as_bytes()[..text.len() / 2])
        }
        Answer::Slow(text) => {
            stream.write_all(head("200 OK", text.len()).as_bytes())?;
            for part in text.as_bytes().chunks(text.len().div_ceil(5).max(1)) {
                stream.write_all(part)?;
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok(())
        }
        Answer::Silence => {
            // Until the client goes.
            let _ = stream.read(&mut [0; 64])?;
            Ok(())
        }
        Answer::Stream(fields, write) => {
            stream.write_all(format!("HTTP/1.1 {fields}connection: close\r\n\r\n").as_bytes())?;
            write(&mut stream)
        }
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A directory of its own to refresh in.
pub struct Place {
    dir: TempDir,
}

/// What one call of the program did.
pub struct Call {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Call {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}\n{}", self.out, self.err))
    }
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A file of the overlay.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join("facts").join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.file("")).unwrap();
        std::fs::write(self.file(name), text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        command.env_clear().env("HOME", self.dir.path()).current_dir(self.dir.path()).args(arguments);
        command
    }

    pub fn call(&self, arguments: &[&str]) -> Call {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Call { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    fn arguments<'a>(server: &'a Server, cloud: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let common = ["catalog", "refresh", "--to", "facts", "--cloud", cloud, "--base-url", &server.url];
        [&common[..], more].concat()
    }

    /// `forebay catalog refresh` from a server.
    pub fn refresh(&self, server: &Server, cloud: &str, more: &[&str]) -> Call {
        self.call(&Self::arguments(server, cloud, more))
    }

    /// The same, left running.
    pub fn start(&self, server: &Server, cloud: &str, more: &[&str]) -> Child {
        let mut command = self.command(&Self::arguments(server, cloud, more));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The rows of the price file, as `item term usd unit`.
    pub fn prices(&self) -> Vec<String> {
        let text = self.read("prices.csv");
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let place = |name| names.iter().position(|column| *column == name).unwrap();
        let columns = ["item", "term", "usd", "unit", "band_from", "band_to"].map(place);
        let row = |line: &str| {
            // Cells before the notes hold no commas.
            let cells: Vec<&str> = line.split(',').collect();
            let row: Vec<&str> = columns.iter().map(|place| cells[*place]).collect();
            row.join(" ").trim_end().to_owned()
        };
        lines.map(row).collect()
    }
}
