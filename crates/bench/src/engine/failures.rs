//! What went wrong in a phase: evidence for the record, and the one failure that ends the run.

use std::sync::{Mutex, PoisonError};

use fault::Fault;
use record::OperationError;

/// Failures kept word for word, per phase.
const KEPT: usize = 20;

/// Collects what went wrong on any rank.
#[derive(Debug, Default)]
pub struct Failures(Mutex<Collected>);

#[derive(Debug, Default)]
struct Collected {
    evidence: Vec<OperationError>,
    first: Option<Fault>,
}

impl Failures {
    /// Keeps evidence against the numbers; the run goes on.
    pub fn note(&self, error: OperationError) {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if collected.evidence.len() < KEPT {
            collected.evidence.push(error);
        }
    }

    /// Keeps what ended a rank's work. The first failure of all is the run's.
    pub fn fail(&self, fault: Fault, error: OperationError) {
        self.note(error);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first.get_or_insert(fault);
    }

    /// The evidence, and the failure that ends the run if there was one.
    pub fn into_parts(self) -> (Vec<OperationError>, Option<Fault>) {
        let collected = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (collected.evidence, collected.first)
    }
}
