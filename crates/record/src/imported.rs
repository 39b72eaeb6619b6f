//! Where a record came from that another tool's results were read into.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The results of another tool behind a record. What its file does not say is unknown: the environment is empty, ranks
/// are counted at most, and latencies are there only where the tool prints them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// Program that measured: `IOR`, `mdtest`, `rhel_iotest`.
    pub tool: String,
    /// Its version, as far as the file says.
    pub tool_version: Option<String>,
    /// What kind of file it is: `ior-json`.
    pub format: String,
    /// The file.
    pub file: PathBuf,
    /// SHA-256 of its content, in hexadecimal (`sha256sum` prints the same).
    pub sha256: String,
    /// Wall clock when it was read, RFC 3339.
    pub imported_at: String,
}

impl Imported {
    /// Program and version: `IOR 4.1.0+dev`.
    pub fn program(&self) -> String {
        match &self.tool_version {
            Some(version) => format!("{} {version}", self.tool),
            None => format!("{} of unknown version", self.tool),
        }
    }
}
