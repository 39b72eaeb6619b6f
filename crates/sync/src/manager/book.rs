//! What is known of each job, and what is wanted of it: in SQLite, so that commands and a server can meet there.

use std::fs::File;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::{Fault, Kind};
use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, TransactionBehavior, params};
use rustix::fs::{FlockOperation, flock};

use super::after::Next;
use super::run::RunEnd;

/// The version of the book that we read and write.
const VERSION: i64 = 1;
/// Runs of a job that are kept.
const MOST_RUNS: u32 = 100;
/// How long a command waits for another that is writing.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE job (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    wish TEXT NOT NULL DEFAULT 'run',
    standing TEXT NOT NULL DEFAULT 'waiting',
    due_ms INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL REFERENCES job (name) ON DELETE CASCADE,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    result TEXT,
    words TEXT,
    records TEXT
) STRICT;
CREATE INDEX run_of_job ON run (job, number);
";

/// What somebody wants of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// It runs when it is due.
    Run,
    /// It does not run, and what goes on stops.
    Pause,
    /// What goes on, or waits to be tried again, ends.
    Cancel,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// For its time.
    Waiting,
    /// It goes on; or its server was killed.
    Running,
    /// It ran, and is not due again.
    Done,
    /// It failed, as often as it was tried.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

/// A job as the book has it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: String,
    pub digest: String,
    pub wish: Wish,
    pub standing: Standing,
    pub due: Option<Timestamp>,
    pub attempt: u32,
}

/// A run as the book has it.
#[derive(Debug, Clone)]
pub struct Run {
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub result: Option<RunEnd>,
    pub words: Option<String>,
    /// The records of its syncs, a JSON list.
    pub records: Option<String>,
}

/// The book of a task manager.
#[derive(Debug)]
pub struct Book {
    dir: PathBuf,
    connection: Connection,
}

/// The right to run the jobs of a book, until it is dropped.
#[derive(Debug)]
pub struct Served {
    _lock: File,
}

