//! Load on storage: what to do ([`workload`]), how it is done on one host (`run`), and whether the result can be
//! believed ([`belief`]).

mod allocation;
pub mod belief;
pub mod data;
pub mod engine;
pub mod ground;
pub mod interrupt;
pub mod languages;
pub mod prove;
pub mod runner;
pub mod sequence;
pub mod workload;

pub use runner::{Options, Session, TestPlan};
pub use workload::Workload;
