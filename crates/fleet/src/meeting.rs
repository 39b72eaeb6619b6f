use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use fault::Fault;

use crate::{Clock, Link};

/// Another rank failed: there is nobody left to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aborted;

/// A barrier that can be called off and that carries a maximum, for the ranks of one process or of several.
///
/// `std::sync::Barrier` can't be called off: a rank that dies would leave the others waiting for ever. Over several
/// processes the last rank to arrive asks the others, one collective call per meeting. So that these calls stay in step, a
/// process whose ranks can't come any more calls the next one off for everybody, by [`close`](Self::close).
pub struct Meeting<'link> {
    size: u32,
    state: Mutex<State>,
    changed: Condvar,
    beyond: Option<Beyond<'link>>,
}

/// The other processes.
#[derive(Clone, Copy)]
struct Beyond<'link> {
    link: &'link dyn Link,
    clock: Clock,
    head_start_ns: u64,
}

#[derive(Debug, Default)]
struct State {
    arrived: u32,
    generation: u64,
    maximum: u64,
    agreed: u64,
    aborted: bool,
    /// All processes know that the meetings are called off.
    all_know: bool,
    /// The link can't go on.
    broken: Option<Fault>,
}

impl std::fmt::Debug for Meeting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meeting")
            .field("size", &self.size)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Meeting<'static> {
    /// A meeting of `size` ranks.
    pub fn new(size: u32) -> Self {
        Self { size, state: Mutex::default(), changed: Condvar::new(), beyond: None }
    }
}

impl<'link> Meeting<'link> {
    /// A meeting of `size` ranks of this process with those of the others. What is common starts `head_start_ns` after the
    /// last has arrived, so that everyone has heard of it by then.
    pub fn over(size: u32, link: &'link dyn Link, clock: Clock, head_start_ns: u64) -> Self {
        Self { beyond: Some(Beyond { link, clock, head_start_ns }), ..Meeting::new(size) }
    }

    /// Waits for all ranks; every one of them gets the largest `value`.
    pub fn all_max(&self, value: u64) -> Result<u64, Aborted> {
        let mut state = self.lock();
        if state.aborted {
            return Err(Aborted);
        }
        state.maximum = state.maximum.max(value);
        state.arrived += 1;
        if state.arrived == self.size {
            let own = std::mem::take(&mut state.maximum);
            return self.conclude(state, own);
        }
        let generation = state.generation;
        let state = self
            .changed
            .wait_while(state, |state| state.generation == generation && !state.aborted)
            .unwrap_or_else(PoisonError::into_inner);
        // A meeting that was complete before the abort still counts.
        if state.generation == generation { Err(Aborted) } else { Ok(state.agreed) }
    }

    /// Waits for all ranks; every one of them gets the latest `instant` (ns, on this process's monotonic clock).
    pub fn latest(&self, instant: u64) -> Result<u64, Aborted> {
        let Some(Beyond { clock, .. }) = self.beyond else { return self.all_max(instant) };
        self.all_max(clock.to_root(instant)).map(|latest| clock.to_own(latest))
    }

    /// The same, and a little later: an instant that has not passed yet when all ranks know it.
    pub fn start(&self, instant: u64) -> Result<u64, Aborted> {
        let head_start_ns = self.beyond.map_or(0, |beyond| beyond.head_start_ns);
        self.latest(instant).map(|latest| latest.saturating_add(head_start_ns))
    }

    /// The last rank here has arrived. All the others wait: nobody else comes or calls off until this is over.
    fn conclude(&self, state: MutexGuard<'_, State>, own: u64) -> Result<u64, Aborted> {
        drop(state);
        let agreed = self.vote(Some(own));
        let mut state = self.lock();
        match agreed {
            Ok(agreed) => {
                state.agreed = agreed;
                state.arrived = 0;
                state.generation += 1;
            }
            Err(Aborted) => state.aborted = true,
        }
        self.changed.notify_all();
        agreed
    }

    /// What all processes come to.
    fn vote(&self, own: Option<u64>) -> Result<u64, Aborted> {
        let Some(Beyond { link, .. }) = self.beyond else { return own.ok_or(Aborted) };
        match link.all_max(own) {
            Ok(Ok(agreed)) => Ok(agreed),
            Ok(Err(Aborted)) => {
                self.lock().all_know = true;
                Err(Aborted)
            }
            Err(fault) => {
                self.lock().broken.get_or_insert(fault);
                Err(Aborted)
            }
        }
    }

