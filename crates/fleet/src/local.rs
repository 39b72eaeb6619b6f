//! Ranks as threads of this process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use fault::{Fault, Kind, Result};

use crate::{Aborted, Block, Meeting, Rank};

/// A rank that is a thread.
#[derive(Debug)]
pub struct LocalRank<'run> {
    number: u32,
    size: u32,
    meeting: &'run Meeting<'run>,
}

impl<'run> LocalRank<'run> {
    /// The only rank of a run, in the calling thread.
    pub fn alone(meeting: &'run Meeting<'run>) -> Self {
        Self { number: 0, size: 1, meeting }
    }

    /// No rank, but one who comes to all meetings of `size` ranks for a process that hosts none.
    pub fn nobody(size: u32, meeting: &'run Meeting<'run>) -> Self {
        Self { number: size, size, meeting }
    }
}

impl Rank for LocalRank<'_> {
    fn number(&self) -> u32 {
        self.number
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn barrier(&self) -> std::result::Result<(), Aborted> {
        self.meeting.all_max(0).map(|_| ())
    }

    fn all_max(&self, value: u64) -> std::result::Result<u64, Aborted> {
        self.meeting.all_max(value)
    }

    fn latest(&self, instant: u64) -> std::result::Result<u64, Aborted> {
        self.meeting.latest(instant)
    }

    fn start(&self, instant: u64) -> std::result::Result<u64, Aborted> {
        self.meeting.start(instant)
    }
}

/// The running ranks of one launch.
#[derive(Debug)]
pub struct Ranks<'scope, T> {
    first: u32,
    handles: Vec<ScopedJoinHandle<'scope, Result<T>>>,
}

/// Starts a thread for each rank of `block`. They run `work` and meet at `meeting`.
///
/// A rank that panics or returns an error calls the meeting off, so that the others end too. `at_end` runs in the rank's
/// thread after its work, whatever came of it.
pub fn launch<'scope, 'env, T, W, E>(
    scope: &'scope Scope<'scope, 'env>,
    block: Block,
    meeting: &'env Meeting<'env>,
    work: &'env W,
    at_end: &'env E,
) -> Result<Ranks<'scope, T>>
where
    T: Send + 'scope,
    W: Fn(&LocalRank<'env>) -> Result<T> + Sync,
    E: Fn(u32) + Sync,
{
    let size = block.all;
    let mut handles = Vec::with_capacity(block.count as usize);
    for number in block.ranks() {
        let run = move || {
            let rank = LocalRank { number, size, meeting };
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&rank)))
                .unwrap_or_else(|panic| Err(died(number, panic.as_ref())));
            if outcome.is_err() {
                meeting.abort();
            }
            at_end(number);
            outcome
        };
        match Builder::new().name(format!("rank {number}")).spawn_scoped(scope, run) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                meeting.abort();
                let fault = Fault::new(
                    Kind::Io,
                    format!("cannot start rank {number} of {size}: {}", fault::plain(&error)),
                );
                return Err(fault
                    .hint("use fewer ranks, or raise the limit of threads (`ulimit -u`)")
                    .caused_by(error));
            }
        }
    }
    Ok(Ranks { first: block.first, handles })
}

impl<T> Ranks<'_, T> {
    /// Waits for all ranks; one result each, in their order.
    pub fn join(self) -> Vec<Result<T>> {
        let joined = (self.first..).zip(self.handles);
        joined
            .map(|(number, handle)| handle.join().unwrap_or_else(|panic| Err(died(number, panic.as_ref()))))
            .collect()
    }
}

fn died(number: u32, panic: &(dyn Any + Send)) -> Fault {
    let words =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Fault::new(Kind::Bug, format!("rank {number} died: {}", words.unwrap_or("no reason given")))
        .hint("this is a mistake in forebay: please report it with the command line and the run record")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_dying_rank_frees_the_others() {
        let meeting = Meeting::new(3);
        let ended = AtomicU32::new(0);
        let work = |rank: &LocalRank| {
            assert!(rank.number() != 1, "broken on purpose");
            rank.barrier().map_err(|Aborted| Fault::new(Kind::Interrupted, "called off"))
        };
        let at_end = |_| {
            ended.fetch_add(1, Ordering::Relaxed);
        };
        let outcomes = std::thread::scope(|scope| {
            launch(scope, Block::whole(3), &meeting, &work, &at_end).unwrap().join()
        });
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        assert!(outcomes[1].as_ref().unwrap_err().message().contains("rank 1 died: broken on purpose"));
        assert_eq!(outcomes[0].as_ref().unwrap_err().kind(), Kind::Interrupted);
    }
}
