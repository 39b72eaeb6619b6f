//! How the jobs stand, for people and programs.

use serde::Serialize;

use super::book::{Book, Entry, Run, Standing, Wish};
use super::progress::{self, Progress};
use super::run::RunEnd;

/// How all jobs stand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// Whether a server runs them.
    pub served: bool,
    /// By name.
    pub jobs: Vec<JobView>,
}

/// How one job stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobView {
    /// What it is called.
    pub name: String,
    /// `waiting`, `running`, `stopping`, `paused`, `retrying`, `done`, `failed`, `cancelled`; `interrupted` where it ran
    /// when its server was killed.
    pub state: &'static str,
    /// Its last runs, the last first.
    pub runs: Vec<RunView>,
    /// When it begins next, RFC 3339.
    pub next_run: Option<String>,
    /// Retries so far.
    pub attempt: u32,
    /// How far the run is that goes on.
    pub progress: Option<Progress>,
}

/// What one run did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    /// When it began, RFC 3339.
    pub started: String,
    /// When it ended; not while it goes on.
    pub ended: Option<String>,
    /// `complete`, `partial`, `failed`, `stopped`.
    pub result: Option<&'static str>,
    /// In one line.
    pub words: Option<String>,
    /// The record of the sync of each source.
    pub records: serde_json::Value,
}

/// How all jobs stand, with as many of their last runs.
pub fn view(book: &Book, runs: u32) -> fault::Result<View> {
    let (served, progress) = (book.is_served()?, progress::read(book.dir()));
    let job = |entry: Entry| -> fault::Result<JobView> {
        let state = state(&entry, served);
        let going = matches!(state, "running" | "stopping");
        let paused = entry.wish == Wish::Pause;
        Ok(JobView {
            runs: book.runs(&entry.name, runs)?.iter().map(of_run).collect(),
            state,
            next_run: entry.due.filter(|_| !paused).map(|due| due.to_string()),
            attempt: entry.attempt,
            progress: progress.get(&entry.name).filter(|_| going).cloned(),
            name: entry.name,
        })
    };
    let jobs = book.entries()?.into_iter().map(job).collect::<fault::Result<_>>()?;
    Ok(View { served, jobs })
}

fn state(entry: &Entry, served: bool) -> &'static str {
    match (entry.standing, entry.wish) {
        (Standing::Running, _) if !served => "interrupted",
        (Standing::Running, Wish::Run) => "running",
        (Standing::Running, _) => "stopping",
        (_, Wish::Pause) => "paused",
        (Standing::Waiting, _) if entry.attempt > 0 => "retrying",
        (standing, _) => standing.word(),
    }
}

fn of_run(run: &Run) -> RunView {
    let records = run.records.as_deref().and_then(|text| serde_json::from_str(text).ok());
    RunView {
        started: run.started.to_string(),
        ended: run.ended.map(|ended| ended.to_string()),
        result: run.result.map(RunEnd::word),
        words: run.words.clone(),
        records: records.unwrap_or_default(),
    }
}
