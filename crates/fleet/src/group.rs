//! Processes that are threads of this one: what runs over several hosts can be tried in one process, lost members and
//! shifted clocks included.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use fault::{Fault, Kind, Result};

use crate::{Aborted, Clock, GONE, Link, Lost};

const STOPPED_BY_LOSS: u16 = GONE as u16 + 1;

/// Builds the members of a group.
#[derive(Debug, Clone, Default)]
pub struct Group {
    shifts: Vec<i64>,
    allowed: u32,
}

/// One process of a group. Dropping it without [`Member::leave`] is its death.
#[derive(Debug)]
pub struct Member {
    number: u32,
    clock: Clock,
    hall: Arc<Hall>,
}

#[derive(Debug)]
struct Hall {
    size: usize,
    allowed: u32,
    state: Mutex<State>,
    changed: Condvar,
    /// The reason to stop, plus one; 0 is none.
    stop: AtomicU16,
}

#[derive(Debug)]
struct State {
    round: u64,
    brought: Vec<Option<Brought>>,
    /// What the last round came to, for each member that has not fetched it yet.
    agreed: Option<Arc<Round>>,
    gone: Vec<bool>,
    left: Vec<bool>,
    posts: VecDeque<(u32, Vec<u8>)>,
}

/// What a round came to: the same for all, whoever goes away before everyone has fetched it.
#[derive(Debug)]
struct Round {
    brought: Vec<Option<Brought>>,
    /// More members were lost than may be.
    broken: bool,
}

#[derive(Debug, Clone)]
enum Brought {
    Value(Option<u64>),
    Bytes(Vec<u8>),
}

impl Group {
    /// A group of `size` members.
    pub fn new(size: u32) -> Self {
        Self { shifts: vec![0; size as usize], allowed: 0 }
    }

    /// Member `number` believes that its clock is `offset_ns` behind the root's.
    #[must_use]
    pub fn shifted(mut self, number: u32, offset_ns: i64) -> Self {
        self.shifts[number as usize] = offset_ns;
        self
    }

    /// So many members may be lost without ending the run.
    #[must_use]
    pub fn allow_lost(mut self, members: u32) -> Self {
        self.allowed = members;
        self
    }

    /// The members, in their order.
    pub fn members(self) -> Vec<Member> {
        let size = self.shifts.len();
        let hall = Arc::new(Hall {
            size,
            allowed: self.allowed,
            state: Mutex::new(State {
                round: 0,
                brought: vec![None; size],
                agreed: None,
                gone: vec![false; size],
                left: vec![false; size],
                posts: VecDeque::new(),
            }),
            changed: Condvar::new(),
            stop: AtomicU16::new(0),
        });
        let clock = |offset_ns: i64| Clock { offset_ns, uncertainty_ns: 0 };
        let member =
            |(number, shift)| Member { number: number as u32, clock: clock(shift), hall: hall.clone() };
        self.shifts.into_iter().enumerate().map(member).collect()
    }
}

impl Member {
    /// Ends as planned.
    pub fn leave(self) {
        self.hall.lock().left[self.number as usize] = true;
    }

    /// Brings something, and waits until everyone who is still there has.
    fn meet(&self, own: Brought) -> Result<Arc<Round>> {
        let mut state = self.hall.lock();
        let round = state.round;
        state.brought[self.number as usize] = Some(own);
        self.hall.complete(&mut state);
        let state = self
            .hall
            .changed
            .wait_while(state, |state| state.round == round)
            .unwrap_or_else(PoisonError::into_inner);
        if state.gone[0] {
            return Err(Fault::new(Kind::Io, "the first process of the run is gone"));
        }
        state.agreed.clone().ok_or_else(|| Fault::new(Kind::Bug, "a round without a result"))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.hall.lock();
        if !state.left[self.number as usize] {
            state.gone[self.number as usize] = true;
            self.hall.complete(&mut state);
        }
    }
}

impl Hall {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the round when everyone who is still there has brought something.
    fn complete(&self, state: &mut State) {
        let broken = state.gone.iter().filter(|gone| **gone).count() as u32 > self.allowed;
        if broken {
            // The first reason counts.
            let _ = self.stop.compare_exchange(0, STOPPED_BY_LOSS, Ordering::AcqRel, Ordering::Acquire);
        }
        let here =
            |number: usize| state.brought[number].is_some() || state.gone[number] || state.left[number];
        if !(0..self.size).all(here) || state.brought.iter().all(Option::is_none) {
            return;
        }
        let brought = std::mem::replace(&mut state.brought, vec![None; self.size]);
        state.agreed = Some(Arc::new(Round { brought, broken }));
        state.round += 1;
        self.changed.notify_all();
    }
}

impl Link for Member {
    fn process(&self) -> u32 {
        self.number
    }

    fn processes(&self) -> u32 {
        self.hall.size as u32
    }

