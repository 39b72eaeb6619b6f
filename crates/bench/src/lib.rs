//! Load on storage: what to do ([`workload`]), how it is done on one host (`run`), and whether the result can be
//! believed ([`belief`]).

pub mod belief;
pub mod data;
pub mod interrupt;
pub mod sequence;
pub mod workload;

pub use workload::Workload;
