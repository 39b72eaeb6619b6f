use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Place;
use super::questions::Letters;
use crate::GONE;
use crate::carrier::{Delivery, Wake};
use crate::clock::now_ns;
use crate::frame::{Agreed, Brought, Frame};

/// Posts to one neighbour that wait to be sent; older ones are dropped.
const WAITING_POSTS: usize = 256;
/// Posts that nobody has asked for yet; older ones are dropped.
const UNREAD_POSTS: usize = 1 << 16;

/// What the threads of a process share about its place in the run.
pub(super) struct Shared {
    pub place: Place,
    pub state: Mutex<State>,
    pub changed: Condvar,
    pub wake: Wake,
    /// How often [`crate::Link::resume`] was called.
    pub epoch: AtomicU64,
    /// Epoch and reason of the stop that counts, see [`packed`].
    stop: AtomicU64,
    /// A process is gone that may not be: no resume helps.
    gone: AtomicBool,
    /// Threads that wait for an answer.
    pub waiting: AtomicU32,
}

/// Whether a neighbour is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Here,
    /// It ended as planned.
    Left,
    Gone,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub outboxes: Vec<VecDeque<Frame>>,
    pub presence: Vec<Presence>,
    /// What children brought, by round.
    pub arrived: Vec<VecDeque<(u64, Brought)>>,
    pub agreed: VecDeque<(u64, Agreed)>,
    /// The children's clocks are being measured; what is to be passed down meanwhile waits in `held`.
    measuring: bool,
    held: VecDeque<Frame>,
    /// The last answered ping of each neighbour: its number, the time there and the time here.
    pub pongs: Vec<Option<(u64, u64, u64)>>,
    pub posts: VecDeque<(u32, Vec<u8>)>,
    pub letters: Letters,
    pub lost: Vec<(u32, String)>,
    /// Why the parent is gone.
    pub orphaned: Option<String>,
    pub bye: Option<u8>,
    pub closing: bool,
    pub hosts: Vec<String>,
    pub seats: Vec<u32>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("place", &self.place).finish_non_exhaustive()
    }
}

fn packed(epoch: u64, reason: u8) -> u64 {
    (epoch << 16) | (u64::from(reason) + 1)
}

/// Epoch and reason of a packed stop, if there is one.
fn unpacked(stop: u64) -> Option<(u64, u8)> {
    let reason = (stop & 0xffff).checked_sub(1)?;
    Some((stop >> 16, reason as u8))
}

