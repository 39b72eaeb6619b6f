//! `forebay sync serve` and the commands that speak to it, as people run them. docs/SEMANTICS.md names these tests.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod files;
mod running;
mod server;
mod steering;
mod unified;
