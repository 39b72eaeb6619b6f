//! Runs a workload on this host: a fresh directory per repetition, phases one after the other, events on the way, a
//! record at the end, nothing left behind.

mod collect;
mod memory;
mod phase;
mod preflight;
mod probes;
mod session;
mod watch;

pub use session::{Options, Session, TestPlan};
