use std::path::PathBuf;

use fleet::Block;
use host::Environment;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::introduction::Introduction;
use super::wire::WireFault;
use crate::engine::{Chosen, ShareState};
use crate::ground::Site;
use crate::workload::{Phase, Workload};

/// What the root asks of every process. All do it at the same time; the root gathers one [`Answer`] of each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// Say who you are.
    Introduce,
    /// Take your part in a test, and look at its targets. Nothing is changed.
    Look(Box<Seating>),
    /// The lead makes a directory in every target, for the others to find.
    Show {
        /// Name of the run.
        run: String,
    },
    /// The others find it.
    Find {
        /// Where it is.
        sites: Vec<Site>,
    },
    /// The lead removes it.
    Hide,
    /// Make ready for the test: counters, memory that is held.
    Begin,
    /// The lead chooses an engine for every job of every phase.
    Choose {
        /// Name of the run, for the probe's directory.
        run: String,
    },
    /// The lead makes the place where a repetition's files will be.
    Create {
        /// Name of the repetition.
        id: String,
        /// Counting from 0.
        repetition: u32,
    },
    /// The others go there.
    Join {
        /// Where it is, in each target.
        sites: Vec<Site>,
        /// Counting from 0.
        repetition: u32,
    },
    /// Run a phase. The answer is a [`PartResult`](crate::runner::PartResult) and not an [`Answer`].
    Phase(Box<PhaseOrder>),
    /// Let go of the repetition's directories, all but the one process.
    Leave {
        /// Which removes them.
        remover: u32,
    },
    /// The one process removes what was made.
    Remove {
        /// Which.
        remover: u32,
        /// Files under names that somebody chose stay.
        keep: bool,
    },
    /// The test is over.
    End,
    /// The run is over.
    Dismiss,
}

/// Who does what in a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seating {
    /// What to do.
    pub workload: Workload,
    /// Directories under test.
    pub targets: Vec<PathBuf>,
    /// Each process's part.
    pub seats: Vec<Seat>,
    /// The process whose word counts where one speaks for all: that of the first rank.
    pub lead: u32,
    /// Type that the targets' file system must have.
    pub expect_file_system: Option<String>,
    /// Fill the file system beyond 90 % if the workload needs it.
    pub fill_beyond: bool,
}

/// One process's part in a test.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Seat {
    /// Its ranks: number of the first, how many, how many there are in all.
    pub ranks: (u32, u32, u32),
    /// Ranks that other processes of the same host have before.
    pub before_on_host: u32,
    /// Whether it holds the memory that is to be held on its host.
    pub holds: bool,
}

impl Seat {
    /// Its ranks.
    pub fn block(&self) -> Block {
        let (first, count, all) = self.ranks;
        Block { first, count, all }
    }
}

/// A phase to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PhaseOrder {
    /// The phase, with its rates.
    pub phase: Phase,
    /// How I/O is submitted, per job.
    pub engines: Vec<Chosen>,
    /// What every rank's share holds.
    pub shares: Vec<ShareState>,
}

/// What a process answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Answer {
    /// It is done, or not this process's to do.
    Done,
    /// It could not be done.
    Failed(WireFault),
    /// Who this is.
    Introduction(Introduction),
    /// What it sees.
    Sight(Box<Sight>),
    /// It is ready: the memory that is held with what people should know of it, and whether the bytes of all targets are
    /// counted at the same place.
    Begun(Option<(record::HeldMemory, String)>, bool),
    /// Engines per phase and job.
    Engines(Vec<Vec<Chosen>>),
    /// Where files will be.
    Created(Created),
}

/// What the lead made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Created {
    /// Where, in each target.
    pub sites: Vec<Site>,
    /// What people should know.
    pub notices: Vec<String>,
    /// How much of each rank's share was there before; `None` when nothing that was there is used.
    pub found: Option<Vec<Bytes>>,
}

/// What a process sees of the targets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Sight {
    /// The machine and the storage below each target.
    pub environments: Vec<Environment>,
    /// Of each target: what `statfs` says of the file system's identity (`f_fsid`), 0 where it says nothing.
    pub file_systems: Vec<u64>,
    /// Whether it may use `io_uring`.
    pub uring: bool,
}
