use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Journal;

/// Where a process of the run stands in one target, as others are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The target.
    pub target: PathBuf,
    /// The run directory, if there is one, and what its journal says.
    pub run: Option<(PathBuf, Option<Journal>)>,
    /// Entries are in the target itself.
    pub named: bool,
}
