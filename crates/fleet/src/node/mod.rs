//! A process in the tree of a run: it has a parent (but for the root) and children, each with all that is below it.
//!
//! A collective call is a round. What is brought goes up, each process adding its own to what its children brought; what
//! the round came to goes down. One thread per process, the postman, moves the frames, answers pings, passes stops on, and
//! notices who is gone: by the end of a connection, or by silence.

mod place;
mod postman;
mod questions;
mod rounds;
mod state;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fault::{Fault, Kind, Result};

use crate::carrier::{Carrier, Wake};
use crate::frame::Frame;
use crate::{Aborted, Clock, Link, Lost};

pub(crate) use place::{Branch, Place};
use postman::Postman;
pub use questions::Question;
use state::{Presence, Shared};

/// How long an end as planned waits for those who should be ending too.
const FAREWELL: Duration = Duration::from_secs(10);

/// A process of a run, joined to the others.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    /// The last round begun; threads take turns.
    turn: Mutex<u64>,
    postman: Option<JoinHandle<()>>,
}

impl Node {
    /// Joins `place` to its neighbours, whose carrier `make` makes in the thread that then uses it.
    pub(crate) fn start(
        place: Place,
        wake: Wake,
        make: impl FnOnce() -> Result<Box<dyn Carrier>> + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(Shared::new(place, wake));
        let (tell, told) = std::sync::mpsc::channel();
        let for_postman = Arc::clone(&shared);
        let work = move || match make() {
            Ok(carrier) => {
                let _ = tell.send(Ok(()));
                Postman::new(for_postman, carrier).work();
            }
            Err(fault) => {
                let _ = tell.send(Err(fault));
            }
        };
        let postman = std::thread::Builder::new()
            .name("postman".to_owned())
            .spawn(work)
            .map_err(|error| Fault::os("start", std::path::Path::new("postman"), error))?;
        told.recv().map_err(|_| Fault::new(Kind::Bug, "the postman died"))??;
        Ok(Self { shared, turn: Mutex::new(0), postman: Some(postman) })
    }

    /// Ends the run as planned. The root says how it went; everyone gets to know.
    pub fn end(self, code: u8) -> u8 {
        if self.shared.place.is_root() {
            self.shared.tell_children(&Frame::Bye { code });
            self.await_children();
            return code;
        }
        let code = self.await_bye();
        self.await_children();
        if let Some(parent) = self.shared.place.parent() {
            self.shared.send(parent, Frame::Left);
        }
        code
    }

    /// Waits until the root has ended the run, or is gone (1).
    fn await_bye(&self) -> u8 {
        let state = self.shared.lock();
        let over = |state: &mut state::State| state.bye.is_none() && state.orphaned.is_none();
        let state = self.shared.changed.wait_while(state, over).unwrap_or_else(PoisonError::into_inner);
        state.bye.unwrap_or(1)
    }

    fn await_children(&self) {
        let until = Instant::now() + FAREWELL;
        let mut state = self.shared.lock();
        while self.shared.place.children().any(|child| state.presence[child] == Presence::Here) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return };
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Names the hosts of all processes, for [`Link::lost`]. At the root.
    pub(crate) fn name_hosts(&self, hosts: Vec<String>) {
        self.shared.lock().hosts = hosts;
    }

    /// Decides how many ranks each process hosts, see [`Link::seats`]. At the root.
    pub fn seat(&self, seats: Vec<u32>) {
        self.shared.lock().seats = seats;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        (self.shared.wake)();
        if let Some(postman) = self.postman.take() {
            // One that is stuck in a launcher's library must not keep the process.
            let until = Instant::now() + FAREWELL;
            while !postman.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Link for Node {
    fn process(&self) -> u32 {
        self.shared.place.number
    }

    fn processes(&self) -> u32 {
        self.shared.place.processes
    }

    fn seats(&self) -> Vec<u32> {
        let seats = self.shared.lock().seats.clone();
        if seats.is_empty() { vec![1; self.processes() as usize] } else { seats }
    }

    fn all_max(&self, value: Option<u64>) -> Result<std::result::Result<u64, Aborted>> {
        self.round(|round| self.shared.all_max(round, value))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        self.round(|round| self.shared.broadcast(round, bytes))
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>> {
        self.round(|round| self.shared.gather(round, bytes))
    }

    fn post(&self, bytes: Vec<u8>) {
        self.shared.post(self.process(), bytes);
    }

    fn posts(&self) -> Vec<(u32, Vec<u8>)> {
        self.shared.lock().posts.drain(..).collect()
    }

    fn stop(&self, reason: u8) {
        self.shared.stop(reason);
    }

    fn stopped(&self) -> Option<u8> {
        self.shared.stopped()
    }

    fn resume(&self) {
        self.shared.epoch.fetch_add(1, Ordering::AcqRel);
    }

    fn clock(&self) -> Result<Clock> {
        self.round(|round| self.shared.measure_clocks(round))
    }

    fn lost(&self) -> Vec<Lost> {
        let state = self.shared.lock();
        let host = |process: u32| state.hosts.get(process as usize).cloned();
        let lost = |(process, why): &(u32, String)| Lost {
            process: *process,
            host: host(*process).unwrap_or_else(|| format!("process {process}")),
            why: why.clone(),
        };
        state.lost.iter().map(lost).collect()
    }
}

impl Node {
    fn round<T>(&self, work: impl FnOnce(u64) -> Result<T>) -> Result<T> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *turn += 1;
        work(*turn)
    }
}

fn out_of_step() -> Fault {
    Fault::new(Kind::Bug, "the processes of the run are out of step")
}