macro_rules! words {
    ($name:ident: $($variant:ident = $word:literal),+) => {
        impl $name {
            /// As the book and documents have it.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            fn of(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words!(Wish: Run = "run", Pause = "pause", Cancel = "cancel");
words!(Standing: Waiting = "waiting", Running = "running", Done = "done", Failed = "failed", Cancelled = "cancelled");
words!(RunEnd: Complete = "complete", Partial = "partial", Failed = "failed", Stopped = "stopped");

impl Book {
    /// The book in `dir`, or in the user's own place; made if there is none.
    pub fn open(dir: Option<&Path>) -> fault::Result<Self> {
        let dir = match dir {
            Some(dir) => dir.to_owned(),
            None => crate::state::default_place("sync-jobs")?,
        };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        made.map_err(|error| Fault::os("create", &dir, error))?;
        let path = dir.join("jobs.db");
        let opened = || -> rusqlite::Result<(Connection, i64)> {
            let mut connection = Connection::open(&path)?;
            connection.busy_timeout(PATIENCE)?;
            // No shared memory, which file systems across a network have not.
            connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            let making = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut version = making.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if version == 0 {
                making.execute_batch(TABLES)?;
                making.pragma_update(None, "user_version", VERSION)?;
                version = VERSION;
            }
            making.commit()?;
            Ok((connection, version))
        };
        let (connection, version) = opened().map_err(|error| unusable(&path, error))?;
        if version != VERSION {
            let text = format!("`{}` has version {version}, this program reads {VERSION}", path.display());
            return Err(
                Fault::new(Kind::Corrupt, text).hint("use the program that wrote it, or another --state")
            );
        }
        Ok(Self { dir, connection })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes the right to run the jobs; nobody else has it at the same time.
    pub fn take(&self) -> fault::Result<Served> {
        if let Some(lock) = self.lock(FlockOperation::NonBlockingLockExclusive)? {
            return Ok(Served { _lock: lock });
        }
        let text = format!("another `forebay sync serve` runs the jobs of `{}`", self.dir.display());
        Err(Fault::new(Kind::Refused, text)
            .hint("stop it, or give this one a state of its own with --state DIR"))
    }

    /// Whether somebody runs the jobs.
    pub fn is_served(&self) -> fault::Result<bool> {
        Ok(self.lock(FlockOperation::NonBlockingLockShared)?.is_none())
    }

    fn lock(&self, how: FlockOperation) -> fault::Result<Option<File>> {
        let path = self.dir.join("serve.lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| Fault::os("open", &path, error))?;
        match flock(&file, how) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(Fault::os("lock", &path, error)),
        }
    }

    /// All jobs, by name.
    pub fn entries(&self) -> fault::Result<Vec<Entry>> {
        self.ask(|connection| {
            let mut all = connection
                .prepare("SELECT name, digest, wish, standing, due_ms, attempt FROM job ORDER BY name")?;
            all.query_map([], entry_of)?.collect()
        })
    }

    /// A job that is new, or another than it was: it stands anew.
    pub fn define(&self, name: &str, digest: &str, next: Next) -> fault::Result<()> {
        self.ask(|connection| {
            connection.execute(
                "INSERT INTO job (name, digest, standing, due_ms, attempt) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (name) DO UPDATE SET digest = ?2, standing = ?3, due_ms = ?4, attempt = ?5",
                params![name, digest, next.standing.word(), milliseconds(next.due), next.attempt],
            )
        })
        .map(drop)
    }

    /// A job that is gone from its file.
    pub fn forget(&self, name: &str) -> fault::Result<()> {
        self.ask(|connection| connection.execute("DELETE FROM job WHERE name = ?1", [name])).map(drop)
    }

    /// A run began.
    pub fn begin(&mut self, name: &str, started: Timestamp) -> fault::Result<()> {
        self.change(|change| {
            change.execute("UPDATE job SET standing = 'running', due_ms = NULL WHERE name = ?1", [name])?;
            change.execute(
                "INSERT INTO run (job, started_ms) VALUES (?1, ?2)",
                params![name, started.as_millisecond()],
            )?;
            change.execute(
                "DELETE FROM run WHERE job = ?1 AND number NOT IN
                 (SELECT number FROM run WHERE job = ?1 ORDER BY number DESC LIMIT ?2)",
                params![name, MOST_RUNS],
            )
        })
        .map(drop)
    }

    /// The run that began last ended; what is wanted of the job now decides what comes next.
    pub fn end(&mut self, name: &str, run: &Run, next: impl FnOnce(Wish) -> Next) -> fault::Result<Next> {
        self.change(|change| {
            let wish = change
                .query_row("SELECT wish FROM job WHERE name = ?1", [name], |row| read(row, 0, Wish::of))?;
            let next = next(wish);
            change.execute(
                "UPDATE run SET ended_ms = ?2, result = ?3, words = ?4, records = ?5
                 WHERE number = (SELECT max(number) FROM run WHERE job = ?1)",
                params![name, milliseconds(run.ended), run.result.map(RunEnd::word), run.words, run.records],
            )?;
            set(change, name, next)?;
            if wish == Wish::Cancel {
                change.execute("UPDATE job SET wish = 'run' WHERE name = ?1", [name])?;
            }
            Ok(next)
        })
    }

    /// How a job stands from now on.
    pub fn stand(&self, name: &str, next: Next) -> fault::Result<()> {
        self.ask(|connection| set(connection, name, next))
    }

    /// A job of which nothing goes on was cancelled.
    pub fn cancelled(&mut self, name: &str, next: Next) -> fault::Result<()> {
        self.change(|change| {
            set(change, name, next)?;
            change.execute("UPDATE job SET wish = 'run' WHERE name = ?1 AND wish = 'cancel'", [name])
        })
        .map(drop)
    }

    /// Runs whose server was killed: they go on as soon as they may.
    pub fn interrupted(&mut self, now: Timestamp) -> fault::Result<()> {
        self.change(|change| {
            change.execute(
                "UPDATE run SET ended_ms = ?1, result = 'stopped', words = 'its server was killed'
                 WHERE ended_ms IS NULL",
                [now.as_millisecond()],
            )?;
            change.execute(
                "UPDATE job SET standing = 'waiting', due_ms = ?1 WHERE standing = 'running'",
                [now.as_millisecond()],
            )
        })
        .map(drop)
    }

    /// The names of all jobs.
    pub fn names(&self) -> fault::Result<Vec<String>> {
        Ok(self.entries()?.into_iter().map(|entry| entry.name).collect())
    }

    /// Somebody wants something of a job; refused where it would change nothing.
    pub fn want(&mut self, name: &str, wish: Wish, now: Timestamp) -> fault::Result<()> {
        let refused = self.change(|change| {
            let entry = change.query_row(
                "SELECT name, digest, wish, standing, due_ms, attempt FROM job WHERE name = ?1",
                [name],
                entry_of,
            )?;
            if let Some(why) = idle(&entry, wish, now) {
                let text = format!("`{name}` {}", why.0);
                return Ok(Some(Fault::new(Kind::Refused, text).hint(why.1)));
            }
            change.execute("UPDATE job SET wish = ?2 WHERE name = ?1", params![name, wish.word()])?;
            if wish == Wish::Run && entry.standing != Standing::Running {
                change.execute(
                    "UPDATE job SET due_ms = ?2, standing = 'waiting' WHERE name = ?1",
                    params![name, now.as_millisecond()],
                )?;
            }
            Ok(None)
        })?;
        refused.map_or(Ok(()), Err)
    }

    /// The last runs of a job, the last first.
    pub fn runs(&self, name: &str, most: u32) -> fault::Result<Vec<Run>> {
        self.ask(|connection| {
            let mut runs = connection.prepare(
                "SELECT started_ms, ended_ms, result, words, records FROM run
                 WHERE job = ?1 ORDER BY number DESC LIMIT ?2",
            )?;
            let run = |row: &Row<'_>| {
                Ok(Run {
                    started: moment(row, 0)?.unwrap_or_default(),
                    ended: moment(row, 1)?,
                    result: row.get::<_, Option<String>>(2)?.as_deref().and_then(RunEnd::of),
                    words: row.get(3)?,
                    records: row.get(4)?,
                })
            };
            runs.query_map(params![name, most], run)?.collect()
        })
    }

    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> fault::Result<T> {
        ask(&self.connection).map_err(|error| unusable(&self.dir.join("jobs.db"), error))
    }

    fn change<T>(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> fault::Result<T> {
        let path = self.dir.join("jobs.db");
        let all = || -> rusqlite::Result<T> {
            let changing = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&changing)?;
            changing.commit()?;
            Ok(done)
        };
        all().map_err(|error| unusable(&path, error))
    }
}

/// Why a wish would change nothing, and what else there is.
fn idle(entry: &Entry, wish: Wish, now: Timestamp) -> Option<(&'static str, &'static str)> {
    let runs = entry.standing == Standing::Running;
    let waits_to_run = entry.attempt > 0 || entry.due.is_some_and(|due| due <= now);
    match wish {
        Wish::Run if runs && entry.wish == Wish::Run => Some(("is running", "`pause` and `cancel` stop it")),
        Wish::Pause if entry.wish == Wish::Pause => Some(("is paused already", "`resume` lets it run again")),
        Wish::Cancel if !runs && !waits_to_run => {
            Some(("has nothing to cancel", "`pause` keeps it from running when it is due"))
        }
        _ => None,
    }
}

fn set(connection: &Connection, name: &str, next: Next) -> rusqlite::Result<()> {
    let due = milliseconds(next.due);
    connection
        .execute(
            "UPDATE job SET standing = ?2, due_ms = ?3, attempt = ?4 WHERE name = ?1",
            params![name, next.standing.word(), due, next.attempt],
        )
        .map(drop)
}

fn entry_of(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        name: row.get(0)?,
        digest: row.get(1)?,
        wish: read(row, 2, Wish::of)?,
        standing: read(row, 3, Standing::of)?,
        due: moment(row, 4)?,
        attempt: row.get(5)?,
    })
}

fn read<T>(row: &Row<'_>, column: usize, of: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    of(&word).ok_or_else(|| rusqlite::Error::InvalidColumnType(column, word, Type::Text))
}

fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(|moment| Timestamp::from_millisecond(moment).ok()))
}

fn milliseconds(moment: Option<Timestamp>) -> Option<i64> {
    moment.map(Timestamp::as_millisecond)
}

fn unusable(path: &Path, error: rusqlite::Error) -> Fault {
    let hint = "is the disk full, or the file damaged? another --state DIR begins anew";
    Fault::new(Kind::Io, format!("cannot use `{}`: {error}", path.display())).hint(hint).caused_by(error)
}
