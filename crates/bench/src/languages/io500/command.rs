//! The command lines that IO500 gives to IOR and mdtest. They are read by the languages themselves, so that what the ini file
//! says (`api`, data, sizes) means here what it means there.

use std::path::PathBuf;

use fault::{Fault, Kind, Result};
use units::Bytes;

use super::Scene;
use super::phases::{Meaning, PhaseName, Step};
use crate::languages::ior::{Ior, World};
use crate::languages::mdtest::{Mdtest, Surroundings};
use crate::workload::Workload;

/// Bytes of one call of ior-hard.
pub const HARD: Bytes = Bytes::new(47_008);
/// Bytes of a file of mdtest-hard.
pub const HARD_FILE: Bytes = Bytes::new(3901);
/// Bytes of one call of ior-rnd4K-easy-read, and how many of them at most.
const RANDOM: Bytes = Bytes::kib(4);
const RANDOM_SEGMENTS: u64 = 10_000_000;

/// A command line in the making.
pub struct Command<'a> {
    scene: &'a Scene<'a>,
    /// `ior-easy`, `mdtest-hard`.
    kind: String,
    /// The words behind the program's name.
    words: Vec<String>,
    /// Bytes of each rank, where a command line does not say it.
    block: Option<Bytes>,
    /// Items of each rank.
    items: Option<u64>,
    /// Stops at the stonewall.
    stops: bool,
}

impl<'a> Command<'a> {
    pub fn new(scene: &'a Scene<'a>, kind: &str) -> Self {
        let data = format!("--dataPacketType={}", scene.config.packet());
        Self { scene, kind: kind.to_owned(), words: vec![data], block: None, items: None, stops: false }
    }

