use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Extended;

use crate::far::Reach;
use crate::filter::Filter;
use crate::throttle::Timetable;

/// What a sync does, and how far it goes.
#[derive(Debug, Default)]
pub struct Options {
    /// The tree to read.
    pub source: PathBuf,
    /// The tree to make like it.
    pub destination: PathBuf,
    /// Directory below the destination that is meant, where several sources become one tree. It is made if it is not
    /// there, and no symlink leads to it.
    pub at: Option<String>,
    /// Where the index and the journal are kept; a place of this user's by default.
    pub state: Option<PathBuf>,
    /// Threads that scan and copy; as many as the file systems deserve by default.
    pub workers: Option<usize>,
    /// Show what would be done, do nothing.
    pub dry_run: bool,
    /// Remove at the destination what the source no longer has.
    pub delete: Option<Deletes>,
    /// Which entries are looked at.
    pub filter: Filter,
    /// Leave files alone that are newer at the destination.
    pub update: bool,
    /// What to do where both sides changed.
    pub conflict: Conflict,
    /// What is read back.
    pub verify: Verify,
    /// The most bytes per second, by time of day.
    pub limit: Option<Timetable>,
    /// Which extended attributes go along.
    pub extended: Extended,
    /// Copy fifos and device files too.
    pub special_files: bool,
    /// Go into other file systems that are mounted below the source.
    pub cross_mounts: bool,
    /// Look at the destination too, not only at what the last sync left there.
    pub check_destination: bool,
    /// Go on with a source that is empty though it was not before.
    pub allow_empty_source: bool,
    /// Go on though another file system is mounted at the source than last time.
    pub allow_new_source: bool,
    /// Change files of at least this size in place where they can't be cloned; bytes.
    pub in_place_from: Option<u64>,
    /// How a large file that changed is compared with its old copy.
    pub delta: Delta,
    /// How an object store is to hold a tree, where that is not said there already.
    pub layout: Option<Layout>,
    /// Remove from a chunk store all manifests but so many of the newest, and packs that none of those needs.
    pub prune: Option<u64>,
    /// Take the tree of this manifest of a chunk store, not of the newest.
    pub manifest: Option<u64>,
    /// How trees on other hosts are reached.
    pub reach: Reach,
    /// Copy files of at least this size in ranges, by all workers at once; bytes, 64 MiB by default.
    pub large_from: Option<u64>,
}

/// How deletes are guarded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletes {
    /// The most entries that may go; by default the larger of a tenth of the destination and 1,000.
    pub most: Option<u64>,
    /// Move them to a dated directory below the destination instead.
    pub trash: bool,
}

/// What to do with a file that somebody changed at the destination since the last sync, when it changed at the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conflict {
    /// The source wins.
    #[default]
    Source,
    /// The one that was changed later wins.
    Newer,
    /// The source's goes in place, the destination's is kept beside it under another name.
    KeepBoth,
    /// Neither is touched, and the file is reported as failed.
    Fail,
}

/// What is read back from the destination. Everything that is read from the source is hashed in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// Nothing.
    #[default]
    None,
    /// What was transferred, before it gets its final name.
    Transferred,
    /// The same, and one file in a hundred of those that had not changed.
    Sampled,
    /// The same, and all that had not changed.
    All,
}

/// How an object store holds a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// An object for every entry, under its path, as other programs read them.
    Files,
    /// Chunks in packs, and manifests that say what is made of them: only what changed is sent, and sent once.
    Chunks,
}

/// How a large file that changed is compared with its old copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delta {
    /// By blocks where they stand; by content where a look at a few places shows that it moved.
    #[default]
    Auto,
    /// By blocks where they stand.
    Fixed,
    /// By content, wherever it stands.
    Content,
    /// Not at all: all of it is copied.
    Off,
}
