//! What a workload must satisfy before anything is touched.

mod entries;
mod files;
mod phase;
mod rate;
mod transfer;

use fault::{Fault, Kind, Result};

use super::{Activity, HoldMemory, Layout, VERSION, Workload};

/// The largest transfer: one `pread` moves at most this much on Linux (2 GiB less a page).
const LARGEST_TRANSFER: u64 = 1 << 30;
/// Ranks are threads; more than this is a slip of the keyboard.
const MOST_RANKS: u32 = 1 << 20;

impl Workload {
    /// Reads a workload file.
    pub fn from_toml(text: &str) -> Result<Self> {
        let workload: Self = toml::from_str(text).map_err(|error| {
            Fault::new(
                Kind::Spec,
                format!("the workload is not understood: {}", error.to_string().trim_end()),
            )
            .hint("`forebay run --help` shows an example; `examples/` has more")
        })?;
        workload.check()?;
        Ok(workload)
    }

    /// Says what is wrong with it, if anything.
    pub fn check(&self) -> Result<()> {
        if self.version != VERSION {
            return Err(wrong(
                format!("workload version {} is not known", self.version),
                "write `version = 1`",
            ));
        }
        if self.ranks == 0 || self.repetitions == 0 || self.phases.is_empty() {
            return Err(wrong(
                "a workload needs at least one rank, one repetition and one phase",
                "set `ranks`, `repetitions`, `[[phases]]`",
            ));
        }
        self.check_striping()?;
        let files = &self.files;
        if files.block_size.get() == 0 || files.segments == 0 || files.files_per_rank == 0 {
            return Err(wrong(
                "`block_size`, `segments` and `files_per_rank` must be at least 1",
                "look at `[files]`",
            ));
        }
        self.check_block_sizes()?;
        if self.ranks > MOST_RANKS {
            return Err(wrong(
                format!("{} ranks are more than a host can run", self.ranks),
                "set `ranks` to the number of processes that shall work at the same time",
            ));
        }
        self.check_surroundings()?;
        self.check_total()?;
        self.check_tree()?;
        self.check_prefix()?;
        self.check_names()?;
        self.phases.iter().try_for_each(|phase| self.check_phase(phase))
    }

    /// Memory, time and targets.
    fn check_surroundings(&self) -> Result<()> {
        let nothing = match self.hold_memory {
            Some(HoldMemory::Share(share)) => share.get() <= 0.0 || share.get() >= 1.0,
            Some(HoldMemory::Size(size)) => size.get() == 0,
            None => false,
        };
        if nothing {
            return Err(wrong(
                "memory that is held is more than nothing and less than everything",
                "set `hold_memory` to something like `{ share = \"50%\" }`, or leave it out",
            ));
        }
        if self.max_time.is_some_and(|time| time.is_zero()) {
            return Err(wrong(
                "a test that may take no time does nothing",
                "set `max_time`, or leave it out",
            ));
        }
        let shared = self.files.layout == Layout::Shared;
        let uses = |transfer: bool| {
            self.phases
                .iter()
                .flat_map(|phase| &phase.jobs)
                .any(|job| matches!(job.activity, Activity::Transfer(_)) == transfer)
        };
        if shared && uses(true) && (self.files.directory_per_rank || !self.more_targets.is_empty()) {
            return Err(wrong(
                "a file that all ranks share is in one directory",
                "leave out `directory_per_rank` and `more_targets`, or use `layout = \"per_rank\"`",
            ));
        }
        if uses(false) && self.files.tree.shared_items && !self.more_targets.is_empty() {
            return Err(wrong(
                "items that all ranks share are in one target",
                "leave out `more_targets`, or set `shared_items = false` in `[files.tree]`",
            ));
        }
        Ok(())
    }
}

fn wrong(message: impl Into<String>, hint: &str) -> Fault {
    Fault::new(Kind::Spec, message).hint(hint)
}
