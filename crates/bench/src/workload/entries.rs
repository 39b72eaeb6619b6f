use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Ratio};

use super::{Order, Pacing, RankShift};

/// Operations on the entries of the tree: mdtest's phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entries {
    /// What is done to each.
    pub operation: EntryOperation,
    /// What the items are.
    #[serde(default)]
    pub item: Item,
    /// Bytes written to each created file (mdtest -w).
    #[serde(default, with = "units::text")]
    #[schemars(with = "String")]
    pub write_bytes: Bytes,
    /// Bytes read from each file (mdtest -e).
    #[serde(default, with = "units::text")]
    #[schemars(with = "String")]
    pub read_bytes: Bytes,
    /// Make each created file durable (mdtest -y).
    #[serde(default)]
    pub fsync: bool,
    /// Flush the target's file system at the end, inside the time (mdtest -Y).
    #[serde(default)]
    pub sync_at_end: bool,
    /// The order of items: sequential or shuffled (mdtest -R).
    #[serde(default)]
    pub order: Order,
    /// Whose items a rank works on (mdtest -N).
    #[serde(default)]
    pub rank_shift: RankShift,
    /// Which items it takes (vdbench fileselect).
    #[serde(default)]
    pub select: Selection,
    /// Only items in these targets are taken, counted from 0 with the first target; in all when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<u32>,
    /// Only the first items of every rank are used: this part of them (vdbench workingsetsize).
    #[serde(default = "all", with = "units::text")]
    #[schemars(with = "String")]
    pub working_set: Ratio,
    /// When operations start (vdbench fwdrate).
    #[serde(default)]
    pub pacing: Pacing,
    /// The first of the job's ranks does it for the items of all ranks, and the others wait (mdtest -c).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_rank_only: bool,
    /// Bytes per call (vdbench xfersize); each file in one call when absent.
    #[serde(default, with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub transfer_size: Option<Bytes>,
    /// The calls of one file go to its parts in a random order (vdbench `fileio=random`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scattered: bool,
    /// At most so many calls per file that is read or written again (vdbench stopafter).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Files that are written again are removed first and made anew (vdbench `fileio=(seq,delete)`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
    /// Bypass the page cache (`O_DIRECT`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// Open each directory once and name items relative to it, instead of by paths from the run directory.
    #[serde(default)]
    pub relative: bool,
    /// Compare what is read with what was written.
    #[serde(default)]
    pub verify: bool,
    /// Renames give each item the name of the one before it, all around (mdtest -U).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chained: bool,
    /// What a find is looking for: entries that match are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looking_for: Option<LookingFor>,
}

/// What a find is looking for: every condition given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LookingFor {
    /// Names like this: `*` stands for any characters, `?` for one (find -name).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Exactly so many bytes (find -size 3901c).
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub size: Option<Bytes>,
    /// Changed after the last `mark` (find -newer FILE), both by the clock that gives the target's files their times.
    pub newer: bool,
    /// Changed after this instant, by the same clock (find -newer FILE, where the file is not the run's own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer_than: Option<Instant>,
}

/// A time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instant {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds behind them.
    #[serde(default)]
    pub nanoseconds: i64,
}

/// What is done to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryOperation {
    /// Make the directories of the tree.
    MakeTree,
    /// Remove them.
    RemoveTree,
    /// Create files (open, write, close), make directories or make nodes.
    Create,
    /// Read attributes.
    Stat,
    /// Change attributes: set the times of access and change to now (vdbench setattr).
    SetAttributes,
    /// Open and close.
    Open,
    /// Open, read, close.
    Read,
    /// Open what has been created, write all of it again, close.
    Write,
    /// Give each a new name in the same directory, and back on the next rename.
    Rename,
    /// Remove.
    Remove,
    /// List all directories of the tree and look at every entry.
    Find,
    /// Remember this instant for finds that look for what is newer (IO500 timestamp). Ends when the clock of the target's
    /// files has moved on, so that everything made from then on is newer.
    Mark,
}

