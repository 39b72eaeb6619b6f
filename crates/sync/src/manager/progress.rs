//! How far running jobs are, for whoever looks: a small file beside the book, replaced about once a second.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use fault::Fault;
use serde::{Deserialize, Serialize};

use crate::counters::{Count, Counters};
use crate::event::Stage;
use crate::job::lock;
use crate::watch::Status;

const NAME: &str = "progress.json";

/// How far the sync of one source is.
#[derive(Debug, Default)]
pub struct Gauge {
    pub counters: Counters,
    pub status: Status,
    stage: Mutex<Option<Stage>>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is going on: `copy`, `delete`, `watch`.
    pub stage: String,
    /// Entries of the sources that were looked at.
    pub scanned: u64,
    /// Files copied.
    pub copied: u64,
    /// Entries removed.
    pub deleted: u64,
    /// Entries that could not be done.
    pub failed: u64,
    /// Bytes written.
    pub sent_bytes: u64,
    /// How far a watch is behind, seconds.
    pub behind_seconds: Option<f64>,
}

impl Gauge {
    /// A stage begins.
    pub fn enter(&self, stage: Stage) {
        *lock(&self.stage) = Some(stage);
    }
}

impl Progress {
    /// Of all sources together.
    pub fn of(gauges: &[Gauge]) -> Self {
        let sum = |of: fn(&Counters) -> &Count| gauges.iter().map(|gauge| of(&gauge.counters).get()).sum();
        let stages: Vec<Stage> = gauges.iter().filter_map(|gauge| *lock(&gauge.stage)).collect();
        let watched = gauges.iter().any(|gauge| !gauge.status.by().is_empty());
        let lag = gauges.iter().map(|gauge| gauge.status.lag()).max().unwrap_or_default();
        Self {
            stage: stages.last().map_or("begin", |stage| word(*stage)).to_owned(),
            scanned: sum(|counters| &counters.scanned),
            copied: sum(|counters| &counters.copied),
            deleted: sum(|counters| &counters.deleted),
            failed: sum(|counters| &counters.failed),
            sent_bytes: sum(|counters| &counters.bytes_sent),
            behind_seconds: watched.then_some(lag.as_secs_f64()),
        }
    }
}

const fn word(stage: Stage) -> &'static str {
    match stage {
        Stage::Recover => "recover",
        Stage::Copy => "copy",
        Stage::Link => "link",
        Stage::Delete => "delete",
        Stage::Finish => "finish",
        Stage::Index => "index",
        Stage::Watch => "watch",
    }
}

/// Puts down how far each running job is.
pub fn write(dir: &Path, all: &BTreeMap<&str, Progress>) -> fault::Result<()> {
    let (path, new) = (dir.join(NAME), dir.join("progress.new"));
    let text = serde_json::to_vec(all).unwrap_or_default();
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, &path))
        .map_err(|error| Fault::os("write", &path, error))
}

/// What was put down last; nothing where nothing can be read.
pub fn read(dir: &Path) -> BTreeMap<String, Progress> {
    let text = std::fs::read(dir.join(NAME)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
