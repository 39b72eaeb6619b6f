//! `forebay sync` as people run it: trees full of traps, guards, kills, attacks, full disks. docs/SEMANTICS.md names
//! these tests.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod attack;
mod devices;
mod guards;
mod hosts;
#[allow(dead_code, reason = "of what other tests do with images, this needs a part")]
#[path = "../trouble/image.rs"]
mod image;
mod kills;
mod moved;
mod objects;
mod place;
mod renamed;
mod traps;
mod trouble;
mod watching;
