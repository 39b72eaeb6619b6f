use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};

use super::out_of_step;
use super::state::{Presence, Shared, State};
use crate::clock::now_ns;
use crate::frame::{Agreed, Brought, Frame};
use crate::{Aborted, Clock};

/// Pings per neighbour; the shortest round trip counts.
const PINGS: u64 = 20;
/// Children pinged at the same time: more would queue behind each other, and that is what would be measured.
const AT_ONCE: usize = 8;
/// An answer that takes longer says nothing about the clock.
const LOST_PING: Duration = Duration::from_secs(2);

impl Shared {
    pub fn all_max(&self, round: u64, own: Option<u64>) -> Result<std::result::Result<u64, Aborted>> {
        let mut most = own;
        for brought in self.collect(round)? {
            let Brought::Value(value) = brought else { return Err(out_of_step()) };
            most = most.zip(value).map(|(one, other)| one.max(other));
        }
        let Some(parent) = self.place.parent() else {
            let agreed = most.filter(|_| !self.too_many_lost()).ok_or(Aborted);
            self.tell_children(&Frame::Agreed { round, what: Agreed::Value(agreed) });
            return Ok(agreed);
        };
        self.send(parent, Frame::Bring { round, what: Brought::Value(most) });
        match self.agreed(round)? {
            Agreed::Value(agreed) => Ok(agreed),
            _ => Err(out_of_step()),
        }
    }

    pub fn broadcast(&self, round: u64, bytes: Vec<u8>) -> Result<Vec<u8>> {
        if self.place.is_root() {
            self.tell_children(&Frame::Agreed { round, what: Agreed::Bytes(bytes.clone()) });
            return Ok(bytes);
        }
        match self.agreed(round)? {
            Agreed::Bytes(bytes) => Ok(bytes),
            _ => Err(out_of_step()),
        }
    }

    pub fn gather(&self, round: u64, own: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>> {
        let mut all = vec![(self.place.number, own)];
        for brought in self.collect(round)? {
            let Brought::Bytes(brought) = brought else { return Err(out_of_step()) };
            all.extend(brought);
        }
        if let Some(parent) = self.place.parent() {
            self.send(parent, Frame::Bring { round, what: Brought::Bytes(all) });
            return Ok(Vec::new());
        }
        let mut gathered = vec![None; self.place.processes as usize];
        for (process, bytes) in all {
            *gathered.get_mut(process as usize).ok_or_else(out_of_step)? = Some(bytes);
        }
        Ok(gathered)
    }

    /// Measures the clocks level by level: each process its children's, after it got to know its own.
    pub fn measure_clocks(&self, round: u64) -> Result<Clock> {
        let own = if self.place.is_root() {
            Clock::default()
        } else {
            match self.agreed(round)? {
                Agreed::Clock(clock) => clock,
                _ => return Err(out_of_step()),
            }
        };
        let children: Vec<usize> = self.place.children().collect();
        for some in children.chunks(AT_ONCE) {
            for (child, clock) in self.ping(round, some) {
                let clock = Clock {
                    offset_ns: clock.offset_ns + own.offset_ns,
                    uncertainty_ns: clock.uncertainty_ns + own.uncertainty_ns,
                };
                self.send(child, Frame::Agreed { round, what: Agreed::Clock(clock) });
            }
        }
        self.measured();
        Ok(own)
    }

    /// How far the clocks of `children` are from ours.
    fn ping(&self, round: u64, children: &[usize]) -> Vec<(usize, Clock)> {
        let mut best: Vec<Option<Clock>> = vec![None; children.len()];
        for turn in 0..PINGS {
            let number = round * PINGS + turn;
            let mut sent = Vec::with_capacity(children.len());
            for child in children {
                sent.push(now_ns());
                self.send(*child, Frame::Ping { number });
            }
            let until = Instant::now() + LOST_PING;
            let answered = |state: &State, child: usize| {
                state.pongs[child].is_some_and(|(pong, ..)| pong == number)
                    || state.presence[child] != Presence::Here
            };
            let state =
                self.look(Some(until), false, |state| children.iter().all(|child| answered(state, *child)));
            let Ok(state) = state else { break };
            for ((child, sent), best) in children.iter().zip(sent).zip(&mut best) {
                let Some((_, there, here)) = state.pongs[*child].filter(|(pong, ..)| *pong == number) else {
                    continue;
                };
                let clock = clock(sent, there, here);
                if best.is_none_or(|best| clock.uncertainty_ns < best.uncertainty_ns) {
                    *best = Some(clock);
                }
            }
        }
        // One that never answered gets a clock nobody can rely on.
        let unknown = Clock { offset_ns: 0, uncertainty_ns: u64::MAX / 4 };
        children.iter().zip(best).map(|(child, best)| (*child, best.unwrap_or(unknown))).collect()
    }

    /// What the children bring to a round, without those who are not there any more.
    fn collect(&self, round: u64) -> Result<Vec<Brought>> {
        let children = self.place.children();
        let came = |state: &State, child: usize| {
            state.arrived[child].front().is_some_and(|(arrived, _)| *arrived <= round)
                || state.presence[child] != Presence::Here
        };
        let mut state = self.wait(|state| children.clone().all(|child| came(state, child)))?;
        let mut all = Vec::new();
        for child in children {
            match state.arrived[child].pop_front() {
                Some((arrived, brought)) if arrived == round => all.push(brought),
                None => {}
                Some(_) => return Err(out_of_step()),
            }
        }
        Ok(all)
    }

    /// What a round came to.
    fn agreed(&self, round: u64) -> Result<Agreed> {
        let mut state = self.wait(|state| !state.agreed.is_empty())?;
        match state.agreed.pop_front() {
            Some((agreed, what)) if agreed == round => Ok(what),
            _ => Err(out_of_step()),
        }
    }

    /// Waits until `done`. An error if the run is over meanwhile.
    pub fn wait(&self, done: impl Fn(&State) -> bool) -> Result<MutexGuard<'_, State>> {
        self.look(None, true, done)
    }

