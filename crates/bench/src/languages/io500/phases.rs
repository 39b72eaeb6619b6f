//! The phases in their order, and the steps that each one is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::Result;
use units::{Bytes, Ratio};

use super::Config;
use super::command::{Command, HARD, HARD_FILE};
use crate::languages::ior;
use crate::languages::mdtest::Mdtest;
use crate::workload::{Entries, EntryOperation, Instant, LookingFor, Phase, Workload};

/// What a file of mdtest-hard takes.
const HARD_FILE_TAKES: u64 = 8192;
/// A wear-out lasts at most so many times the stonewall: on disks it could go on for hours (IO500 issue 14).
const WEAR_OUT_CAP: u32 = 10;
/// What finds look for in names.
pub const SOUGHT: &str = "*01*";
/// Of the room that is free, what one write phase may fill: the others need some, too.
const SHARE_OF_ROOM: f64 = 0.45;

/// A phase by the name that IO500 gives it.
pub type PhaseName = &'static str;

/// All phases of the standard mode in the order they run.
pub const PHASES: [PhaseName; 14] = [
    "ior-easy-write",
    "mdtest-easy-write",
    "timestamp",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
];

/// Phases that the extended mode has besides, and the one that each follows.
pub const MORE_PHASES: [(PhaseName, PhaseName); 2] = [("find-easy", "timestamp"), ("find-hard", "find")];

/// The phases of a mode in the order they run.
pub fn phases(extended: bool) -> Vec<PhaseName> {
    let behind = |phase| {
        MORE_PHASES.into_iter().find(|(_, before)| extended && *before == phase).map(|(more, _)| more)
    };
    PHASES.into_iter().flat_map(|phase| [Some(phase), behind(phase)]).flatten().collect()
}

/// What the phases so far have left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Transfers of each rank in ior-easy's and ior-hard's files.
    pub easy_transfers: u64,
    /// The same of ior-hard.
    pub hard_transfers: u64,
    /// Items of each rank of mdtest-easy.
    pub easy_items: u64,
    /// The same of mdtest-hard.
    pub hard_items: u64,
    /// When the timestamp was set, by the clock of the data's file system.
    pub timestamp: Option<Instant>,
}

/// What is free where the files go.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Bytes that may be filled, 10 % of the file system left out.
    pub bytes: Bytes,
    /// Files that can be made; `None` where there is no limit.
    pub inodes: Option<u64>,
}

/// Who takes part, and where.
#[derive(Debug, Clone, Copy)]
pub struct Cast<'a> {
    /// Ranks in all.
    pub ranks: u32,
    /// Ranks on the first host, where there are several hosts that ranks are dealt to in blocks.
    pub on_first_host: Option<u32>,
    /// The data directory of the run.
    pub data: &'a Path,
    /// What data is made from: the same in all phases, another in the next run.
    pub signature: u64,
}

/// What a phase needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub(super) config: &'a Config,
    pub(super) cast: Cast<'a>,
    done: Progress,
    room: Room,
}

/// One test of a phase.
#[derive(Debug, Clone)]
pub struct Step {
    /// The directory that it works in.
    pub target: PathBuf,
    /// What it does.
    pub workload: Workload,
    /// The command line that IO500 would give.
    pub command: Vec<String>,
    /// As the language read it, for what it prints.
    pub(super) meaning: Meaning,
    /// What the language calls its phases, and what they are called here.
    pub(super) names: Vec<(String, String)>,
}

/// A command line as its language read it.
#[derive(Debug, Clone)]
pub(super) enum Meaning {
    /// One of IOR's.
    Ior(Box<ior::Test>),
    /// One of mdtest's.
    Mdtest(Box<Mdtest>),
}

impl Config {
    /// What plans the phases.
    pub fn scene<'a>(&'a self, cast: Cast<'a>, done: Progress, room: Room) -> Scene<'a> {
        Scene { config: self, cast, done, room }
    }

    /// How long all phases take at most, by their deadlines: four writes and the random read, each with its wear-out.
    pub fn at_most(&self) -> Duration {
        self.stonewall() * 5 * (1 + WEAR_OUT_CAP)
    }
}

