//! Facts read from saved `/proc` and `/sys` trees of machines that are not at hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

mod identity;
mod limits;
mod lustre;
mod network;
mod nfs;
mod processor;
mod storage;
mod tree;
