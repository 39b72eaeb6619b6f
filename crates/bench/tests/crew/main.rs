//! Runs over several processes, tried with threads in their places: real files, lost members, shifted clocks.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod clocks;
mod ends;
mod group;
mod losses;
mod storage;
mod work;