impl Scene<'_> {
    /// The tests that a phase is, one after the other. `timestamp` has none.
    pub fn steps(&self, phase: PhaseName) -> Result<Vec<Step>> {
        let steps = match phase {
            "timestamp" => Vec::new(),
            "find" => {
                let parts = [(true, self.done.hard_items), (false, self.done.easy_items)];
                let there = parts.into_iter().filter(|(_, items)| *items > 0);
                there.map(|(hard, _)| self.find(phase, hard, self.sought())).collect::<Result<_>>()?
            }
            "find-easy" => {
                vec![self.find(
                    phase,
                    false,
                    LookingFor { name: Some(SOUGHT.to_owned()), ..LookingFor::default() },
                )?]
            }
            "find-hard" => vec![self.find(phase, true, self.sought())?],
            _ => vec![self.command(phase)?.step(phase)?],
        };
        Ok(steps)
    }

    /// The one command line that IO500 would give.
    fn command(&self, phase: PhaseName) -> Result<Command<'_>> {
        let (kind, what) = phase.rsplit_once('-').unwrap_or((phase, ""));
        let command = Command::new(self, if kind == "ior-rnd4K-easy" { "ior-easy" } else { kind });
        Ok(match (kind, what) {
            ("ior-easy", "write") => command.ior_easy(self.easy_block()?)?.writing(),
            ("ior-easy", _) => command.ior_easy(self.easy_block()?)?.reading(),
            ("ior-rnd4K-easy", _) => command.random(self.easy_block()?)?,
            ("ior-hard", "write") => command.ior_hard(self.segments()?).writing(),
            ("ior-hard", _) => command.ior_hard(self.segments()?).reading(),
            (_, "write") => command.mdtest(self.items(kind)?)?.creating(),
            (_, "stat") => command.mdtest(self.items(kind)?)?.with(&["-T"]),
            (_, "read") => command.mdtest(self.items(kind)?)?.with(&["-E", "-X"]),
            _ => command.mdtest(self.items(kind)?)?.with(&["-r"]),
        })
    }

    /// A look at every file of mdtest-easy or mdtest-hard.
    fn find(&self, phase: PhaseName, hard: bool, sought: LookingFor) -> Result<Step> {
        let kind = if hard { "mdtest-hard" } else { "mdtest-easy" };
        let mut step = Command::new(self, kind).mdtest(self.items(kind)?)?.with(&["-T"]).step(phase)?;
        let find = Entries { looking_for: Some(sought), ..Entries::of(EntryOperation::Find) };
        let mut looking = Phase::entries(phase, find);
        looking.jobs[0].ranks = self.config.find_ranks(phase)?.map(|ranks| ranks.min(self.cast.ranks));
        step.workload.phases = vec![looking];
        step.workload.check()?;
        Ok(step)
    }

    /// What `find` looks for: `-newer timestampfile -size 3901c -name "*01*"`.
    pub fn sought(&self) -> LookingFor {
        LookingFor {
            name: Some(SOUGHT.to_owned()),
            size: Some(HARD_FILE),
            newer_than: self.done.timestamp,
            ..LookingFor::default()
        }
    }

    /// The longest that a wear-out may last.
    pub(super) fn cap(&self) -> Duration {
        self.config.stonewall() * WEAR_OUT_CAP
    }

    /// What a rank may write here, in whole transfers.
    fn fitting(&self, asked: Bytes, transfer: Bytes) -> Bytes {
        let room = self.room.bytes.share(Ratio::new(SHARE_OF_ROOM)) / u64::from(self.cast.ranks.max(1));
        asked.min(room).round_down(transfer).max(transfer)
    }

    /// Bytes of each rank in ior-easy: what was written, or what fits of what is asked for.
    fn easy_block(&self) -> Result<Bytes> {
        let (transfer, block, ..) = self.config.ior_easy()?;
        Ok(match self.done.easy_transfers {
            0 => self.fitting(block.round_down(transfer), transfer),
            transfers => transfer * transfers,
        })
    }

    /// The same in segments of ior-hard.
    fn segments(&self) -> Result<u64> {
        Ok(match self.done.hard_transfers {
            0 => self.config.ior_hard()?.min(self.fitting(Bytes::tib(1 << 20), HARD) / HARD),
            transfers => transfers,
        })
    }

    /// The same in files of mdtest.
    fn items(&self, kind: &str) -> Result<u64> {
        let hard = kind == "mdtest-hard";
        let made = if hard { self.done.hard_items } else { self.done.easy_items };
        if made > 0 {
            return Ok(made);
        }
        let asked = self.config.items(kind)?;
        let ranks = u64::from(self.cast.ranks.max(1));
        let by_inodes = self.room.inodes.map_or(u64::MAX, |free| free / 4 / ranks);
        let by_room = if hard {
            self.fitting(Bytes::tib(1 << 20), Bytes::new(HARD_FILE_TAKES)) / Bytes::new(HARD_FILE_TAKES)
        } else {
            u64::MAX
        };
        let most = asked.min(by_inodes).min(by_room).max(1);
        // Whole directories where they have a size.
        Ok(match if hard { self.config.files_per_directory()? } else { None } {
            Some(each) if each > 0 && most > each => most / each * each,
            _ => most,
        })
    }
}