/// Which items a rank takes. All but `own` take items of any rank, of those that are there for the operation: what one
/// rank removes another can create again, and no item is removed or written while somebody else uses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Its own, each once, in `order`.
    #[default]
    Own,
    /// Of all ranks, the next that is free, round and round (vdbench `fileselect=sequential`).
    Next,
    /// Of all ranks, any at any time (vdbench `fileselect=random`).
    Random,
    /// Of all ranks, each once, whoever of the job comes first (vdbench `fileselect=(sequential,once)`).
    Once,
    /// Of all ranks, the first ones far more often: as exponentially distributed with this part of them as its mean
    /// (like vdbench `fileselect=(poisson,n)`).
    Skewed(
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        Ratio,
    ),
}

impl EntryOperation {
    /// Whether it takes items that are there and leaves them there: it can go round them again.
    pub fn keeps(self) -> bool {
        matches!(self, Self::Stat | Self::SetAttributes | Self::Open | Self::Read | Self::Write)
    }

    /// Whether it is done to one item after the other.
    pub fn is_for_items(self) -> bool {
        self.keeps() || matches!(self, Self::Create | Self::Rename | Self::Remove)
    }
}

const fn all() -> Ratio {
    Ratio::ONE
}

impl LookingFor {
    /// Whether a name fits the pattern.
    pub fn fits(&self, name: &[u8]) -> bool {
        self.name.as_ref().is_none_or(|pattern| fits(pattern.as_bytes(), name))
    }
}

/// Whether `name` fits a pattern of `*`, `?` and characters that stand for themselves. A star first takes nothing, and one
/// character more whenever what follows it does not fit.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, position));
                at += 1;
            }
            Some(c) if *c == b'?' || *c == name[position] => {
                at += 1;
                position += 1;
            }
            _ => {
                let Some((after, taken)) = star else { return false };
                star = Some((after, taken + 1));
                (at, position) = (after, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

/// What the items of a tree are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Regular files.
    #[default]
    File,
    /// Directories.
    Directory,
    /// Regular files made with `mknod` (mdtest -k).
    Node,
}

impl Entries {
    /// Of `items`, how many are used.
    pub fn used(&self, items: u64) -> u64 {
        if self.working_set == Ratio::ONE {
            return items;
        }
        ((items as f64 * self.working_set.get()).ceil() as u64).clamp(items.min(1), items)
    }

    /// `operation` on plain files, everything else at its default.
    pub fn of(operation: EntryOperation) -> Self {
        Self {
            operation,
            item: Item::File,
            write_bytes: Bytes::ZERO,
            read_bytes: Bytes::ZERO,
            fsync: false,
            sync_at_end: false,
            order: Order::Sequential,
            rank_shift: RankShift::None,
            select: Selection::Own,
            targets: Vec::new(),
            working_set: Ratio::ONE,
            pacing: Pacing::Closed,
            first_rank_only: false,
            transfer_size: None,
            scattered: false,
            calls: None,
            anew: false,
            direct: false,
            relative: false,
            verify: false,
            chained: false,
            looking_for: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fits;

    /// As defined: tries everything a star may stand for.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=name.len()).any(|taken| naive(rest, &name[taken..])),
            (Some((b'?', rest)), Some((_, name))) => naive(rest, name),
            (Some((c, rest)), Some((first, name))) => c == first && naive(rest, name),
            _ => false,
        }
    }

    #[test]
    fn io500_looks_for_01_anywhere() {
        assert!(fits(b"*01*", b"file.mdtest.0.1012") && fits(b"*01*", b"01"));
        assert!(!fits(b"*01*", b"file.0.1") && !fits(b"", b"x") && fits(b"", b""));
    }

    proptest! {
        #[test]
        fn patterns_fit_as_defined(pattern in "[ab*?]{0,7}", name in "[ab]{0,9}") {
            prop_assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), naive(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
