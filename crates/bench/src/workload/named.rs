use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Activity, Phase, Transfer, Workload};

/// Entries at places and with names that somebody else chose, instead of those of a fresh run directory: files that are
/// there already can be read, and what is written can be kept.
///
/// What the run makes is removed at its end unless it is kept; what was there before is removed only where `existing` says
/// that it is replaced. Nothing is ever reached through a symlink.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Named {
    /// Name of the data files in each target, in turn by rank (IOR -o a@b). Where every rank has its own, its number
    /// follows as IOR writes it: `name.00000003`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// The names are whole: the n-th is that of file number n, and no number follows (vdbench lun). Files beyond the last
    /// name are there for ranks that work on those of others; nothing is made for them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// The number of the repetition follows, counting from 0 (IOR -m).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data_per_repetition: bool,
    /// Trees and items are called as mdtest calls them, below `<tree>.<repetition>-<n>` (mdtest: `test-dir`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What becomes of data files that are there before.
    pub existing: Existing,
    /// Leave what the run made (IOR -k).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// Leave what the run made where verification found damaged data (IOR -K).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_damaged: bool,
}

/// What becomes of data files that are there before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Existing {
    /// They end the run before it has begun.
    #[default]
    Refuse,
    /// Regular files are removed first (IOR without -E). Anything else ends the run before it has begun.
    Replace,
    /// They are read as they are and written in place (IOR -E, or -r after an earlier -k). They stay.
    Use,
}

impl Workload {
    /// Whether data files that are there before are used.
    pub fn uses_existing(&self) -> bool {
        self.files.named.as_ref().is_some_and(|named| named.existing == Existing::Use)
    }

    /// Whether the first thing done to data files is to write all of them.
    pub fn overwrites(&self) -> bool {
        let first = self.phases.iter().find(|phase| transfers(phase).next().is_some());
        first.is_some_and(|phase| {
            transfers(phase).all(|transfer| transfer.covers() || transfer.prefill.is_some())
        })
    }

    /// Whether any transfer reads all of a file that all ranks share.
    pub fn roams(&self) -> bool {
        let roams = |transfer: &Transfer| transfer.reads() && transfer.roams(self.files.layout);
        self.phases.iter().flat_map(transfers).any(roams)
    }
}

fn transfers(phase: &Phase) -> impl Iterator<Item = &Transfer> {
    phase.jobs.iter().filter_map(|job| match &job.activity {
        Activity::Transfer(transfer) => Some(transfer),
        Activity::Entries(_) => None,
    })
}
