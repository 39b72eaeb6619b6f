//! Runs a workload: a fresh directory per repetition, phases one after the other, events on the way, a record at the end,
//! nothing left behind. The root decides and merges; each process of the [crew](crate::crew) does its [part].

mod collect;
mod curve;
mod dealing;
mod gathered;
pub(crate) mod live;
pub(crate) mod memory;
mod merge;
pub(crate) mod part;
mod phase;
pub(crate) mod preflight;
pub(crate) mod probes;
pub(crate) mod room;
mod scene;
mod session;
pub(crate) mod watch;
mod writers;

pub use session::{Options, Session, TestPlan};
