use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::{Tell, command};

/// Lines kept of what was said on standard error.
const KEPT: usize = 20;
/// How long its end may take when its connection has ended, or when it was told to.
const ENDING: Duration = Duration::from_millis(500);

/// An ssh that runs: what it says on standard error, and how it ends. Dropping it ends it.
pub(super) struct Watch {
    report: Arc<Report>,
    process: u32,
}

#[derive(Default)]
struct Report {
    state: Mutex<State>,
    changed: Condvar,
    /// Lines are told from now on.
    aloud: AtomicBool,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    status: Option<ExitStatus>,
}

impl Watch {
    /// Watches `child`, the ssh to `host`.
    pub fn new(mut child: Child, host: String, tell: Tell) -> Self {
        let report = Arc::new(Report::default());
        let process = child.id();
        if let Some(stderr) = child.stderr.take() {
            let report = Arc::clone(&report);
            std::thread::spawn(move || {
                for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                    report.hear(&host, String::from_utf8_lossy(&line).trim_end(), &tell);
                }
            });
        }
        let end = Arc::clone(&report);
        // Apart from standard error, which a shared connection's master keeps open.
        std::thread::spawn(move || {
            if let Ok(status) = child.wait() {
                end.state.lock().unwrap_or_else(PoisonError::into_inner).status = Some(status);
                end.changed.notify_all();
            }
        });
        Self { report, process }
    }

    /// From now on, what it says is told.
    pub fn speak(&self) {
        self.report.aloud.store(true, Ordering::Release);
    }

    /// Its exit status, if it ends in time.
    pub fn status(&self, wait: Duration) -> Option<ExitStatus> {
        let state = self.report.state.lock().unwrap_or_else(PoisonError::into_inner);
        let running = |state: &mut State| state.status.is_none();
        let waited = self.report.changed.wait_timeout_while(state, wait, running);
        waited.unwrap_or_else(PoisonError::into_inner).0.status
    }

    /// The last it said on standard error.
    pub fn lines(&self) -> Vec<String> {
        let state = self.report.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lines.iter().cloned().collect()
    }

    /// Why the connection ended, as far as it can be known.
    pub fn why(&self) -> String {
        let status = self.status(ENDING);
        let last = self.lines().last().map_or_else(String::new, |line| format!(": {line}"));
        match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) if code > 128 && code < 255 => {
                format!("its agent was ended by signal {}{last}", code - 128)
            }
            // What ssh says of itself, and of a remote program that a signal ended.
            Some((Some(255), _)) => format!("its agent or the connection to it ended{last}"),
            Some((Some(code), _)) => format!("its agent ended with exit code {code}{last}"),
            Some((None, signal)) => format!("ssh was ended by signal {}{last}", signal.unwrap_or(0)),
            None => format!("its agent closed the connection{last}"),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(pid) = command::pid(self.process) else { return };
        for (signal, wait) in [(Signal::TERM, ENDING), (Signal::KILL, ENDING)] {
            let started = Instant::now();
            if self.status(Duration::ZERO).is_some() {
                return;
            }
            let _ = kill_process(pid, signal);
            while self.status(wait).is_none() && started.elapsed() < wait {}
        }
    }
}

impl Report {
    fn hear(&self, host: &str, line: &str, tell: &Tell) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lines.push_back(line.to_owned());
        if state.lines.len() > KEPT {
            state.lines.pop_front();
        }
        drop(state);
        if self.aloud.load(Ordering::Acquire) {
            tell(host, line);
        }
    }
}