    /// The same with more words.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    fn option(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.words.extend([name.to_owned(), value.to_string()]);
        self
    }

    /// What every IOR of IO500's has.
    fn ior(self, file: &str, further: u32) -> Self {
        let (signature, file) = (self.scene.cast.signature, self.directory().join(file));
        let command = self.with(&["-C"]).option("-Q", further).with(&["-g"]).option("-G", signature);
        command.with(&["-k", "-e"]).option("-o", file.display())
    }

    pub fn ior_easy(self, block: Bytes) -> Result<Self> {
        let (transfer, _, per_rank, unique) = self.scene.config.ior_easy()?;
        let command = self.ior("ior_file_easy", 1).option("-t", transfer.get()).option("-b", block.get());
        let command = if per_rank { command.with(&["-F"]) } else { command };
        Ok(if unique && per_rank { command.with(&["-u"]) } else { command })
    }

    pub fn ior_hard(self, segments: u64) -> Self {
        let command = self.ior("file", 1).option("-t", HARD.get()).option("-b", HARD.get());
        command.option("-s", segments)
    }

    /// Any 4 KiB of another rank's file, for the time of the stonewall.
    pub fn random(mut self, block: Bytes) -> Result<Self> {
        let (_, _, per_rank, unique) = self.scene.config.ior_easy()?;
        self.block = Some(block.round_down(RANDOM));
        let command = self.ior("ior_file_easy", 2).with(&["-r", "-z", "-z"]);
        let command =
            command.option("-t", RANDOM.get()).option("-b", RANDOM.get()).option("-s", RANDOM_SEGMENTS);
        let command = if per_rank { command.with(&["-F"]) } else { command };
        let command = if unique && per_rank { command.with(&["-u"]) } else { command };
        Ok(command.deadline())
    }

    pub fn writing(self) -> Self {
        self.with(&["-w"]).deadline()
    }

    pub fn reading(self) -> Self {
        self.with(&["-r", "-R"])
    }

    fn deadline(mut self) -> Self {
        self.stops = true;
        let seconds = self.scene.config.stonewall().as_secs();
        self.option("-D", seconds).option("-O", "stoneWallingWearOut=1")
    }

    /// What every mdtest of IO500's has.
    pub fn mdtest(mut self, items: u64) -> Result<Self> {
        self.items = Some(items);
        let (hard, signature) = (self.kind == "mdtest-hard", self.scene.cast.signature);
        let mut command = self.option("-n", items);
        if hard {
            command = command.with(&["-t", "-w", "3901", "-e", "3901"]);
            if let Some(each) = command.scene.config.files_per_directory()? {
                command = command.option("-I", each.min(items));
            }
        } else {
            command = command.with(&["-u", "-L"]);
        }
        let directory = command.directory();
        let command = command.with(&["-F", "-P"]).option("-G", signature).option("-N", 1);
        Ok(command.option("-d", directory.display()))
    }

    /// Directories of a certain size know no deadline.
    pub fn creating(mut self) -> Self {
        let sized = self.scene.config.files_per_directory().is_ok_and(|each| each.is_some());
        let command = if sized && self.kind == "mdtest-hard" {
            self
        } else {
            self.stops = true;
            let seconds = self.scene.config.stonewall().as_secs();
            self.option("-W", seconds)
        };
        command.with(&["-C", "-Y"])
    }

    fn directory(&self) -> PathBuf {
        self.scene.cast.data.join(&self.kind)
    }

    /// What the command line means, with `api` from the ini file behind it.
    pub fn step(mut self, phase: PhaseName) -> Result<Step> {
        let api = self.scene.config.api(phase, &self.kind);
        let mut words = api.split_whitespace().map(str::to_owned);
        if let Some(api) = words.next() {
            self.words.extend(["-a".to_owned(), api]);
            self.words.extend(words);
        }
        let named = |fault: Fault| {
            let message = format!("{phase}: {}", fault.message());
            Fault::new(Kind::Spec, message).hint(fault.hint_text().unwrap_or("look at `api` in the ini file"))
        };
        let ior = self.kind.starts_with("ior");
        let read = if ior { self.ior_workload() } else { self.mdtest_workload() };
        let (mut workload, meaning) = read.map_err(named)?;
        phase.clone_into(&mut workload.name);
        let mut names = Vec::new();
        for one in &mut workload.phases {
            let name = match one.name.as_str() {
                tree @ ("tree-create" | "tree-remove") => format!("{phase} {tree}"),
                _ => phase.to_owned(),
            };
            names.push((std::mem::replace(&mut one.name, name.clone()), name));
            if one.stop.wear_out {
                one.stop.wear_out_cap = Some(self.scene.cap());
            }
            one.drop_cache = self.scene.config.drop_caches() && phase.ends_with("-read");
        }
        workload.check()?;
        let program = if ior { "ior" } else { "mdtest" };
        let command = std::iter::once(program.to_owned()).chain(self.words.clone()).collect();
        Ok(Step { target: self.directory(), workload, command, meaning, names })
    }

    fn ior_workload(&self) -> Result<(Workload, Meaning)> {
        let cast = self.scene.cast;
        let world = match cast.on_first_host {
            None => World::local(cast.ranks),
            Some(ranks_on_first_node) => World {
                ranks: cast.ranks,
                nodes: cast.ranks.div_ceil(ranks_on_first_node.max(1)),
                ranks_on_first_node,
                in_blocks: true,
            },
        };
        let mut ior = Ior::read(&self.words, world, false)?;
        let test = ior.tests.remove(0);
        let mut workload = test.plan.workload.clone();
        if let Some(block) = self.block {
            // IOR asks the first file for its size; what every rank has written is known here.
            (workload.files.block_size, workload.files.segments) = (block, 1);
            for phase in &mut workload.phases {
                phase.stop.operations = Some(RANDOM_SEGMENTS);
                phase.stop.repeat = true;
            }
        }
        Ok((workload, Meaning::Ior(Box::new(test))))
    }

    fn mdtest_workload(&self) -> Result<(Workload, Meaning)> {
        let cast = self.scene.cast;
        let around = Surroundings {
            ranks: cast.ranks,
            ranks_on_first_host: cast.on_first_host,
            items_left: self.items,
        };
        let mdtest = Mdtest::read(&self.words, false, false)?;
        let workload = mdtest.compile(around)?.remove(0).workload;
        Ok((workload, Meaning::Mdtest(Box::new(mdtest))))
    }
}