    /// Waits until `done`, or as long as may be; with `over`, an error if the run is over meanwhile.
    fn look(
        &self,
        until: Option<Instant>,
        may_be_over: bool,
        done: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'_, State>> {
        let _waiting = Waiting::begin(self);
        let mut state = self.lock();
        loop {
            if done(&state) {
                return Ok(state);
            }
            if may_be_over {
                over(&state)?;
            }
            let now = Instant::now();
            let left = until.map_or(Duration::from_hours(1), |until| until.saturating_duration_since(now));
            if left.is_zero() {
                return Ok(state);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn over(state: &State) -> Result<()> {
    if let Some(why) = &state.orphaned {
        return Err(Fault::new(Kind::Io, format!("the process that leads this run is gone: {why}")));
    }
    if state.bye.is_some() {
        return Err(Fault::new(Kind::Interrupted, "the process that leads this run has ended it"));
    }
    Ok(())
}

/// A thread that waits for an answer, so that the postman looks more often.
pub(super) struct Waiting<'a>(&'a Shared);

impl<'a> Waiting<'a> {
    pub fn begin(shared: &'a Shared) -> Self {
        shared.waiting.fetch_add(1, Ordering::AcqRel);
        (shared.wake)();
        Self(shared)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// From one ping: the other read its clock between our sending and receiving.
fn clock(sent: u64, there: u64, received: u64) -> Clock {
    let half = received.saturating_sub(sent).div_ceil(2);
    let middle = sent + half;
    Clock { offset_ns: middle.wrapping_sub(there).cast_signed(), uncertainty_ns: half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_known_to_half_a_round_trip() {
        let clock = clock(1_000, 5_000, 1_200);
        assert_eq!(clock, Clock { offset_ns: -3_900, uncertainty_ns: 100 });
        assert_eq!(clock.to_root(5_000), 1_100);
        assert_eq!(super::clock(5_000, 1_000, 5_000).offset_ns, 4_000);
    }
}
