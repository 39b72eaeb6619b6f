//! A run that is going: its events as they come, signals to it, and its end.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use crate::place::{Call, code};

/// Nothing here may take this long; a test that hangs should say where.
const PATIENCE: Duration = Duration::from_mins(2);

pub struct Going {
    child: Child,
    lines: Receiver<String>,
    seen: String,
    heard: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
}

impl Going {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut talk = BufReader::new(child.stderr.take().unwrap());
        let heard = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&heard);
        let listener = std::thread::spawn(move || {
            let mut line = String::new();
            while talk.read_line(&mut line).is_ok_and(|length| length > 0) {
                ear.lock().unwrap().push_str(&std::mem::take(&mut line));
            }
        });
        Self { child, lines, seen: String::new(), heard, listener: Some(listener) }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for an event: a line of output that has all `words`.
    #[track_caller]
    pub fn wait_for(&mut self, words: &[&str]) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| self.give_up(&format!("no {words:?}: {error}")));
            self.seen.extend([line.as_str(), "\n"]);
            if words.iter().all(|word| line.contains(word)) {
                return;
            }
        }
    }

    fn give_up(&mut self, why: &str) -> ! {
        let _ = self.child.kill();
        let heard = self.heard();
        panic!("{why}, after:\n{}\n{heard}", self.seen);
    }

    /// What it said on standard error, to the end if it has ended.
    fn heard(&mut self) -> String {
        if !self.is_going()
            && let Some(listener) = self.listener.take()
        {
            listener.join().unwrap();
        }
        self.heard.lock().unwrap().clone()
    }

    /// Waits until it says `words` on standard error.
    #[track_caller]
    pub fn wait_to_hear(&mut self, words: &str) {
        wait_until(words, || self.heard().contains(words));
    }

    pub fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn is_going(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Call {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "still going after:\n{}", self.seen);
            std::thread::sleep(Duration::from_millis(2));
        };
        self.seen.extend(self.lines.iter().flat_map(|line| [line, "\n".to_owned()]));
        Call { code: code(status), err: self.heard(), out: std::mem::take(&mut self.seen) }
    }

    /// SIGKILL, as the kernel's memory killer or an operator would.
    pub fn kill(self) {
        self.send(Signal::KILL);
        assert_eq!(self.end().code, 1009);
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again until `condition` holds.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}
