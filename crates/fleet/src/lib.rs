//! Ranks: the numbered participants of a run, wherever they are, and how they wait for each other.
//!
//! [`local`] runs ranks as threads of a process; a [`Link`] joins the processes: [`Alone`], those of [`group`], or a [`Node`].

mod carrier;
mod channel;
mod clock;
mod frame;
mod greeting;
pub mod group;
pub mod hosts;
pub mod launcher;
mod link;
pub mod local;
mod meeting;
pub mod mpi;
mod node;
mod placement;
pub mod socket;
pub mod ssh;
mod streams;

pub use greeting::Up;
pub use link::{Alone, Clock, GONE, Link, Lost};
pub use meeting::{Aborted, Meeting};
pub use node::{Node, Question};
pub use placement::{Block, Placement};

/// One participant of a run.
pub trait Rank {
    /// Its number, from 0.
    fn number(&self) -> u32;
    /// How many there are.
    fn size(&self) -> u32;
    /// Waits until all ranks are here. An aborted run lets nobody wait.
    fn barrier(&self) -> Result<(), Aborted>;
    /// The largest `value` any rank brought; waits for all of them.
    fn all_max(&self, value: u64) -> Result<u64, Aborted>;
    /// The latest `instant` any rank brought, in ns on the own host's monotonic clock; waits for all of them.
    fn latest(&self, instant: u64) -> Result<u64, Aborted>;
    /// The instant at which all ranks are to begin, in ns on the own host's monotonic clock: not before the latest they
    /// brought, and over several processes late enough for everyone to hear of it.
    fn start(&self, instant: u64) -> Result<u64, Aborted>;
}
