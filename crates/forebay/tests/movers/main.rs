//! Several movers on one job, as people start them. docs/SEMANTICS.md names these tests.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod deaths;
mod flat;
mod large;
mod place;
mod ranks;
mod rehearsal;
mod tls;
mod together;
