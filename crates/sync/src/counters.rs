use std::sync::atomic::{AtomicU64, Ordering};

/// A number that workers add to and a watcher reads.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `more`.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Adds one.
    pub fn one(&self) {
        self.add(1);
    }

    /// So far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a job is; each number only grows.
#[derive(Debug, Default)]
pub struct Counters {
    /// Entries of the source that were looked at.
    pub scanned: Count,
    /// Files whose content was written.
    pub copied: Count,
    /// Files whose content came from where the destination had it under another name.
    pub moved: Count,
    /// Those of them whose old name went with that: it is no delete.
    pub moved_away: Count,
    /// Directories, symlinks, fifos and devices that were made.
    pub made: Count,
    /// Names that were linked to a file that is there.
    pub linked: Count,
    /// Entries whose attributes alone were set.
    pub updated: Count,
    /// Entries that needed nothing.
    pub skipped: Count,
    /// Entries that were left out by a filter, as special files, or as mounts.
    pub left_out: Count,
    /// Entries that were removed or moved to the trash.
    pub deleted: Count,
    /// Files that changed whenever they were read.
    pub unstable: Count,
    /// Entries that went while we looked.
    pub vanished: Count,
    /// Entries that could not be done.
    pub failed: Count,
    /// Bytes read from the source, but for a look at a few places of a large file (see `Delta::Auto`).
    pub bytes_read: Count,
    /// Bytes of content written to the destination.
    pub bytes_sent: Count,
    /// Bytes of changed files that were there already, and holes.
    pub bytes_saved: Count,
    /// Bytes read back from the destination and found right.
    pub bytes_verified: Count,
}

impl Counters {
    /// All numbers, in an order that stays.
    pub fn numbers(&self) -> [u64; 15] {
        self.all().map(Count::get)
    }

    /// Adds what was counted elsewhere since `before`.
    pub fn add_since(&self, before: &[u64; 15], now: &[u64; 15]) {
        for ((count, before), now) in self.all().into_iter().zip(before).zip(now) {
            count.add(now.saturating_sub(*before));
        }
    }

    fn all(&self) -> [&Count; 15] {
        [
            &self.scanned,
            &self.copied,
            &self.made,
            &self.linked,
            &self.updated,
            &self.skipped,
            &self.left_out,
            &self.deleted,
            &self.unstable,
            &self.vanished,
            &self.failed,
            &self.bytes_read,
            &self.bytes_sent,
            &self.bytes_saved,
            &self.bytes_verified,
        ]
    }
}