impl Shared {
    pub fn new(place: Place, wake: Wake) -> Self {
        let count = place.neighbours();
        let state = State {
            outboxes: vec![VecDeque::new(); count],
            presence: vec![Presence::Here; count],
            arrived: vec![VecDeque::new(); count],
            pongs: vec![None; count],
            ..State::default()
        };
        Self {
            place,
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake,
            epoch: AtomicU64::new(0),
            stop: AtomicU64::new(0),
            gone: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send(&self, neighbour: usize, frame: Frame) {
        self.lock().outboxes[neighbour].push_back(frame);
        (self.wake)();
    }

    pub fn tell_children(&self, frame: &Frame) {
        let mut state = self.lock();
        self.place.children().for_each(|child| state.outboxes[child].push_back(frame.clone()));
        drop(state);
        (self.wake)();
    }

    pub fn post(&self, process: u32, bytes: Vec<u8>) {
        let mut state = self.lock();
        let Some(parent) = self.place.parent() else {
            state.posts.push_back((process, bytes));
            if state.posts.len() > UNREAD_POSTS {
                state.posts.pop_front();
            }
            return;
        };
        let outbox = &mut state.outboxes[parent];
        outbox.push_back(Frame::Post { process, bytes });
        let is_post = |frame: &Frame| matches!(frame, Frame::Post { .. });
        if outbox.len() > WAITING_POSTS
            && outbox.iter().filter(|frame| is_post(frame)).count() > WAITING_POSTS
            && let Some(oldest) = outbox.iter().position(is_post)
        {
            outbox.remove(oldest);
        }
        drop(state);
        (self.wake)();
    }

    pub fn stop(&self, reason: u8) {
        let epoch = self.epoch.load(Ordering::Acquire);
        if self.note_stop(epoch, reason, false) {
            self.pass_stop(epoch, reason, None);
        }
    }

    pub fn stopped(&self) -> Option<u8> {
        if self.gone.load(Ordering::Acquire) {
            return Some(GONE);
        }
        let (epoch, reason) = unpacked(self.stop.load(Ordering::Acquire))?;
        (epoch == self.epoch.load(Ordering::Acquire)).then_some(reason)
    }

    /// Remembers a stop; false if an earlier one counts. What the root says counts in any case (`from_above`), so that
    /// all agree on the reason in the end.
    fn note_stop(&self, epoch: u64, reason: u8, from_above: bool) -> bool {
        let counts = |known: u64| {
            let earlier = unpacked(known).map(|(epoch, _)| epoch);
            let newer = earlier.is_none_or(|earlier| earlier < epoch);
            (newer || (earlier == Some(epoch) && from_above)).then_some(packed(epoch, reason))
        };
        self.stop.fetch_update(Ordering::AcqRel, Ordering::Acquire, counts).is_ok()
    }

    /// Tells the neighbours, ahead of everything that waits to be sent.
    fn pass_stop(&self, epoch: u64, reason: u8, from: Option<usize>) {
        let parent = self.place.parent();
        let downwards = parent.is_none() || from == parent;
        let mut state = self.lock();
        for neighbour in 0..self.place.neighbours() {
            let wanted = if Some(neighbour) == parent { !downwards } else { downwards };
            if wanted {
                state.outboxes[neighbour].push_front(Frame::Stop { epoch, reason });
            }
        }
        drop(state);
        (self.wake)();
    }

    /// Takes what came from a neighbour.
    pub fn deliver(&self, from: usize, delivery: Delivery) {
        match delivery {
            Delivery::Frame(frame) => self.deliver_frame(from, frame),
            Delivery::Gone(why) => self.note_gone(from, why),
        }
    }

    fn deliver_frame(&self, from: usize, frame: Frame) {
        match frame {
            Frame::Beat | Frame::Greeting(_) => {}
            Frame::Bring { round, what } => {
                self.lock().arrived[from].push_back((round, what));
                self.changed.notify_all();
            }
            Frame::Agreed { round, what } => {
                let mut state = self.lock();
                self.pass_down(&mut state, Frame::Agreed { round, what: what.clone() });
                state.agreed.push_back((round, what));
                self.changed.notify_all();
            }
            Frame::Stop { epoch, reason } => {
                let above = Some(from) == self.place.parent();
                if self.note_stop(epoch, reason, above) {
                    self.pass_stop(epoch, reason, Some(from));
                }
            }
            Frame::Post { process, bytes } => self.post(process, bytes),
            Frame::Ask(piece) => self.deliver_question(piece),
            Frame::Answer(piece) => self.deliver_answer(piece),
            Frame::Ping { number } => {
                self.lock().outboxes[from].push_front(Frame::Pong { number, at_ns: now_ns() });
            }
            Frame::Pong { number, at_ns } => {
                let here = now_ns();
                self.lock().pongs[from] = Some((number, at_ns, here));
                self.changed.notify_all();
            }
            Frame::Lost(lost) => self.note_lost(lost),
            Frame::Bye { code } => {
                let mut state = self.lock();
                self.pass_down(&mut state, Frame::Bye { code });
                state.bye = Some(code);
                // Ranks that are still at work needn't be.
                self.gone.store(true, Ordering::Release);
                self.changed.notify_all();
            }
            Frame::Left => {
                self.lock().presence[from] = Presence::Left;
                self.changed.notify_all();
            }
        }
    }

    /// Passes on what comes from above, in its order. A clock is not passed on: the children get their own.
    fn pass_down(&self, state: &mut State, frame: Frame) {
        if state.measuring {
            state.held.push_back(frame);
        } else if matches!(frame, Frame::Agreed { what: Agreed::Clock(_), .. }) {
            state.measuring = true;
        } else {
            self.place.children().for_each(|child| state.outboxes[child].push_back(frame.clone()));
        }
    }

    /// The children's clocks are measured: what waited goes down.
    pub fn measured(&self) {
        let mut state = self.lock();
        state.measuring = false;
        while !state.measuring
            && let Some(frame) = state.held.pop_front()
        {
            self.pass_down(&mut state, frame);
        }
        drop(state);
        (self.wake)();
    }

    fn note_gone(&self, from: usize, why: String) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.presence[from], Presence::Gone) != Presence::Here {
            return;
        }
        if Some(from) == self.place.parent() {
            if state.bye.is_none() {
                state.orphaned = Some(why);
                // Nobody is left to lead those below: closing their connections ends them.
                state.presence.fill(Presence::Gone);
                self.gone.store(true, Ordering::Release);
            }
            drop(state);
        } else {
            let planned = state.bye.is_some();
            drop(state);
            if !planned {
                self.note_lost(all_below(&self.place.branches[from].processes, &why));
            }
        }
        self.changed.notify_all();
    }

    /// At the root, remembers processes that are gone; elsewhere, tells the parent.
    fn note_lost(&self, lost: Vec<(u32, String)>) {
        if let Some(parent) = self.place.parent() {
            return self.send(parent, Frame::Lost(lost));
        }
        let mut state = self.lock();
        for (process, why) in lost {
            if !state.lost.iter().any(|(known, _)| *known == process) {
                state.lost.push((process, why));
            }
        }
        let too_many = state.lost.len() as u64 > u64::from(self.place.allowed);
        drop(state);
        if too_many {
            self.gone.store(true, Ordering::Release);
            let epoch = self.epoch.load(Ordering::Acquire);
            if self.note_stop(epoch, GONE, false) {
                self.pass_stop(epoch, GONE, None);
            }
        }
        self.changed.notify_all();
    }

    pub fn too_many_lost(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }
}

fn all_below(processes: &[u32], why: &str) -> Vec<(u32, String)> {
    let behind =
        processes.iter().skip(1).map(|process| (*process, format!("its way to the root is gone: {why}")));
    processes.first().map(|first| (*first, why.to_owned())).into_iter().chain(behind).collect()
}
