//! The SAS test: one writer, then one reader per pCore, 64 KiB sequential, fsync at the end, a file of the size of
//! memory per pCore. Semantics of rhel_iotest (SAS note 59680), as published by SAS in k8s_iotest.sh, 2025.
//!
//! Ours differs where the original measures something else than storage: phases are apart by a barrier, the data does
//! not compress, clean pages are dropped before reading, and the verdict says whether that worked.

mod classic;
mod sizing;

use std::path::Path;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use host::{Environment, System};
use units::Bytes;

pub use classic::classic;
pub use sizing::{Sizing, size_files};

use crate::data::{Data, Pattern};
use crate::runner::TestPlan;
use crate::workload::{EngineChoice, FileSet, Phase, Stop, Transfer, VERSION, Workload};

/// What rhel_iotest transfers per call.
pub const TRANSFER_SIZE: Bytes = Bytes::kib(64);
/// Name of the writing phase.
pub const WRITE: &str = "write";
/// Name of the reading phase.
pub const READ: &str = "read";

/// What can be chosen; everything else is the SAS test's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Iotest {
    /// Readers and writers; pCores of this host when absent.
    pub pcores: Option<u32>,
    /// Size of each file; by the SAS rule when absent.
    pub file_size: Option<Bytes>,
    /// Bytes per call.
    pub transfer_size: Bytes,
    /// Length of each phase, for a short run that stands for a full one.
    pub time_boxed: Option<Duration>,
    /// Bypass the page cache.
    pub direct: bool,
    /// Leave what was written in the page cache before reading, as the original does.
    pub keep_cache: bool,
    /// What is written.
    pub pattern: Pattern,
    /// How I/O is submitted.
    pub engine: EngineChoice,
    /// Bind ranks to vCPUs.
    pub pin: bool,
    /// Passes.
    pub repetitions: u32,
    /// Seed of the data.
    pub seed: u64,
}

impl Default for Iotest {
    fn default() -> Self {
        Self {
            pcores: None,
            file_size: None,
            transfer_size: TRANSFER_SIZE,
            time_boxed: None,
            direct: false,
            keep_cache: false,
            pattern: Pattern::Unique,
            engine: EngineChoice::Auto,
            pin: false,
            repetitions: 1,
            seed: 0x5A5,
        }
    }
}

impl Iotest {
    /// The test on `target` of this host, with sizes by the SAS rule, and what should be said about them.
    pub fn plan(&self, name: &str, target: &Path) -> Result<(TestPlan, Sizing)> {
        let environment = System::here().environment(Some(target))?;
        let pcores = self.pcores.unwrap_or(environment.cpu.pcores).max(1);
        let sizing = self.size(pcores, &environment)?;
        let workload = self.workload(pcores, sizing.file_size);
        let plan = TestPlan {
            name: name.to_owned(),
            test: "iotest".to_owned(),
            target: target.to_owned(),
            workload,
            pcores,
            expect_file_system: None,
            equivalence: self.time_boxed.map(|time| {
                format!(
                    "time-boxed {}: stands for a run over files of the size of memory",
                    units::format_duration(time)
                )
            }),
        };
        Ok((plan, sizing))
    }

    fn size(&self, pcores: u32, environment: &Environment) -> Result<Sizing> {
        let mut sizing = match self.file_size {
            Some(file_size) => Sizing { file_size, shrunk: false, notes: Vec::new() },
            None => size_files(pcores, environment),
        };
        sizing.file_size = sizing.file_size.round_down(self.transfer_size);
        if sizing.file_size == Bytes::ZERO {
            let message =
                format!("there is no room for {pcores} files of at least {} each", self.transfer_size);
            return Err(Fault::new(Kind::NoSpace, message).hint(
                "the test keeps 10 % of the file system free: free some space, or name a `--file-size`",
            ));
        }
        Ok(sizing)
    }

    fn workload(&self, pcores: u32, file_size: Bytes) -> Workload {
        let stop = self.time_boxed.map_or_else(Stop::default, Stop::after);
        let shape = |transfer: Transfer| Transfer { direct: self.direct, ..transfer };
        let write = Phase { stop, ..Phase::transfer(WRITE, shape(Transfer::write(self.transfer_size))) };
        let read = Phase {
            stop,
            drop_cache: !self.keep_cache && !self.direct,
            ..Phase::transfer(READ, shape(Transfer::read(self.transfer_size)))
        };
        Workload {
            version: VERSION,
            name: "iotest".to_owned(),
            ranks: pcores,
            seed: self.seed,
            engine: self.engine,
            pin: self.pin,
            repetitions: self.repetitions,
            files: FileSet { block_size: file_size, ..FileSet::default() },
            data: Data { pattern: self.pattern, ..Data::default() },
            more_targets: Vec::new(),
            hold_memory: None,
            max_time: None,
            phases: vec![write, read],
        }
    }
}
