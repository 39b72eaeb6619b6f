//! Public price lists, read by the real program from a real HTTP server on this machine that answers as the providers do, or
//! worse.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod aws;
mod azure;
mod gcp;
mod server;
mod trouble;