    fn all_max(&self, value: Option<u64>) -> Result<std::result::Result<u64, Aborted>> {
        let round = self.meet(Brought::Value(value))?;
        if round.broken {
            return Ok(Err(Aborted));
        }
        let mut most = 0;
        for brought in round.brought.iter().flatten() {
            match brought {
                Brought::Value(Some(value)) => most = most.max(*value),
                Brought::Value(None) => return Ok(Err(Aborted)),
                Brought::Bytes(_) => return Err(out_of_step()),
            }
        }
        Ok(Ok(most))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        match &self.meet(Brought::Bytes(bytes))?.brought[0] {
            Some(Brought::Bytes(bytes)) => Ok(bytes.clone()),
            _ => Err(out_of_step()),
        }
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>> {
        let round = self.meet(Brought::Bytes(bytes))?;
        if self.number > 0 {
            return Ok(Vec::new());
        }
        let bytes = |brought: &Option<Brought>| match brought {
            Some(Brought::Bytes(bytes)) => Ok(Some(bytes.clone())),
            Some(Brought::Value(_)) => Err(out_of_step()),
            None => Ok(None),
        };
        round.brought.iter().map(bytes).collect()
    }

    fn post(&self, bytes: Vec<u8>) {
        self.hall.lock().posts.push_back((self.number, bytes));
    }

    fn posts(&self) -> Vec<(u32, Vec<u8>)> {
        if self.number == 0 { self.hall.lock().posts.drain(..).collect() } else { Vec::new() }
    }

    fn stop(&self, reason: u8) {
        let told = u16::from(reason) + 1;
        // The first reason counts.
        let _ = self.hall.stop.compare_exchange(0, told, Ordering::AcqRel, Ordering::Acquire);
    }

    fn stopped(&self) -> Option<u8> {
        self.hall.stop.load(Ordering::Acquire).checked_sub(1).map(|reason| reason as u8)
    }

    fn resume(&self) {
        self.hall.stop.store(0, Ordering::Release);
    }

    fn clock(&self) -> Result<Clock> {
        self.meet(Brought::Value(None))?;
        Ok(self.clock)
    }

    fn lost(&self) -> Vec<Lost> {
        let state = self.hall.lock();
        let gone = state.gone.iter().enumerate().filter(|(_, gone)| **gone);
        let lost = |number| Lost {
            process: number,
            host: format!("member{number}"),
            why: "it ended early".to_owned(),
        };
        gone.map(|(number, _)| lost(number as u32)).collect()
    }
}

fn out_of_step() -> Fault {
    Fault::new(Kind::Bug, "the processes of the run are out of step")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T: Send>(members: Vec<Member>, work: impl Fn(Member) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let handles: Vec<_> =
                members.into_iter().map(|member| scope.spawn(move || work(member))).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        })
    }

    #[test]
    fn members_agree_round_after_round() {
        let ended = run(Group::new(5).members(), |member| {
            for round in 0..200u64 {
                let own = u64::from(member.process()) * round;
                assert_eq!(member.all_max(Some(own)).unwrap(), Ok(4 * round));
                let told = member.broadcast(vec![member.process() as u8, 7]).unwrap();
                assert_eq!(told, [0, 7]);
                let gathered = member.gather(vec![member.process() as u8]).unwrap();
                let expected =
                    if member.process() == 0 { (0..5).map(|n| Some(vec![n])).collect() } else { Vec::new() };
                assert_eq!(gathered, expected);
            }
            member.leave();
        });
        assert_eq!(ended.len(), 5);
    }

    #[test]
    fn a_member_that_dies_frees_the_others_and_is_named() {
        let lost = run(Group::new(3).members(), |member| {
            if member.process() == 2 {
                return Vec::new();
            }
            assert_eq!(member.all_max(Some(1)).unwrap(), Err(Aborted));
            let gathered = member.gather(vec![1]).unwrap();
            assert!(member.process() > 0 || gathered == [Some(vec![1]), Some(vec![1]), None]);
            assert_eq!(member.stopped(), Some(GONE));
            let lost = member.lost();
            member.leave();
            lost
        });
        assert_eq!(lost[0].len(), 1);
        assert_eq!(lost[0][0].process, 2);
    }

    #[test]
    fn a_death_after_a_round_does_not_part_those_who_have_agreed() {
        for _ in 0..500 {
            let agreed = run(Group::new(3).members(), |member| {
                let agreed = member.all_max(Some(7)).unwrap();
                if member.process() < 2 {
                    assert_eq!(member.all_max(Some(8)).unwrap(), Err(Aborted));
                    member.leave();
                }
                agreed
            });
            assert_eq!(agreed, [Ok(7); 3]);
        }
    }

    #[test]
    fn a_loss_that_is_allowed_ends_nothing() {
        run(Group::new(3).allow_lost(1).members(), |member| {
            if member.process() != 1 {
                assert_eq!(member.all_max(Some(u64::from(member.process()))).unwrap(), Ok(2));
                member.leave();
            }
        });
    }

    #[test]
    fn clocks_lead_to_the_roots_time_and_back() {
        let clock = Clock { offset_ns: -250, uncertainty_ns: 3 };
        assert_eq!((clock.to_root(1000), clock.to_own(750)), (750, 1000));
        let ahead = Clock { offset_ns: 250, uncertainty_ns: 3 };
        assert_eq!(ahead.to_own(ahead.to_root(42)), 42);
    }
}
