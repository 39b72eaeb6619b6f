//! The full-screen view on a pseudo-terminal.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::Place;

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// A pseudo-terminal: what a program writes to `theirs` is read from `ours`.
struct Terminal {
    ours: File,
    theirs: OwnedFd,
}

/// What a program left on a terminal.
struct Shown {
    text: String,
    code: Option<i32>,
    /// Whether the terminal shows again what is typed.
    echoes: bool,
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        tcsetwinsize(&theirs, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        Self { ours: File::from(ours), theirs }
    }

    /// Runs a command with standard error here, and sends it Ctrl-C once `stop_at` was shown.
    fn show(mut self, mut command: Command, stop_at: Option<&str>) -> Shown {
        let mut child =
            command.stdout(Stdio::null()).stderr(self.theirs.try_clone().unwrap()).spawn().unwrap();
        drop(command);
        let mut shown = Vec::new();
        let mut stop_at = stop_at;
        loop {
            let ended = child.try_wait().unwrap();
            let news = self.read(&mut shown);
            let text = String::from_utf8_lossy(&shown);
            if stop_at.is_some_and(|words| text.contains(words)) {
                stop_at = None;
                kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            }
            if let (Some(status), false) = (ended, news) {
                let echoes = tcgetattr(&self.theirs).unwrap().local_modes.contains(LocalModes::ECHO);
                return Shown { text: text.into_owned(), code: status.code(), echoes };
            }
        }
    }

    /// Reads what is there; whether there was anything, before a little time was up.
    fn read(&mut self, shown: &mut Vec<u8>) -> bool {
        let mut ready = [PollFd::new(&self.ours, PollFlags::IN)];
        let soon = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        if rustix::event::poll(&mut ready, Some(&soon)).unwrap() == 0 {
            return false;
        }
        let mut buffer = [0; 16384];
        let count = self.ours.read(&mut buffer).unwrap();
        shown.extend_from_slice(&buffer[..count]);
        count > 0
    }
}

/// What is on the terminal after the screen was given back.
fn after(shown: &Shown) -> &str {
    let (_, after) = shown.text.split_once(LEAVE).unwrap_or_else(|| panic!("no way back: {:?}", shown.text));
    assert!(!after.contains(ENTER), "taken over again");
    after
}

#[test]
fn a_large_terminal_is_taken_over_and_given_back() {
    let place = Place::new();
    let shown = Terminal::new(120, 40).show(place.run(&[]), None);
    let (before, picture) = shown.text.split_once(ENTER).unwrap();
    assert!(before.contains("write"), "the first second has lines: {before:?}");
    assert!(picture.contains("throughput") && picture.contains("latency"), "{picture:?}");
    assert!(
        after(&shown).contains("write done"),
        "what was said meanwhile is told afterwards: {:?}",
        after(&shown)
    );
    assert!(shown.echoes);
}

#[test]
fn ctrl_c_gives_the_terminal_back() {
    let place = Place::new();
    let shown = Terminal::new(100, 30).show(place.run(&[]), Some("throughput"));
    assert_eq!(shown.code, Some(130));
    assert!(after(&shown).contains("stopping"), "{:?}", after(&shown));
    assert!(shown.echoes);
    assert_eq!(std::fs::read_dir(place.path("target")).unwrap().count(), 0);
}

#[test]
fn small_and_simple_terminals_get_one_line() {
    let place = Place::new();
    let small = Terminal::new(50, 10).show(place.run(&[]), None);
    assert!(!small.text.contains(ENTER) && small.text.contains("write done"), "{:?}", small.text);
    let mut dumb = place.run(&[]);
    dumb.env("TERM", "dumb");
    let dumb = Terminal::new(120, 40).show(dumb, None);
    assert!(!dumb.text.contains(ENTER), "{:?}", dumb.text);
    let asked = Terminal::new(120, 40).show(place.run(&["--live", "line"]), None);
    assert!(!asked.text.contains(ENTER), "{:?}", asked.text);
}
