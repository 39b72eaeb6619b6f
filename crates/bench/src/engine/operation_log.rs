//! A line for every operation of a rank, where that is asked for: kept in memory while the phase runs, written when its
//! times are taken.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use fault::{Fault, Result};

/// Room that is there from the start; more is taken as it is needed.
const AT_FIRST: usize = 1 << 16;

/// One operation, in nanoseconds since the phase's start.
#[derive(Debug, Clone, Copy)]
struct Line {
    started: u64,
    took: u64,
    bytes: u64,
}

/// What one rank did, operation by operation: 24 bytes of memory for each.
#[derive(Debug)]
pub struct OperationLog {
    path: PathBuf,
    lines: Vec<Line>,
}

impl OperationLog {
    /// The log of rank `rank`, for the file that `template` makes of its number.
    pub fn new(template: &str, rank: u32) -> Self {
        let path = PathBuf::from(template.replace("{rank}", &format!("{rank:05}")));
        Self { path, lines: Vec::with_capacity(AT_FIRST) }
    }

    /// An operation that ended `ended` after the start and took `took`.
    pub fn add(&mut self, ended: u64, took: u64, bytes: u64) {
        self.lines.push(Line { started: ended.saturating_sub(took), took, bytes });
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `time,runtime,tp` (s, s, bytes/s; operations/s where no bytes are moved) for each operation, in order.
    pub fn write(&self) -> Result<()> {
        let written = std::fs::File::create(&self.path).and_then(|file| {
            let mut file = BufWriter::new(file);
            writeln!(file, "time,runtime,tp")?;
            for line in &self.lines {
                let runtime = line.took as f64 / 1e9;
                // Nothing takes no time; the clock may not have moved on.
                let rate = line.bytes.max(1) as f64 / runtime.max(1e-9);
                writeln!(file, "{:.9},{runtime:.9},{rate:.3}", line.started as f64 / 1e9)?;
            }
            file.flush()
        });
        written.map_err(|error| Fault::os("write", &self.path, error))
    }
}
