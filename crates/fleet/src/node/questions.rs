//! What processes ask the root while they work, and what it answers: each gets there whole and once. Long ones travel in
//! pieces, so that a stop can overtake them.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};

use super::rounds::Waiting;
use super::state::{Shared, State};
use super::{Node, out_of_step};
use crate::Link as _;
use crate::frame::{Frame, Piece};

/// Bytes that travel at once.
const PIECE: usize = 1 << 20;

/// Something that a process asked the root.
#[derive(Debug)]
pub struct Question {
    /// Who asked.
    pub process: u32,
    number: u64,
    /// What it asked.
    pub bytes: Vec<u8>,
}

/// Questions and answers on their way.
#[derive(Debug, Default)]
pub(super) struct Letters {
    /// Of the last question of this process.
    number: u64,
    /// Pieces that have come, by process and number.
    coming: BTreeMap<(u32, u64), Vec<u8>>,
    /// At the root: what nobody has looked at.
    questions: VecDeque<Question>,
    /// Elsewhere: what nobody has fetched.
    answers: BTreeMap<u64, Vec<u8>>,
}

impl Letters {
    /// A piece has come; all of them, if it was the last.
    fn take(&mut self, piece: Piece) -> Option<(u32, u64, Vec<u8>)> {
        let Piece { process, number, last, bytes } = piece;
        let whole = self.coming.entry((process, number)).or_default();
        whole.extend(bytes);
        if last { self.coming.remove(&(process, number)).map(|whole| (process, number, whole)) } else { None }
    }
}

impl Node {
    /// Asks the root, and waits for its answer. Any thread may, at any time, also inside of a collective call of another. Fails
    /// when the root is gone or has ended the run, and at the root itself.
    pub fn ask(&self, question: &[u8]) -> Result<Vec<u8>> {
        let process = self.process();
        let parent = self.shared.place.parent().ok_or_else(out_of_step)?;
        let mut state = self.shared.lock();
        state.letters.number += 1;
        let number = state.letters.number;
        state.outboxes[parent].extend(pieces(process, number, question).map(Frame::Ask));
        drop(state);
        (self.shared.wake)();
        let mut state = self.shared.wait(|state| state.letters.answers.contains_key(&number))?;
        state.letters.answers.remove(&number).ok_or_else(out_of_step)
    }

    /// At the root: the next question, or none within this time.
    pub fn question(&self, longest: Duration) -> Option<Question> {
        let _waiting = Waiting::begin(&self.shared);
        let until = Instant::now() + longest;
        let mut state = self.shared.lock();
        loop {
            if let Some(question) = state.letters.questions.pop_front() {
                return Some(question);
            }
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            let woken = self.shared.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// At the root: answers.
    pub fn answer(&self, question: &Question, answer: &[u8]) -> Result<()> {
        let Question { process, number, .. } = *question;
        let child = self.shared.way_to(process).ok_or_else(|| {
            Fault::new(Kind::Bug, format!("process {process} asked, and there is no way to it"))
        })?;
        self.shared.lock().outboxes[child].extend(pieces(process, number, answer).map(Frame::Answer));
        (self.shared.wake)();
        Ok(())
    }
}

impl Shared {
    /// The child that leads to a process.
    fn way_to(&self, process: u32) -> Option<usize> {
        self.place.branches.iter().position(|branch| branch.processes.contains(&process))
    }

    /// A piece of a question: on its way up, or come.
    pub fn deliver_question(&self, piece: Piece) {
        if let Some(parent) = self.place.parent() {
            return self.send(parent, Frame::Ask(piece));
        }
        let mut state = self.lock();
        if let Some((process, number, bytes)) = state.letters.take(piece) {
            state.letters.questions.push_back(Question { process, number, bytes });
            self.changed.notify_all();
        }
    }

    /// A piece of an answer: on its way down, or come.
    pub fn deliver_answer(&self, piece: Piece) {
        if piece.process != self.place.number {
            if let Some(child) = self.way_to(piece.process) {
                self.send(child, Frame::Answer(piece));
            }
            return;
        }
        let state: &mut State = &mut self.lock();
        if let Some((_, number, bytes)) = state.letters.take(piece) {
            state.letters.answers.insert(number, bytes);
            self.changed.notify_all();
        }
    }
}

fn pieces(process: u32, number: u64, whole: &[u8]) -> impl Iterator<Item = Piece> {
    let count = whole.len().div_ceil(PIECE).max(1);
    (0..count).map(move |place| {
        let bytes = whole[place * PIECE..whole.len().min((place + 1) * PIECE)].to_vec();
        Piece { process, number, last: place + 1 == count, bytes }
    })
}
