//! The search against brute force, the model against what was measured, and what must hold of every plan.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod brute;
mod ground;
mod measured;
mod plans;
mod steps;
