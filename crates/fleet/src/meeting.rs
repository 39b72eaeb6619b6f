use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Another rank failed: there is nobody left to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aborted;

/// A barrier that can be called off and that carries a maximum.
///
/// `std::sync::Barrier` can't be called off: a rank that dies would leave the others waiting for ever.
#[derive(Debug)]
pub struct Meeting {
    size: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: u32,
    generation: u64,
    maximum: u64,
    agreed: u64,
    aborted: bool,
}

impl Meeting {
    /// A meeting of `size` ranks.
    pub fn new(size: u32) -> Self {
        Self { size, state: Mutex::default(), changed: Condvar::new() }
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
            state.agreed = std::mem::take(&mut state.maximum);
            state.arrived = 0;
            state.generation += 1;
            self.changed.notify_all();
            return Ok(state.agreed);
        }
        let generation = state.generation;
        let state = self
            .changed
            .wait_while(state, |state| state.generation == generation && !state.aborted)
            .unwrap_or_else(PoisonError::into_inner);
        // A meeting that was complete before the abort still counts.
        if state.generation == generation { Err(Aborted) } else { Ok(state.agreed) }
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
}
