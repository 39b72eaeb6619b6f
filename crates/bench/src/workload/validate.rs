//! What a workload must satisfy before anything is touched.

use fault::{Fault, Kind, Result};
use units::Ratio;

use super::{
    Activity, Entries, EntryOperation, Fsync, HoldMemory, Item, Job, Layout, Order, Pacing, Phase, PhaseRate,
    Stop, Transfer, TransferSize, VERSION, Workload,
};

/// The largest transfer: one `pread` moves at most this much on Linux (2 GiB less a page).
const LARGEST_TRANSFER: u64 = 1 << 30;
/// The deepest queue an `io_uring` accepts.
const DEEPEST_QUEUE: u32 = 32_768;
/// Names of run directories and entries stay short of the file systems' limit of 255 bytes.
const LONGEST_PREFIX: usize = 64;
/// Ranks are threads; more than this is a slip of the keyboard.
const MOST_RANKS: u32 = 1 << 20;
/// Items are numbered within their rank.
const MOST_ITEMS: u64 = 1 << 40;
/// Paths of trees deeper than this come near the system's limit of 4096 bytes.
const DEEPEST_TREE: u32 = 60;

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
        let files = &self.files;
        if files.block_size.get() == 0 || files.segments == 0 || files.files_per_rank == 0 {
            return Err(wrong(
                "`block_size`, `segments` and `files_per_rank` must be at least 1",
                "look at `[files]`",
            ));
        }
        if self.ranks > MOST_RANKS {
            return Err(wrong(
                format!("{} ranks are more than a host can run", self.ranks),
                "set `ranks` to the number of processes that shall work at the same time",
            ));
        }
        self.check_surroundings()?;
        self.check_total()?;
        self.check_tree()?;
        let prefix = &files.tree.prefix;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if prefix.is_empty() || prefix.len() > LONGEST_PREFIX || !prefix.chars().all(plain) {
            return Err(wrong(
                format!("`prefix = \"{prefix}\"` is no name for entries"),
                "use letters, digits, `-` and `_`, at most 64",
            ));
        }
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
        if uses(false) && !self.files.tree.per_rank && !self.more_targets.is_empty() {
            return Err(wrong(
                "a tree that all ranks share is in one target",
                "leave out `more_targets`, or set `per_rank = true` in `[files.tree]`",
            ));
        }
        Ok(())
    }

    /// The file set must be countable in 64 bits.
    fn check_total(&self) -> Result<()> {
        let files = &self.files;
        let ranks = u64::from(self.ranks);
        let total = files
            .block_size
            .get()
            .checked_mul(files.segments)
            .and_then(|size| size.checked_mul(ranks))
            .and_then(|size| size.checked_mul(u64::from(files.files_per_rank)));
        let count = ranks * u64::from(files.files_per_rank);
        let trees = if files.tree.per_rank { ranks } else { 1 };
        let directories = files.tree.all_directories().saturating_mul(trees);
        let too_many = directories.max(count) > u64::from(u32::MAX);
        if too_many || total.is_none_or(|total| total > i64::MAX as u64) {
            return Err(wrong(
                "the files are larger, or the tree has more directories, than a file system can hold",
                "lower `block_size`, `segments`, `files_per_rank`, `branch` or `depth`",
            ));
        }
        Ok(())
    }

    /// Items must have numbers, and directories paths that the system takes.
    fn check_tree(&self) -> Result<()> {
        let tree = &self.files.tree;
        if tree.branch == 0 {
            return Err(wrong(
                "a tree with `branch = 0` has no leaves",
                "set `branch` to 1 or more in `[files.tree]`",
            ));
        }
        if tree.depth > DEEPEST_TREE {
            return Err(wrong(
                format!("a tree of depth {} has longer paths than the system takes", tree.depth),
                "set `depth` to 60 or less",
            ));
        }
        if tree.directory_items == Some(0) {
            return Err(wrong(
                "directories with `directory_items = 0` hold nothing",
                "set `directory_items` to 1 or more in `[files.tree]`, or leave it out",
            ));
        }
        if tree.shared_items && (tree.per_rank || self.entries().any(|e| e.item == Item::Directory)) {
            return Err(wrong(
                "items that all ranks share are files in a tree that all share",
                "leave out `per_rank`, `item = \"directory\"` or `shared_items`",
            ));
        }
        let largest = self.entries().map(|e| e.write_bytes.max(e.read_bytes).get().max(1)).max().unwrap_or(1);
        let total =
            tree.items.checked_mul(u64::from(self.ranks)).and_then(|items| items.checked_mul(largest));
        if tree.items > MOST_ITEMS || total.is_none_or(|total| total > i64::MAX as u64) {
            return Err(wrong(
                format!("{} items per rank are more than a file system can hold", tree.items),
                "lower `items` in `[files.tree]`",
            ));
        }
        self.check_contents()
    }

    /// Files are not read beyond what was written into them.
    fn check_contents(&self) -> Result<()> {
        let of = |operation| self.entries().filter(move |e| e.operation == operation);
        let written =
            of(EntryOperation::Create).filter(|e| e.item == Item::File).map(|e| e.write_bytes).min();
        let read = of(EntryOperation::Read).map(|e| e.read_bytes).max();
        match (written, read) {
            (Some(written), Some(read)) if read > written => Err(wrong(
                format!("files of {written:#} are created and {read:#} are read from each"),
                "lower `read_bytes`, or raise `write_bytes`",
            )),
            _ => Ok(()),
        }
    }

    fn check_phase(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        let stop = &phase.stop;
        if phase.jobs.is_empty() {
            return Err(wrong(format!("phase `{name}` has no jobs"), "add `[[phases.jobs]]`"));
        }
        if stop.time.is_some_and(|time| time.is_zero()) {
            return Err(wrong(
                format!("phase `{name}` may run for no time at all"),
                "set `stop.time` to a second or more, or leave it out",
            ));
        }
        if stop.time.is_none() && stop.operations.is_none() && (stop.repeat || stop.wear_out) {
            return Err(wrong(
                format!("phase `{name}`: `repeat` and `wear_out` need a deadline"),
                "set `stop.time`",
            ));
        }
        self.check_ranks_of(phase)?;
        check_skew(phase)?;
        self.check_rate(phase)?;
        for job in &phase.jobs {
            match &job.activity {
                Activity::Transfer(transfer) => self.check_transfer(name, transfer)?,
                Activity::Entries(entries) => self.check_entries(name, stop, entries)?,
            }
        }
        Ok(())
    }

    /// Ranks are dealt to jobs in order.
    fn check_ranks_of(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        if phase.ranks.is_some_and(|ranks| ranks == 0 || ranks > self.ranks) {
            return Err(wrong(
                format!("phase `{name}` wants {} ranks of {}", phase.ranks.unwrap_or(0), self.ranks),
                "set `ranks` of the phase to between 1 and the workload's `ranks`",
            ));
        }
        let transfers = phase.jobs.iter().any(|job| matches!(job.activity, Activity::Transfer(_)));
        if phase.ranks.is_some() && transfers && self.files.layout == Layout::Shared {
            return Err(wrong(
                format!("phase `{name}`: where data lies in a shared file depends on the number of ranks"),
                "leave out `ranks` of the phase, or use a file per rank",
            ));
        }
        let ranks = phase.size(self.ranks);
        let dealt: u64 = phase.jobs.iter().filter_map(|job| job.ranks).map(u64::from).sum();
        if dealt > u64::from(ranks) {
            return Err(wrong(
                format!("phase `{name}` deals out {dealt} ranks of {ranks}"),
                "lower the jobs' `ranks`",
            ));
        }
        let before_last = &phase.jobs[..phase.jobs.len() - 1];
        let rest = before_last.iter().any(|job| job.ranks.is_none());
        if rest || phase.jobs.iter().any(|job| job.ranks == Some(0)) {
            return Err(wrong(
                format!("phase `{name}` has a job without ranks"),
                "give every job `ranks`; only the last may leave it out and takes those that are left",
            ));
        }
        Ok(())
    }

    /// A rate needs something that it can pace, and something that it is a share of.
    fn check_rate(&self, phase: &Phase) -> Result<()> {
        let name = &phase.name;
        let Some(rate) = &phase.rate else { return Ok(()) };
        match rate {
            PhaseRate::Fixed { operations_per_second: rate, .. } if !(rate.is_finite() && *rate > 0.0) => {
                Err(wrong(
                    format!("phase `{name}`: {rate} operations per second is no rate"),
                    "set `operations_per_second` above 0",
                ))
            }
            PhaseRate::Of { share, .. } if share.get() <= 0.0 => {
                Err(wrong(format!("phase `{name}`: {share} of a rate is no rate"), "set `share` above 0 %"))
            }
            PhaseRate::Of { phase: other, .. } => {
                let before = self.phases.iter().take_while(|earlier| !std::ptr::eq(*earlier, phase));
                let Some(earlier) = before.filter(|earlier| earlier.name == *other).last() else {
                    return Err(wrong(
                        format!(
                            "phase `{name}` wants a share of the rate of `{other}`, which is no earlier phase"
                        ),
                        "name a phase before it",
                    ));
                };
                if phase.skews().is_none() && !same_ranks(phase, earlier) {
                    return Err(wrong(
                        format!(
                            "phase `{name}` has other jobs than `{other}`, whose rate it wants a share of"
                        ),
                        "give both the same jobs with the same ranks, or say who gets what with `skew`",
                    ));
                }
                Ok(())
            }
            PhaseRate::Fixed { .. } => Ok(()),
        }
    }

    fn check_transfer(&self, name: &str, transfer: &Transfer) -> Result<()> {
        let (unit, largest) = (transfer.transfer_size.unit().get(), transfer.transfer_size.largest().get());
        if unit == 0 || largest > LARGEST_TRANSFER {
            return Err(wrong(
                format!("phase `{name}`: the transfer size must be between 1 B and 1 GiB"),
                "set `transfer_size`",
            ));
        }
        check_sizes(name, transfer)?;
        self.check_prefill(name, transfer)?;
        self.check_hits(name, transfer)?;
        let block = self.files.block_size;
        if !block.get().is_multiple_of(unit) {
            return Err(wrong(
                format!(
                    "phase `{name}`: the block size {block} is not a multiple of the transfer size {}",
                    transfer.transfer_size.unit()
                ),
                "round `block_size`",
            ));
        }
        if transfer.queue_depth == 0 || transfer.queue_depth > DEEPEST_QUEUE {
            return Err(wrong(
                format!(
                    "phase `{name}`: queue depth {} is not between 1 and {DEEPEST_QUEUE}",
                    transfer.queue_depth
                ),
                "set `queue_depth`",
            ));
        }
        if transfer.range_start >= transfer.range_end {
            return Err(wrong(
                format!(
                    "phase `{name}`: the range {} to {} is empty",
                    transfer.range_start, transfer.range_end
                ),
                "`range_start` must be below `range_end`",
            ));
        }
        self.check_order(name, transfer.order)?;
        if transfer.fsync == Fsync::Every(0) {
            return Err(wrong(
                format!("phase `{name}`: fsync after every 0 writes is never"),
                "set `every` to 1 or more, or `fsync = \"never\"`",
            ));
        }
        if let Pacing::Open { operations_per_second: rate, .. } = transfer.pacing
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(wrong(
                format!("phase `{name}`: {rate} operations per second is no rate"),
                "set `operations_per_second` above 0",
            ));
        }
        Ok(())
    }

    /// What comes with an order must make sense.
    fn check_order(&self, name: &str, order: Order) -> Result<()> {
        match order {
            Order::SeekPercent(percent) if !(0.0..=100.0).contains(&percent) => {
                return Err(wrong(
                    format!("phase `{name}`: {percent} is not a percentage"),
                    "set `seek_percent` between 0 and 100",
                ));
            }
            Order::Stride(0) => {
                return Err(wrong(
                    format!("phase `{name}`: a stride of 0 never moves"),
                    "set `stride` to 1 or more",
                ));
            }
            Order::Skip { percent, .. } if !(0.0..=100.0).contains(&percent) => {
                return Err(wrong(
                    format!("phase `{name}`: {percent} is not a percentage"),
                    "set `percent` of `skip` between 0 and 100",
                ));
            }
            Order::Skip { smallest, largest, .. } if smallest > largest => {
                return Err(wrong(
                    format!("phase `{name}`: {smallest:#} to {largest:#} is nothing to skip"),
                    "`smallest` must not be above `largest`",
                ));
            }
            Order::Streams(0) => {
                return Err(wrong(format!("phase `{name}`: no streams"), "set `streams` to 1 or more"));
            }
            Order::Streams(streams)
                if self.files.layout == Layout::Shared && !self.ranks.is_multiple_of(streams) =>
            {
                return Err(wrong(
                    format!("phase `{name}`: {} ranks can't be dealt to {streams} streams", self.ranks),
                    "every stream of a shared file needs the same number of ranks: round `ranks`",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Only writes are prefilled, with calls that make up a block.
    fn check_prefill(&self, name: &str, transfer: &Transfer) -> Result<()> {
        let Some(size) = transfer.prefill else { return Ok(()) };
        if transfer.reads() {
            return Err(wrong(
                format!("phase `{name}` reads: only the time of a write can have a prefill in it"),
                "leave out `prefill`, or put a phase that writes in front",
            ));
        }
        let block = self.files.block_size;
        let fits = size.get() > 0 && size.get() <= LARGEST_TRANSFER && block.get().is_multiple_of(size.get());
        if !fits {
            return Err(wrong(
                format!("phase `{name}`: the block size {block} is not a multiple of the prefill's {size:#}"),
                "set `prefill` to a divisor of `block_size`, at most 1 GiB",
            ));
        }
        Ok(())
    }

    /// The hit area is a part of what orders with chance in them can go to.
    fn check_hits(&self, name: &str, transfer: &Transfer) -> Result<()> {
        if !transfer.has_hits() {
            return Ok(());
        }
        if !matches!(transfer.order, Order::Random | Order::SeekPercent(_) | Order::Skip { .. }) {
            return Err(wrong(
                format!("phase `{name}`: a hit area goes with random offsets only"),
                "set `order` to `random`, `seek_percent` or `skip`, or leave out `read_hits` and `write_hits`",
            ));
        }
        let used = transfer.range_end.get() - transfer.range_start.get();
        let range = self.files.file_size(self.ranks).get() as f64 * used;
        let area = transfer.hit_area;
        if area < transfer.transfer_size.largest() || area.get() as f64 >= range {
            return Err(wrong(
                format!(
                    "phase `{name}`: a hit area of {area:#} must hold a transfer and be smaller than the range"
                ),
                "set `hit_area`, or use larger files",
            ));
        }
        Ok(())
    }

    /// Only a find looks for something; what is newer is newer than a mark.
    fn check_find(&self, name: &str, entries: &Entries) -> Result<()> {
        let Some(sought) = &entries.looking_for else { return Ok(()) };
        if entries.operation != EntryOperation::Find {
            return Err(wrong(
                format!("phase `{name}` is no find, and can't look for anything"),
                "leave out `looking_for`, or set `operation = \"find\"`",
            ));
        }
        let before = self.phases.iter().take_while(|phase| phase.name != name);
        let marks = |phase: &Phase| {
            phase.jobs.iter().any(
                |job| matches!(&job.activity, Activity::Entries(e) if e.operation == EntryOperation::Mark),
            )
        };
        if sought.newer && !before.into_iter().any(marks) {
            return Err(wrong(
                format!("phase `{name}` looks for what is newer than a mark that no phase before it makes"),
                "add a phase with `operation = \"mark\"`, or leave out `newer`",
            ));
        }
        Ok(())
    }

    fn check_entries(&self, name: &str, stop: &Stop, entries: &Entries) -> Result<()> {
        use EntryOperation::{Find, MakeTree, Mark, Remove, RemoveTree, Rename};
        self.check_find(name, entries)?;
        let needs_items = !matches!(entries.operation, MakeTree | RemoveTree | Find | Mark);
        if needs_items && self.files.tree.items == 0 {
            return Err(wrong(format!("phase `{name}` works on no items"), "set `items` in `[files.tree]`"));
        }
        let stoppable = stop.time.is_some() || stop.operations.is_some();
        if stoppable && matches!(entries.operation, Rename | Remove) {
            return Err(wrong(
                format!(
                    "phase `{name}` may not stop half-way: the phases after it could not tell which items are left"
                ),
                "leave out `stop`, or use fewer items",
            ));
        }
        if !matches!(entries.order, Order::Sequential | Order::RandomOnce) {
            return Err(wrong(
                format!("phase `{name}`: entries are visited `sequential` or `random_once`"),
                "set `order`",
            ));
        }
        if entries.write_bytes.get().max(entries.read_bytes.get()) > LARGEST_TRANSFER {
            return Err(wrong(
                format!("phase `{name}`: at most 1 GiB per file"),
                "lower `write_bytes` and `read_bytes`, or use a transfer",
            ));
        }
        Ok(())
    }
}

/// Jobs that wait for each other must not wait for one that has ended.
fn check_skew(phase: &Phase) -> Result<()> {
    let name = &phase.name;
    let skewed = phase.jobs.iter().any(|job| job.skew.is_some());
    let own_pace = |job: &Job| match &job.activity {
        Activity::Transfer(transfer) => transfer.pacing != Pacing::Closed,
        Activity::Entries(_) => true,
    };
    if (skewed || phase.rate.is_some()) && phase.jobs.iter().any(own_pace) {
        return Err(wrong(
            format!("phase `{name}`: `rate` and `skew` go with transfers that have no `pacing` of their own"),
            "leave out `pacing`, or `rate` and `skew`",
        ));
    }
    if !skewed {
        return Ok(());
    }
    let given: f64 = phase.jobs.iter().filter_map(|job| job.skew).map(Ratio::get).sum();
    let all = phase.jobs.iter().all(|job| job.skew.is_some());
    let none = phase.jobs.iter().any(|job| job.skew.is_some_and(|skew| skew.get() <= 0.0));
    let too_much = given > 1.0 + 1e-9;
    if none || too_much || (all && given < 1.0 - 1e-9) || (!all && given > 1.0 - 1e-9) {
        return Err(wrong(
            format!("phase `{name}`: the jobs' `skew` does not add up to 100 %"),
            "every job needs some of it; those without `skew` share what is left",
        ));
    }
    let stop = &phase.stop;
    let endless = stop.time.is_some() && stop.repeat && stop.operations.is_none() && !stop.wear_out;
    if phase.rate.is_none() && !endless {
        return Err(wrong(
            format!(
                "phase `{name}`: jobs with `skew` wait for each other, and one that has ended would hold up the others"
            ),
            "stop by `time` with `repeat = true`, without `operations` and `wear_out`",
        ));
    }
    Ok(())
}

/// Whether the jobs of two phases have the same ranks.
fn same_ranks(one: &Phase, other: &Phase) -> bool {
    one.ranks == other.ranks
        && one.jobs.iter().map(|job| job.ranks).eq(other.jobs.iter().map(|job| job.ranks))
}

/// Sizes that are drawn must fit a grid of offsets.
fn check_sizes(name: &str, transfer: &Transfer) -> Result<()> {
    let unit = transfer.transfer_size.unit();
    match &transfer.transfer_size {
        TransferSize::Fixed(_) => return Ok(()),
        TransferSize::Weighted(sizes) => {
            let weights: u64 = sizes.iter().map(|s| u64::from(s.weight)).sum();
            let aligned = sizes.iter().all(|s| s.size.get().is_multiple_of(unit.get()));
            if !aligned || weights == 0 || weights > u64::from(u32::MAX) {
                return Err(wrong(
                    format!(
                        "phase `{name}`: weighted transfer sizes must be multiples of the smallest, with some weight"
                    ),
                    "for example 4KiB, 8KiB, 64KiB",
                ));
            }
        }
        TransferSize::Range { smallest, largest, step } => {
            let aligned = [smallest, largest].iter().all(|s| s.get().is_multiple_of(step.get()));
            if !aligned || smallest.get() == 0 || smallest > largest {
                return Err(wrong(
                    format!(
                        "phase `{name}`: {smallest:#} to {largest:#} in steps of {step:#} is no range of sizes"
                    ),
                    "both ends must be multiples of `step`, and the smallest not above the largest",
                ));
            }
        }
    }
    if matches!(transfer.order, Order::RandomOnce | Order::Stride(_) | Order::Streams(_)) {
        return Err(wrong(
            format!("phase `{name}`: transfers of different sizes can't visit every offset once"),
            "use one `transfer_size`, or the order `sequential`, `reverse`, `random` or `seek_percent`",
        ));
    }
    Ok(())
}

fn wrong(message: impl Into<String>, hint: &str) -> Fault {
    Fault::new(Kind::Spec, message).hint(hint)
}
