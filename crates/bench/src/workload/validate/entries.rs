//! Operations on entries.

use fault::Result;

use super::super::{Activity, Entries, EntryOperation, Order, Phase, Stop, Workload};
use super::{LARGEST_TRANSFER, wrong};

impl Workload {
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

    pub(super) fn check_entries(&self, name: &str, stop: &Stop, entries: &Entries) -> Result<()> {
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
