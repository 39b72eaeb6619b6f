//! Asking a price server: where it may be, how long to wait for it, and what its failures mean.

mod address;
mod client;
mod stream;
mod trouble;

pub use address::{Address, encoded};
pub use client::{Client, Patience, Secret};
pub use stream::Stream;
