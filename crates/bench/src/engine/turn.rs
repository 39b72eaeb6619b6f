//! Jobs that keep to their part of a phase's operations in a closed loop: whoever gets ahead waits for the others.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::meter::Live;

/// Operations per rank that a job may be ahead: nobody waits for single operations of the others.
const AHEAD: u64 = 4;

/// One rank's right to start operations.
#[derive(Debug)]
pub struct Turn<'a> {
    live: &'a [Live],
    /// The ranks of its job.
    own: Range<usize>,
    /// The job's part.
    share: f64,
    /// Operations that may start before looking again.
    left: u64,
}

impl<'a> Turn<'a> {
    /// For a rank of the job of ranks `own`, which does `share` of what all do.
    pub fn new(live: &'a [Live], own: Range<usize>, share: f64) -> Self {
        Self { live, own, share, left: 0 }
    }

    /// Whether one more operation may start now. One job at least is not ahead, so somebody always may.
    #[inline]
    pub fn take(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.allowance();
        }
        let may = self.left > 0;
        self.left -= u64::from(may);
        may
    }

    fn allowance(&self) -> u64 {
        let done = |live: &[Live]| live.iter().map(|l| l.operations.load(Ordering::Relaxed)).sum::<u64>();
        let due = (self.share * done(self.live) as f64) as u64;
        let ahead = done(&self.live[self.own.clone()]).saturating_sub(due);
        AHEAD.saturating_sub(ahead.div_ceil(self.own.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_ahead_waits_for_the_others() {
        let live: Vec<Live> = (0..3).map(|_| Live::default()).collect();
        // Ranks 0 and 1 do a quarter of everything.
        let mut turn = Turn::new(&live, 0..2, 0.25);
        assert!((0..AHEAD).all(|_| turn.take()) && turn.take(), "nobody has done anything yet");
        let mut turn = Turn::new(&live, 0..2, 0.25);
        live[0].operations.store(10, Ordering::Relaxed);
        assert!(!turn.take(), "10 of 10 are theirs, 3 should be");
        live[2].operations.store(30, Ordering::Relaxed);
        assert!((0..AHEAD).all(|_| turn.take()), "10 of 40");
        live[1].operations.store(14, Ordering::Relaxed);
        assert!(!turn.take(), "24 of 54, 13 should be");
    }
}
