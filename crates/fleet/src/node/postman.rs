use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::state::{Presence, Shared};
use crate::carrier::{Carrier, Delivery};
use crate::frame::Frame;

/// After so much silence of ours, a neighbour hears that we are here.
const BEAT: Duration = Duration::from_secs(1);
/// How often the postman looks up when nothing comes.
const LOOK: Duration = Duration::from_millis(250);
/// How often beats are thought of when much comes.
const GLANCE: Duration = Duration::from_millis(100);
/// What is unsent at the end has so long to go.
const FLUSH: Duration = Duration::from_secs(2);

/// The thread that moves frames between a process and its neighbours.
pub(super) struct Postman {
    shared: Arc<Shared>,
    carrier: Box<dyn Carrier>,
    sent: Vec<Instant>,
    heard: Vec<Instant>,
    looked: Instant,
}

impl Postman {
    pub fn new(shared: Arc<Shared>, carrier: Box<dyn Carrier>) -> Self {
        let now = Instant::now();
        let count = shared.place.neighbours();
        Self { shared, carrier, sent: vec![now; count], heard: vec![now; count], looked: now }
    }

    pub fn work(mut self) {
        while !self.shared.lock().closing {
            self.send();
            self.turn(LOOK);
            if self.looked.elapsed() >= GLANCE {
                self.beat();
                self.miss();
            }
        }
        let until = Instant::now() + FLUSH;
        while (self.send() || self.awaits_ends()) && Instant::now() < until {
            self.turn(Duration::from_millis(10));
        }
        self.carrier.finish();
    }

    /// Whether somebody who has said goodbye is still seen: its last words are worth a moment.
    fn awaits_ends(&self) -> bool {
        self.carrier.shows_ends() && self.shared.lock().presence.contains(&Presence::Left)
    }

    /// Gives the carrier what it has room for; whether anything is left to be sent.
    fn send(&mut self) -> bool {
        let mut left = self.carrier.is_unsent();
        let mut state = self.shared.lock();
        for neighbour in 0..self.shared.place.neighbours() {
            if state.presence[neighbour] == Presence::Gone {
                state.outboxes[neighbour].clear();
                continue;
            }
            while self.carrier.has_room(neighbour)
                && let Some(frame) = state.outboxes[neighbour].pop_front()
            {
                self.carrier.send(neighbour, &frame);
                self.sent[neighbour] = Instant::now();
                left = true;
            }
            left |= !state.outboxes[neighbour].is_empty();
        }
        left
    }

    fn turn(&mut self, wait: Duration) {
        let Self { shared, carrier, heard, .. } = self;
        let busy = shared.waiting.load(Ordering::Acquire) > 0;
        carrier.turn(wait, busy, &mut |from, delivery| {
            heard[from] = Instant::now();
            shared.deliver(from, delivery);
        });
        self.let_go();
    }

    /// Closes what is gone.
    fn let_go(&mut self) {
        let state = self.shared.lock();
        for neighbour in 0..self.shared.place.neighbours() {
            if state.presence[neighbour] == Presence::Gone {
                self.carrier.close(neighbour);
            }
        }
    }

    fn beat(&mut self) {
        let now = Instant::now();
        for neighbour in 0..self.sent.len() {
            let quiet = now.duration_since(self.sent[neighbour]) >= BEAT;
            if quiet && self.carrier.has_room(neighbour) && self.is_here(neighbour) {
                self.carrier.send(neighbour, &Frame::Beat);
                self.sent[neighbour] = now;
            }
        }
    }

    /// Finds neighbours that have been silent for too long. Who was asleep itself can't tell, and begins anew.
    fn miss(&mut self) {
        let now = Instant::now();
        let patience = self.shared.place.patience;
        if now.duration_since(std::mem::replace(&mut self.looked, now)) > patience / 2 {
            self.heard.fill(now);
        }
        for neighbour in 0..self.heard.len() {
            if now.duration_since(self.heard[neighbour]) > patience && self.is_here(neighbour) {
                let why = format!("nothing was heard of it for {} s", patience.as_secs());
                self.shared.deliver(neighbour, Delivery::Gone(why));
                self.let_go();
            }
        }
    }

    fn is_here(&self, neighbour: usize) -> bool {
        self.shared.lock().presence[neighbour] == Presence::Here
    }
}
