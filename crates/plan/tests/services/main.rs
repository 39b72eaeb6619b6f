//! File services: what they let through, cost and refuse, and the cheapest orders of them.

#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that panics has failed; figures are exact")]

mod brute;
mod figures;
mod ground;
mod included;
mod limits;
mod orders;
mod refusals;
