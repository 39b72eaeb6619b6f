//! What several rooms' tests need. Dev-only: nothing that ships depends on it.

pub mod lab;
pub mod plans;
pub mod redact;
pub mod samples;
pub mod servers;
pub mod skip;
pub mod trees;
