//! Renaming in a chain, as mdtest does: every item takes the name of the one before it.

use record::StopCause;
use rustix::fs::renameat;

use super::clock::now;
use super::entries::{POLL_NS, Walker};

impl Walker<'_> {
    /// The items of the owner's trees, each under the name of the one before it. The first of a tree goes aside, and comes
    /// back under the name that is left over when all have moved: as many names as before, and the same ones. A single item
    /// has no other to change with. Paths are whole, for two neighbours may lie in different directories.
    pub(super) fn rename_in_chains(&mut self) -> rustix::io::Result<StopCause> {
        let made = self.context.shares[self.owner as usize].items();
        let items = if made == 0 { self.tree.items } else { made };
        let each = (self.tree.items / self.trees.max(1)).max(1);
        let mut to = String::with_capacity(512);
        let mut started = now();
        let mut check_at = started + POLL_NS;
        while self.position < items && self.meter.operations < self.limit {
            let item = self.position;
            self.position += 1;
            let first = item - item % each;
            let last = (first + each).min(items) - 1;
            if first == last {
                continue;
            }
            if item == first {
                self.name(first, true);
            } else {
                self.name(item - 1, false);
            }
            std::mem::swap(&mut self.path, &mut to);
            if item == last {
                self.name(first, true);
            } else {
                self.name(item, false);
            }
            let ground = self.ground.as_fd();
            renameat(ground, self.path.as_str(), ground, to.as_str())?;
            let ended = now();
            self.meter.record(0, ended - started, 0);
            started = ended;
            if ended >= check_at.min(self.meter.interval_end()) {
                if let Some(cause) = self.look_up(ended) {
                    return Ok(cause);
                }
                started = now();
                check_at = started + POLL_NS;
            }
        }
        Ok(StopCause::Bytes)
    }

    /// Makes `path` the whole path of an item, under its own name or the one aside.
    fn name(&mut self, item: u64, aside: bool) {
        self.path.clear();
        self.push_directory(self.tree.directory_of(item));
        self.path.push('/');
        self.names.push_item(&mut self.path, self.owner, item, self.entries.item, aside);
    }
}
