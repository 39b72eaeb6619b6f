//! When things go wrong: the real program on real file systems that are missing, full, broken or taken away, and runs
//! that are stopped or killed. docs/SEMANTICS.md says what must hold; each promise names the test that holds it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod device;
mod going;
mod image;
mod kills;
mod leftovers;
mod limits;
mod place;
mod promises;
mod signals;
mod space;
mod targets;
mod workload;
