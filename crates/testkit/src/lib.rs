//! What several rooms' tests need. Dev-only: nothing that ships depends on it.

pub mod plans;
pub mod redact;
pub mod samples;
pub mod skip;
