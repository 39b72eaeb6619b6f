//! Operations on entries.

use fault::Result;
use units::Ratio;

use super::super::{
    Activity, Entries, EntryOperation, Item, Order, Pacing, Phase, RankShift, Selection, Stop, Workload,
};
use super::{LARGEST_TRANSFER, wrong};

/// What direct I/O is a multiple of, at the least.
const SECTOR: u64 = 512;
/// The most items that ranks can take from each other: a byte of memory for each.
const MOST_SELECTED: u64 = 1 << 32;

impl Workload {
    /// Whether any phase takes items of all ranks.
    pub fn selects(&self) -> bool {
        self.entries().any(|entries| entries.select != Selection::Own)
    }

    /// Items that ranks take from each other must be told apart, and the work on them must have an end.
    fn check_selection(&self, name: &str, stop: &Stop, entries: &Entries) -> Result<()> {
        let tree = &self.files.tree;
        if entries.working_set.get() <= 0.0 {
            return Err(wrong(format!("phase `{name}` uses no items"), "set `working_set` above 0 %"));
        }
        if entries.select == Selection::Own {
            return Ok(());
        }
        if !entries.operation.is_for_items() || entries.operation == EntryOperation::Rename {
            return Err(wrong(
                format!("phase `{name}`: `select` does not go with this operation"),
                "use `create`, `stat`, `open`, `read`, `write` or `remove`, or leave out `select`",
            ));
        }
        let own_way = entries.rank_shift != RankShift::None
            || entries.order != Order::Sequential
            || entries.first_rank_only;
        if own_way || tree.shared_items {
            return Err(wrong(
                format!("phase `{name}`: `select` says which items are taken, and by whom"),
                "leave out `order`, `rank_shift`, `first_rank_only` and `shared_items`",
            ));
        }
        let targets = 1 + self.more_targets.len() as u32;
        if let Some(target) = entries.targets.iter().find(|target| **target >= targets.min(self.ranks)) {
            return Err(wrong(
                format!(
                    "phase `{name}`: no item lies in target number {target} of {targets}, counted from 0"
                ),
                "set `targets` to numbers of targets; there must be as many ranks at least",
            ));
        }
        let item = entries.item;
        if self.entries().any(|other| other.operation.is_for_items() && other.item != item) {
            return Err(wrong(
                format!("phase `{name}` takes items of all ranks, and not all are of one kind"),
                "use the same `item` everywhere",
            ));
        }
        if tree.all_items(self.ranks) > MOST_SELECTED {
            return Err(wrong(
                format!("phase `{name}` selects from more than 4294967296 items"),
                "lower `items` in `[files.tree]`",
            ));
        }
        if matches!(entries.select, Selection::Skewed(mean) if mean.get() <= 0.0) {
            return Err(wrong(
                format!("phase `{name}`: `skewed` to nothing"),
                "set it to the part of the items that is used most, above 0 %",
            ));
        }
        let endless = stop.time.is_some() && stop.repeat && !stop.wear_out;
        if entries.select != Selection::Once && !endless {
            return Err(wrong(
                format!("phase `{name}` selects items without end"),
                "stop by `time` with `repeat = true` and without `wear_out`, or use `select = \"once\"`",
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
        if sought.newer && sought.newer_than.is_some() {
            return Err(wrong(
                format!("phase `{name}` looks for what is newer than a mark and than an instant"),
                "leave out `newer` or `newer_than`",
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

    pub(super) fn check_entries(&self, name: &str, stop: &Stop, entries: &Entries) -> Result<()> {
        use EntryOperation::{Find, MakeTree, Mark, Remove, RemoveTree, Rename};
        self.check_find(name, entries)?;
        let needs_items = !matches!(entries.operation, MakeTree | RemoveTree | Find | Mark);
        if needs_items && self.files.tree.items == 0 {
            return Err(wrong(format!("phase `{name}` works on no items"), "set `items` in `[files.tree]`"));
        }
        self.check_selection(name, stop, entries)?;
        self.check_chain(name, entries)?;
        check_calls(name, entries)?;
        let stoppable =
            entries.select == Selection::Own && (stop.time.is_some() || stop.operations.is_some());
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

    /// Chains go through the items of one rank, in order.
    fn check_chain(&self, name: &str, entries: &Entries) -> Result<()> {
        let plain = entries.operation == EntryOperation::Rename
            && entries.select == Selection::Own
            && entries.order == Order::Sequential
            && entries.working_set == Ratio::ONE
            && !self.files.tree.shared_items;
        if entries.chained && !plain {
            return Err(wrong(
                format!("phase `{name}`: only renames of a rank's own items, all and in order, make a chain"),
                "leave out `chained`, or `select`, `order`, `working_set` and `shared_items`",
            ));
        }
        Ok(())
    }
}

/// How files are read and written, and when.
fn check_calls(name: &str, entries: &Entries) -> Result<()> {
    if let Pacing::Open { operations_per_second: rate, .. } = entries.pacing
        && !(rate.is_finite() && rate > 0.0 && entries.operation.is_for_items())
    {
        return Err(wrong(
            format!("phase `{name}`: {rate} operations per second is no rate for this operation"),
            "set `operations_per_second` above 0, for operations on items",
        ));
    }
    if entries.first_rank_only
        && !matches!(entries.operation, EntryOperation::Create | EntryOperation::Remove)
    {
        return Err(wrong(
            format!("phase `{name}`: only creations and removals are done by one rank for all"),
            "leave out `first_rank_only`",
        ));
    }
    if entries.calls == Some(0) || entries.transfer_size.is_some_and(|size| size.get() == 0) {
        return Err(wrong(
            format!("phase `{name}`: files are read and written with at least one call of one byte"),
            "set `calls` and `transfer_size` to 1 or more, or leave them out",
        ));
    }
    let odd = |size: units::Bytes| !size.get().is_multiple_of(SECTOR);
    let sizes = [Some(entries.write_bytes), Some(entries.read_bytes), entries.transfer_size];
    if entries.direct && (entries.item != Item::File || sizes.into_iter().flatten().any(odd)) {
        return Err(wrong(
            format!("phase `{name}`: direct I/O needs files, and multiples of 512 bytes"),
            "round the sizes, or leave out `direct`",
        ));
    }
    Ok(())
}
