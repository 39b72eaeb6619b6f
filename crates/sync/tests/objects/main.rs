//! Syncs with object stores on a side: real servers on loopback, real kills, trees full of traps. docs/SEMANTICS.md names
//! these tests. A job runs in a process of its own, so that it can be killed: this program, told by its environment.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod chunks;
mod job;
mod kills;
mod round_trip;
mod safety;
mod troubles;
mod uploads;
