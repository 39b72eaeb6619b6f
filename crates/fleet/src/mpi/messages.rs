use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use fault::Result;

use super::abi::Abi;
use super::calls::{Calls, Sending};
use crate::carrier::{Carrier, Delivery};
use crate::frame::Frame;

/// Messages on their way to one neighbour; more wait where a stop can overtake them.
const ON_THEIR_WAY: usize = 32;
/// Between two looks when somebody waits: an eighth of the time that nothing came, within these.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(10);
/// Between two looks when nobody does.
const IDLE: Duration = Duration::from_millis(20);
/// For the last messages to leave.
const LAST: Duration = Duration::from_secs(5);

/// Neighbours that are ranks of MPI.
pub(super) struct Messages<A: Abi> {
    calls: Calls<A>,
    ranks: Vec<u32>,
    neighbours: BTreeMap<u32, usize>,
    sending: Vec<VecDeque<Sending<A>>>,
    closed: Vec<bool>,
    /// When something last came or was to be done.
    active: Instant,
    was_busy: bool,
}

impl<A: Abi> Messages<A> {
    pub fn new(calls: Calls<A>, ranks: &[u32]) -> Self {
        Self {
            calls,
            ranks: ranks.to_vec(),
            neighbours: ranks.iter().copied().zip(0..).collect(),
            sending: ranks.iter().map(|_| VecDeque::new()).collect(),
            closed: vec![false; ranks.len()],
            active: Instant::now(),
            was_busy: false,
        }
    }

    /// Forgets messages that have left.
    fn sent(&mut self) -> Result<()> {
        for sending in &mut self.sending {
            while let Some(first) = sending.front_mut() {
                if !self.calls.is_sent(first)? {
                    break;
                }
                sending.pop_front();
            }
        }
        Ok(())
    }

    /// Takes what has come; whether anything has.
    fn receive(&mut self, deliver: &mut dyn FnMut(usize, Delivery)) -> Result<bool> {
        let mut any = false;
        while let Some((rank, bytes)) = self.calls.receive()? {
            any = true;
            let Some(neighbour) = self.neighbours.get(&rank).copied() else { continue };
            match Frame::read(bytes.get(4..).unwrap_or_default()) {
                Ok(frame) => deliver(neighbour, Delivery::Frame(frame)),
                Err(fault) => deliver(neighbour, Delivery::Gone(fault.message().to_owned())),
            }
        }
        Ok(any)
    }
}

impl<A: Abi> Carrier for Messages<A> {
    fn has_room(&self, neighbour: usize) -> bool {
        self.closed[neighbour] || self.sending[neighbour].len() < ON_THEIR_WAY
    }

    fn send(&mut self, neighbour: usize, frame: &Frame) {
        if self.closed[neighbour] {
            return;
        }
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        self.active = Instant::now();
        if let Ok(sending) = self.calls.send(self.ranks[neighbour], bytes) {
            self.sending[neighbour].push_back(sending);
        }
    }

    fn turn(&mut self, wait: Duration, busy: bool, deliver: &mut dyn FnMut(usize, Delivery)) {
        if busy && !std::mem::replace(&mut self.was_busy, busy) {
            self.active = Instant::now();
        }
        self.was_busy = busy;
        let done = self.sent().and_then(|()| self.receive(deliver));
        match done {
            Ok(true) => self.active = Instant::now(),
            Ok(false) => {
                let quiet = if self.is_unsent() || busy {
                    (self.active.elapsed() / 8).clamp(SHORTEST, LONGEST)
                } else {
                    IDLE
                };
                std::thread::park_timeout(quiet.min(wait));
            }
            Err(fault) => {
                for neighbour in 0..self.ranks.len() {
                    deliver(neighbour, Delivery::Gone(fault.message().to_owned()));
                }
                std::thread::park_timeout(wait);
            }
        }
    }

    fn close(&mut self, neighbour: usize) {
        self.closed[neighbour] = true;
    }

    fn is_unsent(&self) -> bool {
        let open = self.sending.iter().zip(&self.closed).filter(|(_, closed)| !**closed);
        open.into_iter().any(|(sending, _)| !sending.is_empty())
    }

    fn shows_ends(&self) -> bool {
        false
    }

    fn finish(&mut self) {
        let until = Instant::now() + LAST;
        while self.is_unsent() && Instant::now() < until && self.sent().is_ok() {
            std::thread::sleep(SHORTEST);
        }
        // It waits for everyone: when somebody is gone, for ever.
        if !self.closed.contains(&true) {
            self.calls.end();
        }
    }
}
