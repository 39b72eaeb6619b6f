//! Room that stays free in the targets: a phase that writes ends before a file system is full that others use, too.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fault::{Fault, Kind};
use host::Environment;
use rustix::fs::fstatvfs;
use units::{Bytes, Ratio};

use crate::ground::Grounds;

/// Part of a file system that stays free, and the most that this is.
const KEPT: (f64, Bytes) = (0.05, Bytes::gib(100));
/// The same with `--fill-beyond`.
const KEPT_WHEN_FILLING: (f64, Bytes) = (0.01, Bytes::gib(1));

/// What must stay available in each target.
///
/// 5 % of the file system, at most 100 GiB; with `--fill-beyond` 1 %, at most 1 GiB. A workload that was let in although it
/// leaves less may use all but half of what it leaves.
pub fn reserve(environments: &[Environment], needed: Bytes, fill_beyond: bool) -> Bytes {
    let (share, most) = if fill_beyond { KEPT_WHEN_FILLING } else { KEPT };
    let of = |environment: &Environment| {
        let mount = environment.target.as_ref().filter(|mount| mount.size_bytes > Bytes::ZERO)?;
        let left = mount.available_bytes.saturating_sub(needed);
        Some(mount.size_bytes.share(Ratio::new(share)).min(most).min(Bytes::new(left.get() / 2)))
    };
    // Where a file system doesn't say its size, nothing can be kept.
    environments.iter().filter_map(of).min().unwrap_or_default()
}

/// Looks at the room while a phase runs.
pub struct Room<'a> {
    grounds: &'a Grounds,
    reserve: Bytes,
    /// What was available when it was too little; `u64::MAX` while it is enough.
    short: AtomicU64,
    /// Looks in a row that found too little.
    looks: AtomicU32,
}

/// So many looks in a row must find too little: what is short for a moment, such as reserved for others' writes that are
/// going on, ends nothing.
const LOOKS: u32 = 2;

impl<'a> Room<'a> {
    /// Of these targets, with so much to stay.
    pub fn new(grounds: &'a Grounds, reserve: Bytes) -> Self {
        Self { grounds, reserve, short: AtomicU64::new(u64::MAX), looks: AtomicU32::new(0) }
    }

    /// Whether less is available than must stay. Once it was, it is said for good.
    pub fn is_short(&self) -> bool {
        let now = available(self.grounds);
        let Some(now) = now.filter(|now| *now < self.reserve) else {
            self.looks.store(0, Ordering::Relaxed);
            return self.failed();
        };
        if self.looks.fetch_add(1, Ordering::Relaxed) + 1 >= LOOKS {
            self.short.store(now.get(), Ordering::Relaxed);
        }
        self.failed()
    }

    fn failed(&self) -> bool {
        self.short.load(Ordering::Relaxed) != u64::MAX
    }

    /// Why the phase was ended, if it was because of this.
    pub fn failure(&self) -> Option<Fault> {
        let left = self.short.load(Ordering::Relaxed);
        if left == u64::MAX {
            return None;
        }
        let place = self.grounds.all().first().map(|ground| ground.target().display().to_string());
        let message = format!(
            "the phase was ended because `{}` is filling up: {} are left, and {} stay free",
            place.unwrap_or_default(),
            Bytes::new(left),
            self.reserve
        );
        Some(
            Fault::new(Kind::NoSpace, message)
                .hint("make room, or use a smaller size; who else writes there? What was measured is kept"),
        )
    }
}

/// On the fullest of the targets.
pub fn available(grounds: &Grounds) -> Option<Bytes> {
    let of = |stat: rustix::fs::StatVfs| Bytes::new(stat.f_bavail * stat.f_frsize);
    grounds.all().iter().filter_map(|ground| fstatvfs(ground.as_fd()).ok().map(of)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(size: Bytes, available: Bytes) -> Vec<Environment> {
        let mount = host::Mount { size_bytes: size, available_bytes: available, ..host::Mount::default() };
        vec![Environment { target: Some(mount), ..Environment::default() }]
    }

    #[test]
    fn what_stays_is_a_share_of_the_whole_and_never_what_was_granted() {
        let gib = Bytes::gib;
        assert_eq!(reserve(&on(gib(1000), gib(500)), gib(10), false), gib(50));
        assert_eq!(reserve(&on(gib(10_000), gib(5000)), gib(10), false), gib(100), "at most");
        assert_eq!(reserve(&on(gib(1000), gib(500)), gib(10), true), gib(1));
        assert_eq!(reserve(&on(gib(100), gib(12)), gib(10), false), gib(1), "half of what was to be left");
        assert_eq!(reserve(&on(gib(100), gib(10)), gib(10), true), Bytes::ZERO);
        assert_eq!(reserve(&on(Bytes::ZERO, Bytes::ZERO), gib(1), false), Bytes::ZERO, "size unknown");
        assert_eq!(reserve(&[], gib(1), false), Bytes::ZERO);
    }
}