    /// Ends the meetings of this process, after all its ranks have ended: the largest `value` of all processes; `None` if
    /// the meetings were called off, here or anywhere. Then the others know it too.
    ///
    /// # Errors
    ///
    /// When the link to the other processes can't go on.
    pub fn close(&self, value: u64) -> fault::Result<Option<u64>> {
        let (aborted, all_know, broken) = {
            let mut state = self.lock();
            (state.aborted, state.all_know, state.broken.take())
        };
        if let Some(fault) = broken {
            return Err(fault);
        }
        if all_know {
            return Ok(None);
        }
        let agreed = self.vote((!aborted).then_some(value)).ok();
        match self.lock().broken.take() {
            Some(fault) => Err(fault),
            None => Ok(agreed),
        }
    }

    /// Calls the meeting off: nobody waits any more, now or later.
    pub fn abort(&self) {
        self.lock().aborted = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_the_maximum_each_time() {
        let meeting = Meeting::new(4);
        std::thread::scope(|scope| {
            for rank in 0..4u64 {
                let meeting = &meeting;
                scope.spawn(move || {
                    for round in 0..100 {
                        assert_eq!(meeting.all_max(rank * round), Ok(3 * round));
                    }
                });
            }
        });
    }

    #[test]
    fn an_abort_frees_those_who_wait_and_those_who_come_later() {
        let meeting = Meeting::new(3);
        std::thread::scope(|scope| {
            let waiting = [scope.spawn(|| meeting.all_max(1)), scope.spawn(|| meeting.all_max(2))];
            meeting.abort();
            for waiter in waiting {
                assert_eq!(waiter.join().unwrap(), Err(Aborted));
            }
        });
        assert_eq!(meeting.all_max(3), Err(Aborted));
    }

    #[test]
    fn ranks_of_several_processes_meet_and_the_common_start_lies_ahead() {
        use crate::group::Group;
        let members = Group::new(3).shifted(1, 500).members();
        std::thread::scope(|scope| {
            for member in members {
                scope.spawn(move || {
                    let own = if member.process() == 1 { 500 } else { 0 };
                    let clock = member.clock().unwrap();
                    let meeting = Meeting::over(2, &member, clock, 70);
                    let ends = [0, 1].map(|rank| {
                        let (meeting, process) = (&meeting, u64::from(member.process()));
                        std::thread::scope(|inner| {
                            let other = inner.spawn(move || meeting.all_max(process * 2));
                            assert_eq!(meeting.all_max(process * 2 + 1), Ok(5));
                            assert_eq!(other.join().unwrap(), Ok(5));
                            let other = inner.spawn(move || meeting.start(10_000 - own));
                            assert_eq!(meeting.start(9_000), Ok(10_070 - own));
                            assert_eq!(other.join().unwrap(), Ok(10_070 - own));
                        });
                        rank
                    });
                    assert_eq!(ends, [0, 1]);
                    assert_eq!(meeting.close(u64::from(member.process())).unwrap(), Some(2));
                    member.leave();
                });
            }
        });
    }

    #[test]
    fn a_process_that_calls_off_stays_in_step_with_the_others() {
        use crate::group::Group;
        std::thread::scope(|scope| {
            for member in Group::new(3).members() {
                scope.spawn(move || {
                    let meeting = Meeting::over(1, &member, Clock::default(), 0);
                    assert_eq!(meeting.all_max(1), Ok(1));
                    if member.process() == 1 {
                        meeting.abort();
                        assert_eq!(meeting.all_max(1), Err(Aborted));
                    } else {
                        assert_eq!(meeting.all_max(1), Err(Aborted), "called off by another process");
                        assert_eq!(meeting.all_max(1), Err(Aborted));
                    }
                    assert_eq!(meeting.close(7).unwrap(), None);
                    // Whatever came before, everyone is at the same place now.
                    assert_eq!(member.broadcast(vec![member.process() as u8]).unwrap(), [0]);
                    member.leave();
                });
            }
        });
    }
}
