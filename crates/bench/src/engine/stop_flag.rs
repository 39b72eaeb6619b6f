use std::sync::atomic::{AtomicU8, Ordering};

use record::StopCause;

/// Tells all ranks of a phase to stop.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

impl StopFlag {
    /// Asks all ranks to stop; the first reason counts.
    pub fn request(&self, cause: StopCause) {
        let code = match cause {
            StopCause::Interrupted => 1,
            StopCause::Space => 3,
            _ => 2,
        };
        let _ = self.0.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why to stop, if somebody asked.
    #[inline]
    pub fn cause(&self) -> Option<StopCause> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StopCause::Interrupted),
            3 => Some(StopCause::Space),
            _ => Some(StopCause::Error),
        }
    }
}
