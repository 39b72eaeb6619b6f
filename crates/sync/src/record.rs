use fault::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counters::Counters;

/// The version of the job record.
pub const VERSION: u32 = 1;
/// Failures that a record names; all are counted and told as they happen.
pub const MOST_FAILURES: usize = 1000;

/// What a sync did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of this document.
    pub version: u32,
    /// How it ended.
    pub state: End,
    /// The tree that was read.
    pub source: String,
    /// The tree that was written.
    pub destination: String,
    /// Nothing was done: the numbers say what would be.
    pub dry_run: bool,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it took, ns.
    pub elapsed_ns: u64,
    /// Entries by what became of them.
    pub entries: Entries,
    /// Bytes by what became of them.
    pub bytes: Sizes,
    /// The first entries that could not be done, and why.
    pub failures: Vec<Failure>,
    /// How a watch went on after its first sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
}

/// How a watch followed its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// What told of changes: `fanotify`, `inotify`, `changelog`, or `rescan` where nothing does.
    pub by: String,
    /// Rounds that looked at what had changed.
    pub rounds: u64,
    /// Rounds that looked at everything, beside the first.
    pub rescans: u64,
    /// How often changes were lost, so that everything was looked at again.
    pub gaps: u64,
    /// Changes that were told and not yet at the destination when it ended.
    pub waiting: u64,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The destination is as the source was.
    Complete,
    /// Some entries failed or were unstable.
    Partial,
    /// A signal stopped it; what was done is written down.
    Stopped,
}

/// Entries by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entries {
    /// Looked at on the source.
    pub scanned: u64,
    /// Files whose content was copied.
    pub copied: u64,
    /// Files whose content the destination had under another name.
    #[serde(default)]
    pub moved: u64,
    /// Directories, symlinks, fifos and devices made.
    pub made: u64,
    /// Further names of files.
    pub linked: u64,
    /// Attributes set, content left.
    pub updated: u64,
    /// Nothing to do.
    pub skipped: u64,
    /// Left out by filters, as special files, or as other file systems.
    pub left_out: u64,
    /// Removed, or moved to the trash.
    pub deleted: u64,
    /// Changed whenever they were read.
    pub unstable: u64,
    /// Gone while we looked.
    pub vanished: u64,
    /// Could not be done.
    pub failed: u64,
}

/// Bytes by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Read from the source.
    pub read_bytes: u64,
    /// Written to the destination.
    pub sent_bytes: u64,
    /// Of changed files, but there already; and holes.
    pub saved_bytes: u64,
    /// Read back and found right.
    pub verified_bytes: u64,
}

/// An entry that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Relative to the roots; bytes that are no text are written `\xff`.
    pub path: String,
    /// Why.
    pub reason: String,
    /// What to do.
    pub hint: Option<String>,
}

/// The JSON Schema (draft 2020-12) of a sync's record; also shipped as `docs/sync-record.schema.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Record).to_value()
}

impl Failure {
    /// What became of the entry at `path`.
    pub fn of(path: &[u8], fault: &Fault) -> Self {
        Self {
            path: store::printable(path),
            reason: fault.message().to_owned(),
            hint: fault.hint_text().map(str::to_owned),
        }
    }
}

impl Entries {
    /// What the counters say.
    pub fn of(counters: &Counters) -> Self {
        Self {
            scanned: counters.scanned.get(),
            copied: counters.copied.get(),
            moved: counters.moved.get(),
            made: counters.made.get(),
            linked: counters.linked.get(),
            updated: counters.updated.get(),
            skipped: counters.skipped.get(),
            left_out: counters.left_out.get(),
            deleted: counters.deleted.get(),
            unstable: counters.unstable.get(),
            vanished: counters.vanished.get(),
            failed: counters.failed.get(),
        }
    }
}

impl Sizes {
    /// What the counters say.
    pub fn of(counters: &Counters) -> Self {
        Self {
            read_bytes: counters.bytes_read.get(),
            sent_bytes: counters.bytes_sent.get(),
            saved_bytes: counters.bytes_saved.get(),
            verified_bytes: counters.bytes_verified.get(),
        }
    }
}
