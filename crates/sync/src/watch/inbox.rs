use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fault::Fault;

use super::follower::{Follower, Told};

/// How long a follower waits before it looks whether the watch is over.
const WAIT: Duration = Duration::from_millis(200);

/// Where a follower's thread leaves what it heard, so that no queue of the kernel runs over while files are copied.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<Heard>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    told: Told,
    /// When the oldest of it was heard.
    since: Option<Instant>,
    takes: u64,
    committed: u64,
    broken: Option<Fault>,
    closed: bool,
}

/// What was taken from an inbox.
#[derive(Debug)]
pub struct Mail {
    pub told: Told,
    /// When the oldest of it was heard.
    pub since: Option<Instant>,
    /// How often the follower was asked until then.
    pub takes: u64,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to `follower` until the inbox is closed.
    pub fn listen(&self, follower: &mut dyn Follower) {
        let mut acknowledged = 0;
        loop {
            let mut told = Told::default();
            let taken = follower.take(&mut told, WAIT);
            let mut heard = self.lock();
            heard.takes += 1;
            if !told.changes.is_empty() {
                heard.since.get_or_insert_with(Instant::now);
            }
            heard.told.changes.merge(told.changes);
            heard.told.gap = told.gap.or(heard.told.gap.take());
            heard.told.notes.extend(told.notes);
            let (closed, committed) = (heard.closed, heard.committed);
            heard.broken = heard.broken.take().or(taken.err());
            let broken = heard.broken.is_some();
            drop(heard);
            self.news.notify_all();
            if committed > acknowledged {
                acknowledged = committed;
                if let Err(fault) = follower.committed(committed) {
                    self.lock().broken.get_or_insert(fault);
                }
            }
            if closed || broken {
                return;
            }
        }
    }

    /// Waits at most `wait` for anything to be heard, then takes what is there.
    pub fn wait(&self, wait: Duration) -> fault::Result<()> {
        let heard = self.lock();
        let idle = |heard: &mut Heard| heard.told.changes.is_empty() && heard.broken.is_none();
        let waited = self.news.wait_timeout_while(heard, wait, idle);
        let (mut heard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        heard.broken.take().map_or(Ok(()), Err)
    }

    /// When the oldest change that was not taken yet was heard, and how many there are.
    pub fn waiting(&self) -> (Option<Instant>, usize) {
        let heard = self.lock();
        (heard.since, heard.told.changes.len() + usize::from(heard.told.changes.is_everything()))
    }

    /// Takes all that was heard.
    pub fn take(&self) -> Mail {
        let mut heard = self.lock();
        Mail { told: std::mem::take(&mut heard.told), since: heard.since.take(), takes: heard.takes }
    }

    /// What was taken up to here is at the destination.
    pub fn committed(&self, takes: u64) {
        self.lock().committed = takes;
    }

    /// Nobody takes anything any more.
    pub fn close(&self) {
        self.lock().closed = true;
    }
}
