use std::time::Duration;

use crate::frame::Frame;

/// What a carrier has to tell of a neighbour.
#[derive(Debug)]
pub(crate) enum Delivery {
    /// It sent something.
    Frame(Frame),
    /// It is gone, and this is what is known of why.
    Gone(String),
}

/// Carries frames to and from the neighbours of a process, who are numbered from 0. Used by one thread.
pub(crate) trait Carrier: Send {
    /// Whether more for this neighbour can be taken now.
    fn has_room(&self, neighbour: usize) -> bool;

    /// Takes a frame to be sent. One for a neighbour who is gone is dropped.
    fn send(&mut self, neighbour: usize, frame: &Frame);

    /// Sends and receives what can be; waits at most so long, or until woken, if there is nothing to do. `busy`: somebody
    /// waits for an answer.
    fn turn(&mut self, wait: Duration, busy: bool, deliver: &mut dyn FnMut(usize, Delivery));

    /// Lets a neighbour go: nothing more comes or goes.
    fn close(&mut self, neighbour: usize);

    /// Whether something taken has not been sent yet.
    fn is_unsent(&self) -> bool;

    /// Whether it is seen when a neighbour has ended.
    fn shows_ends(&self) -> bool {
        true
    }

    /// The last call.
    fn finish(&mut self) {}
}

/// Ends the wait of [`Carrier::turn`]. Called from any thread.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;
