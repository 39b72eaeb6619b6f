//! Ranks: the numbered participants of a run, wherever they are, and how they wait for each other.
//!
//! [`local`] runs them as threads of this process. Launchers over ssh, MPI and Slurm give the same [`Rank`].

pub mod local;
mod meeting;

pub use meeting::{Aborted, Meeting};

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
}
