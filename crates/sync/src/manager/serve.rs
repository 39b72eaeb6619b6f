//! Running jobs when they are due, until somebody says stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use jiff::{Timestamp, Zoned};
use spec::LoadError;

use super::after::{Ended, Next, after, by_schedule};
use super::book::{Book, Entry, Run, Standing, Wish};
use super::file::{Job, JobFile, load};
use super::progress::{self, Progress};
use super::run::{Done, Going, Listener, RunEnd, run};
use super::schedule::Schedule;
use crate::event::Event;

/// How often the server looks around.
const TICK: Duration = Duration::from_millis(250);
/// How often it puts down how far running jobs are, and looks whether the file changed.
const LOOK: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Debug, Clone)]
pub struct Serving {
    /// The job file.
    pub file: PathBuf,
    /// Where the book and what is known of each pair are kept; a place of this user's by default.
    pub state: Option<PathBuf>,
    /// Jobs that run at the same time, whatever the file says.
    pub at_once: Option<u32>,
    /// Run every job once, now, and end.
    pub once: bool,
}

/// What the server tells.
#[derive(Debug)]
pub enum Said<'a> {
    /// The file was read: so many jobs.
    Read(usize),
    /// The file changed and can't be used; the jobs stay as they were.
    Unreadable(&'a LoadError),
    /// A run of this job begins.
    Began(&'a str),
    /// A run of this job ended; it is tried again then, if it is.
    Ended(&'a str, RunEnd, &'a str, Option<Timestamp>),
    /// An entry of this job could not be done.
    Failed(&'a str, &'a [u8], &'a Fault),
    /// Something worth knowing about this job.
    Note(&'a str, &'a str),
}

/// Listens to a server. Called from many threads.
pub trait Audience: Sync {
    /// Something happened.
    fn said(&self, said: &Said<'_>);
    /// Whether the server should stop cleanly.
    fn stopping(&self) -> bool;
    /// Whether the file should be read again, whatever its times say; forgotten when it was asked.
    fn wants_reading(&self) -> bool;
}

/// Runs the jobs of a file until `audience` says stop; with `once`, until each has run. How the worst of the last runs
/// ended is returned.
pub fn serve(serving: &Serving, audience: &dyn Audience) -> Result<RunEnd, Unserved> {
    let looked = Looked::at(&serving.file);
    let file = load(&serving.file).map_err(Unserved::File)?;
    let mut book = Book::open(serving.state.as_deref())?;
    let _served = book.take()?;
    book.interrupted(Timestamp::now())?;
    let (sender, ended) = channel();
    std::thread::scope(|scope| {
        let mut server = Server {
            serving,
            audience,
            book,
            file: JobFile { version: 1, at_once: 1, job: Vec::new() },
            looked,
            running: BTreeMap::new(),
            scope,
            sender,
            results: BTreeMap::new(),
        };
        let done = server.take_up(file).and_then(|()| server.go_on(&ended));
        // Whatever happened: nothing goes on behind our back.
        let stopped = server.stop_all(&ended);
        done.and(stopped)?;
        Ok(server.results.values().copied().max().unwrap_or(RunEnd::Complete))
    })
}

/// Why jobs are not served.
#[derive(Debug)]
pub enum Unserved {
    /// The file can't be used.
    File(Box<LoadError>),
    /// Anything else.
    Fault(Fault),
}

impl From<Fault> for Unserved {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A run that goes on.
struct Running<'scope> {
    going: Arc<Going>,
    /// What the job said when it began.
    job: Arc<Job>,
    started: Timestamp,
    attempt: u32,
    _thread: ScopedJoinHandle<'scope, ()>,
}

struct Server<'scope, 'env> {
    serving: &'env Serving,
    audience: &'env dyn Audience,
    book: Book,
    file: JobFile,
    looked: Looked,
    running: BTreeMap<String, Running<'scope>>,
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<(String, Done)>,
    /// How the last run of each job ended.
    results: BTreeMap<String, RunEnd>,
}

impl Server<'_, '_> {
    fn go_on(&mut self, ended: &Receiver<(String, Done)>) -> fault::Result<()> {
        let mut last = Instant::now();
        loop {
            if self.audience.stopping() {
                return Ok(());
            }
            self.heed()?;
            self.begin_due()?;
            if self.serving.once && self.is_over()? {
                return Ok(());
            }
            match ended.recv_timeout(TICK) {
                Ok((name, done)) => self.ended(&name, &done)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if self.audience.wants_reading() {
                self.read_again()?;
            }
            if last.elapsed() >= LOOK {
                last = Instant::now();
                self.put_down_progress()?;
                if Looked::at(&self.serving.file) != self.looked {
                    self.read_again()?;
                }
            }
        }
    }

    fn job(&self, name: &str) -> Option<&Job> {
        self.file.job.iter().find(|job| job.name == name)
    }

    fn read_again(&mut self) -> fault::Result<()> {
        self.looked = Looked::at(&self.serving.file);
        match load(&self.serving.file) {
            Ok(file) => self.take_up(file),
            Err(error) => {
                self.audience.said(&Said::Unreadable(&error));
                Ok(())
            }
        }
    }

    /// Takes up what a file says now.
    fn take_up(&mut self, file: JobFile) -> fault::Result<()> {
        self.audience.said(&Said::Read(file.job.len()));
        self.file = file;
        let (known, now) = (self.book.entries()?, Zoned::now());
        for job in &self.file.job {
            let entry = known.iter().find(|entry| entry.name == job.name);
            let is_new = entry.is_none_or(|entry| entry.digest != job.digest());
            if is_new {
                let due = Schedule::of(job)?.first(&now);
                let standing = match entry.map(|entry| entry.standing) {
                    Some(Standing::Running) => Standing::Running,
                    _ => Standing::Waiting,
                };
                self.book.define(&job.name, &job.digest(), Next { standing, due, attempt: 0 })?;
            }
            if self.serving.once && !self.running.contains_key(&job.name) {
                let due = Some(now.timestamp());
                self.book.stand(&job.name, Next { standing: Standing::Waiting, due, attempt: 0 })?;
            }
            // A watch never ends by itself.
            if let Some(running) = self.running.get(&job.name).filter(|running| running.job.watch)
                && *running.job != *job
            {
                running.going.stop();
            }
        }
        for entry in known.iter().filter(|entry| self.job(&entry.name).is_none()) {
            match self.running.get(&entry.name) {
                Some(running) => running.going.stop(),
                None => self.book.forget(&entry.name)?,
            }
        }
        Ok(())
    }

    /// Does what is wanted.
    fn heed(&mut self) -> fault::Result<()> {
        for entry in self.book.entries()? {
            match (entry.wish, self.running.get(&entry.name)) {
                (Wish::Pause | Wish::Cancel, Some(running)) => running.going.stop(),
                (Wish::Cancel, None) => {
                    let Some(job) = self.job(&entry.name) else { continue };
                    let now = Zoned::now();
                    let next = by_schedule(&Schedule::of(job)?, now.timestamp(), &now, Standing::Cancelled);
                    self.book.cancelled(&entry.name, next)?;
                    self.results.entry(entry.name).or_insert(RunEnd::Stopped);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Starts what is due, the highest priority first, as far as there is room.
    fn begin_due(&mut self) -> fault::Result<()> {
        let now = Timestamp::now();
        let mut due: Vec<(i32, Timestamp, String, u32)> = Vec::new();
        for entry in self.book.entries()? {
            if let Some(priority) = self.priority_if_due(&entry, now) {
                due.push((-priority, entry.due.unwrap_or(now), entry.name, entry.attempt));
            }
        }
        due.sort();
        for (_, _, name, attempt) in due {
            let is_watch = self.job(&name).is_some_and(|job| self.goes_on_always(job));
            if is_watch || self.room() > 0 {
                self.begin(&name, attempt)?;
            }
        }
        Ok(())
    }

    fn goes_on_always(&self, job: &Job) -> bool {
        job.watch && !self.serving.once
    }

    fn priority_if_due(&self, entry: &Entry, now: Timestamp) -> Option<i32> {
        let job = self.job(&entry.name)?;
        let is_due = entry.due.is_some_and(|due| due <= now);
        let may = entry.wish == Wish::Run && is_due && !self.running.contains_key(&entry.name);
        // With `once` each job runs once; what is due again is a retry.
        let again = self.serving.once && entry.attempt == 0 && self.results.contains_key(&entry.name);
        (may && !again).then_some(job.priority)
    }

    fn room(&self) -> usize {
        let most = self.serving.at_once.unwrap_or(self.file.at_once) as usize;
        let busy = self.running.values().filter(|running| !self.goes_on_always(&running.job)).count();
        most.saturating_sub(busy)
    }

    fn begin(&mut self, name: &str, attempt: u32) -> fault::Result<()> {
        let Some(job) = self.job(name).cloned().map(Arc::new) else { return Ok(()) };
        let (going, started) = (Arc::new(Going::new(&job)), Timestamp::now());
        self.book.begin(name, started)?;
        self.audience.said(&Said::Began(name));
        let (sender, audience, once) = (self.sender.clone(), self.audience, self.serving.once);
        let state = self.serving.state.as_deref();
        let (its_job, its_going) = (job.clone(), going.clone());
        let thread =
            std::thread::Builder::new().name(format!("job {name}")).spawn_scoped(self.scope, move || {
                let done = run_caught(&its_job, &its_going, once, state, audience);
                // Nobody to tell: the server itself failed.
                let _ = sender.send((its_job.name.clone(), done));
            });
        let thread =
            thread.map_err(|error| Fault::new(Kind::Io, format!("cannot start a thread: {error}")))?;
        self.running.insert(name.to_owned(), Running { going, job, started, attempt, _thread: thread });
        Ok(())
    }

    fn ended(&mut self, name: &str, done: &Done) -> fault::Result<()> {
        let Some(running) = self.running.remove(name) else { return Ok(()) };
        let now = Zoned::now();
        self.results.insert(name.to_owned(), done.end);
        let run = Run {
            started: running.started,
            ended: Some(now.timestamp()),
            result: Some(done.end),
            words: Some(done.words.clone()),
            records: serde_json::to_string(&done.records).ok(),
        };
        let Some(job) = self.job(name).cloned() else {
            self.audience.said(&Said::Ended(name, done.end, &done.words, None));
            return self.book.forget(name);
        };
        let schedule = Schedule::of(&job)?;
        let ended = Ended {
            end: done.end,
            started: running.started,
            may_retry: done.may_retry,
            attempt: running.attempt,
        };
        let changed = job != *running.job;
        let next = self.book.end(name, &run, |wish| {
            if changed && wish != Wish::Cancel {
                // What it says now has not run yet.
                return Next { standing: Standing::Waiting, due: schedule.first(&now), attempt: 0 };
            }
            after(&job, &schedule, ended, wish, &now)
        })?;
        let again = next.due.filter(|_| next.attempt > 0);
        self.audience.said(&Said::Ended(name, done.end, &done.words, again));
        Ok(())
    }

    /// With `once`: whether every job has run, and none is to be tried again.
    fn is_over(&self) -> fault::Result<bool> {
        if !self.running.is_empty() {
            return Ok(false);
        }
        let waits = |entry: &Entry| {
            entry.wish != Wish::Pause && (entry.attempt > 0 || !self.results.contains_key(&entry.name))
        };
        Ok(!self.book.entries()?.iter().any(waits))
    }

    fn put_down_progress(&self) -> fault::Result<()> {
        let all = self.running.iter();
        let all = all.map(|(name, running)| (name.as_str(), Progress::of(&running.going.gauges))).collect();
        progress::write(self.book.dir(), &all)
    }

    /// Stops what goes on, and waits until what it did is written down.
    fn stop_all(&mut self, ended: &Receiver<(String, Done)>) -> fault::Result<()> {
        self.running.values().for_each(|running| running.going.stop());
        let mut failed = Ok(());
        while !self.running.is_empty() {
            let Ok((name, done)) = ended.recv() else { break };
            let told = self.ended(&name, &done);
            failed = failed.and(told);
        }
        failed.and(self.put_down_progress())
    }
}

/// A thread that panics ends its run, and not the server.
fn run_caught(job: &Job, going: &Going, once: bool, state: Option<&Path>, audience: &dyn Audience) -> Done {
    let hears = Tells { job: &job.name, audience };
    let caught =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(job, going, once, state, &hears)));
    caught.unwrap_or_else(|_| Done {
        end: RunEnd::Failed,
        words: "a bug ended the run: see the standard error of the server".to_owned(),
        may_retry: true,
        records: Vec::new(),
    })
}

struct Tells<'a> {
    job: &'a str,
    audience: &'a dyn Audience,
}

impl Listener for Tells<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Failed(path, fault) | Event::Unstable(path, fault) => {
                self.audience.said(&Said::Failed(self.job, path, fault));
            }
            Event::Note(text) => self.audience.said(&Said::Note(self.job, text)),
            Event::Stage(_) | Event::Planned(_) => {}
        }
    }
}

/// What tells one version of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Looked(Option<(std::time::SystemTime, u64, u64)>);

impl Looked {
    fn at(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let seen = std::fs::metadata(path).ok();
        Self(seen.and_then(|seen| Some((seen.modified().ok()?, seen.len(), seen.ino()))))
    }
}
