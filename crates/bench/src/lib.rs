//! Load on storage: what to do ([`workload`]), how it is done by one process or several ([`crew`]), and whether the result can be
//! believed ([`belief`]).

mod allocation;
pub mod belief;
pub mod crew;
pub mod data;
pub mod engine;
pub mod ground;
pub mod interrupt;
pub mod languages;
mod layout;
pub mod prove;
pub mod runner;
pub mod search;
pub mod sequence;
pub mod sweep;
pub mod workload;

pub use runner::{Options, Session, TestPlan};
pub use workload::Workload;
