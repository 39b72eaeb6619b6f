//! Our end of a connection: questions go, answers come back in any order to those who wait for them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use fleet::ssh;

use super::content::{Compress, Press};
use super::frame::{Ear, read_frame, write_frame};
use super::words::{Ask, DONE, FAILED, MORE, Words, foreign};
use crate::job::lock;

/// How often an agent hears that we are still here.
const BEAT: Duration = Duration::from_secs(5);
/// Items of one answer that wait to be taken.
const WAITING: usize = 16;
/// For an agent to end when it is told to.
const ENDING: Duration = Duration::from_secs(5);

/// One connection.
pub struct Line {
    writer: Mutex<Option<File>>,
    desk: Arc<Desk>,
    ssh: Option<Arc<ssh::Ssh>>,
    host: String,
    press: Press,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line to {}", self.host)
    }
}

/// Who waits for what.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    closed: AtomicBool,
}

#[derive(Default)]
struct State {
    next: u32,
    waiting: HashMap<u32, SyncSender<Vec<u8>>>,
    /// Why nothing comes any more.
    gone: Option<String>,
}

/// What comes of an answer.
enum Piece {
    /// More follows.
    Item(Vec<u8>),
    /// The end, and what it says.
    End(Vec<u8>),
}

/// An answer that is on its way.
pub struct Pending<'a> {
    line: &'a Line,
    answer: Receiver<Vec<u8>>,
}

impl Line {
    /// Takes a connection over.
    pub fn new(line: ssh::Line, compress: Compress) -> Arc<Self> {
        let ssh::Line { reader, writer, ahead, host, ssh, .. } = line;
        let (desk, ssh) = (Arc::new(Desk::default()), ssh.map(Arc::new));
        let ear = Ear::new(reader.into(), ahead, None);
        let line = Arc::new(Self {
            writer: Mutex::new(Some(writer.into())),
            desk: desk.clone(),
            ssh: ssh.clone(),
            host,
            press: Press::new(compress),
        });
        std::thread::spawn(move || desk.read(ear, ssh.as_deref()));
        let beating = Arc::downgrade(&line);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(BEAT);
                let Some(line) = beating.upgrade() else { return };
                line.beat();
            }
        });
        line
    }

    /// Asks, without waiting for the answer.
    pub fn ask(&self, ask: &Ask) -> fault::Result<Pending<'_>> {
        self.ask_for(ask, 1)
    }

    /// Asks for an answer of many items.
    pub fn ask_for_many(&self, ask: &Ask) -> fault::Result<Pending<'_>> {
        self.ask_for(ask, WAITING)
    }

    fn ask_for(&self, ask: &Ask, room: usize) -> fault::Result<Pending<'_>> {
        let (give, answer) = sync_channel(room);
        let number = {
            let mut state = lock(&self.desk.state);
            if state.gone.is_some() {
                drop(state);
                return Err(self.lost());
            }
            state.next = state.next.wrapping_add(1);
            let number = state.next;
            state.waiting.insert(number, give);
            number
        };
        let (head, tail) = ask.written(&self.press);
        let mut writer = lock(&self.writer);
        let Some(file) = writer.as_mut() else { return Err(self.lost()) };
        let started = Instant::now();
        let written = write_frame(file, number, &head, &tail);
        self.press.passed(head.len() + tail.len(), started.elapsed());
        if let Err(error) = written
            && error.kind() == std::io::ErrorKind::InvalidInput
        {
            lock(&self.desk.state).waiting.remove(&number);
            let text = format!("an entry has more attributes than `{}` can be told at once", self.host);
            return Err(Fault::new(Kind::Unsupported, text).hint("leave it out with --exclude"));
        }
        // What else can't be written shows as the end of the answers.
        Ok(Pending { line: self, answer })
    }

    fn beat(&self) {
        // Whoever writes now lets the other end hear of us too.
        if let Ok(mut writer) = self.writer.try_lock()
            && let Some(file) = writer.as_mut()
        {
            let (head, tail) = Ask::Beat.written(&self.press);
            let _ = write_frame(file, 0, &head, &tail);
        }
    }

    /// Whether nothing comes any more.
    pub fn is_lost(&self) -> bool {
        lock(&self.desk.state).gone.is_some()
    }

    /// The failure of a connection that ended.
    pub fn lost(&self) -> Fault {
        let why = lock(&self.desk.state).gone.clone().unwrap_or_else(|| "it was closed".to_owned());
        Fault::new(Kind::Io, format!("the connection to `{}` is lost: {why}", self.host))
            .hint("the same command goes on from here")
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::Relaxed);
        // The agent ends when nothing more can come.
        *lock(&self.writer) = None;
        if let Some(ssh) = &self.ssh {
            ssh.wait(ENDING);
        }
    }
}

impl Desk {
    fn read(&self, mut ear: impl Read, ssh: Option<&ssh::Ssh>) {
        let why = loop {
            match read_frame(&mut ear) {
                Ok(Some(frame)) => self.deliver(frame.number, frame.body),
                Ok(None) => break None,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break None,
                Err(error) => break Some(fault::plain(&error)),
            }
        };
        let closed = self.closed.load(Ordering::Relaxed);
        let why = why.or_else(|| ssh.filter(|_| !closed).map(ssh::Ssh::why));
        let mut state = lock(&self.state);
        state.gone = Some(why.unwrap_or_else(|| "it ended".to_owned()));
        state.waiting.clear();
    }

    fn deliver(&self, number: u32, body: Vec<u8>) {
        let more = body.first() == Some(&MORE);
        let waiting = {
            let mut state = lock(&self.state);
            if more { state.waiting.get(&number).cloned() } else { state.waiting.remove(&number) }
        };
        // Nobody waits any more: fine.
        let _ = waiting.map(|waiting| waiting.send(body));
    }
}

impl Pending<'_> {
    /// Waits for the answer.
    pub fn answer(self) -> fault::Result<Vec<u8>> {
        match self.next()? {
            Piece::End(answer) => Ok(answer),
            Piece::Item(_) => Err(foreign()),
        }
    }

    fn next(&self) -> fault::Result<Piece> {
        let Ok(mut body) = self.answer.recv() else { return Err(self.line.lost()) };
        match body.first() {
            Some(&DONE) => Ok(Piece::End(body.split_off(1))),
            Some(&MORE) => Ok(Piece::Item(body.split_off(1))),
            Some(&FAILED) => Err(Words::take(&mut &body[1..])?.fault()),
            _ => Err(foreign()),
        }
    }

    /// Gives each item to `each` until the end, and returns what that says.
    pub fn each(self, each: &mut dyn FnMut(Vec<u8>) -> fault::Result<()>) -> fault::Result<Vec<u8>> {
        loop {
            match self.next()? {
                Piece::Item(item) => each(item)?,
                Piece::End(answer) => return Ok(answer),
            }
        }
    }
}
