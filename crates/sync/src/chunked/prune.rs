//! Removing old manifests, and packs that no manifest needs any more.
//!
//! Nothing is removed before a new manifest says what is leaving. Whoever began before it can't write theirs any more, and
//! whoever begins after it builds nothing on those packs: what is removed then is needed by nobody, and no clock decides it.

use std::collections::HashSet;

use chunk::Id;
use fault::{Fault, Kind};

use super::format::{Content, Manifest, Piece};
use super::opening::{manifests, read_manifest};
use super::tree::Entries;
use super::{Chunked, interrupted, key_of_pack};
use crate::job::lock;

/// Objects that one call removes.
const AT_ONCE: usize = 500;

/// What is to go.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Numbers of manifests.
    pub manifests: Vec<u64>,
    /// Packs, with their sizes.
    pub packs: Vec<([u8; 16], u64)>,
    /// Bytes of packs that stay.
    pub stays: u64,
}

impl Plan {
    /// In words.
    pub fn words(&self, shown: &str, verb: &str) -> String {
        let bytes: u64 = self.packs.iter().map(|(_, size)| size).sum();
        format!(
            "{verb} {} manifests and {} packs ({}) of `{shown}`; packs of {} stay",
            self.manifests.len(),
            self.packs.len(),
            units::Bytes::new(bytes),
            units::Bytes::new(self.stays),
        )
    }
}

impl Chunked {
    /// Removes all manifests but the newest `keep`, and the packs that those don't need.
    pub fn prune(&self, keep: u64, dry_run: bool) -> fault::Result<()> {
        let shown = self.store.shown();
        if !self.store.abilities().writes_new {
            return Err(Fault::new(Kind::Unsupported, format!("`{shown}` can't be pruned"))
                .hint("this store can't tell two writers apart, and one may need what the other removes"));
        }
        let plan = self.plan_prune(keep)?;
        if dry_run || plan.manifests.is_empty() && plan.packs.is_empty() {
            self.note(plan.words(&shown, "would remove"));
            return Ok(());
        }
        let base = self.base();
        let leaving = plan.packs.iter().map(|(name, _)| *name).collect();
        self.publish(&base, base.blocks.clone(), leaving)?;
        // The one before has the same tree.
        let old = plan.manifests.iter().copied().chain([base.sequence]).map(Manifest::key);
        self.remove(&old.collect::<Vec<_>>())?;
        self.remove(&plan.packs.iter().map(|(name, _)| key_of_pack(name)).collect::<Vec<_>>())?;
        self.list_anew(&plan)?;
        self.note(plan.words(&shown, "removed"));
        Ok(())
    }

    fn remove(&self, keys: &[String]) -> fault::Result<()> {
        keys.chunks(AT_ONCE)
            .try_for_each(|keys| if self.stopped() { Err(interrupted()) } else { self.store.delete(keys) })
    }

    fn plan_prune(&self, keep: u64) -> fault::Result<Plan> {
        let numbers = manifests(&*self.store)?;
        let newest = numbers.last().copied().unwrap_or_default();
        if newest != self.base().sequence {
            return Err(self.overtaken(newest));
        }
        let kept = numbers.len().saturating_sub(usize::try_from(keep.max(1)).unwrap_or(usize::MAX));
        let count = self.with_locations(|locations| locations.packs().len())?;
        let mut needed = vec![false; count];
        for number in &numbers[kept..] {
            self.mark_all(&read_manifest(&*self.store, *number)?, &mut needed)?;
        }
        let mut plan = Plan { manifests: numbers[..kept].to_vec(), ..Plan::default() };
        self.with_locations(|locations| {
            for (pack, needed) in locations.packs().iter().zip(&needed) {
                if *needed {
                    plan.stays += pack.size;
                } else {
                    plan.packs.push((pack.name, pack.size));
                }
            }
        })?;
        Ok(plan)
    }

    /// Marks the packs that a manifest needs. One that can't be read needs nobody knows what: nothing is removed then.
    fn mark_all(&self, manifest: &Manifest, needed: &mut [bool]) -> fault::Result<()> {
        let blocks: Vec<Id> = manifest.blocks.iter().map(|at| at.id).collect();
        self.mark(blocks, needed)?;
        let mut entries = Entries::new(std::sync::Arc::new(manifest.clone()));
        while let Some(some) = entries.next(self)? {
            if self.stopped() {
                return Err(interrupted());
            }
            for entry in &some {
                match &entry.content {
                    Content::Inline(_) => {}
                    Content::Chunks(_, pieces) => self.mark(ids(pieces), needed)?,
                    Content::Lists(_, lists) => {
                        self.mark(lists.iter().map(|list| list.list.id).collect(), needed)?;
                        for list in lists {
                            self.mark(ids(&self.listed(list)?), needed)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn mark(&self, ids: Vec<Id>, needed: &mut [bool]) -> fault::Result<()> {
        self.with_locations(|locations| {
            for id in ids {
                let spot = locations.find(&id).first().copied();
                if let Some(needed) = spot.and_then(|spot| needed.get_mut(spot.pack as usize)) {
                    *needed = true;
                }
            }
        })
    }

    /// Writes down anew what is in the packs that stay, and removes what said so before.
    fn list_anew(&self, plan: &Plan) -> fault::Result<()> {
        let gone: HashSet<[u8; 16]> = plan.packs.iter().map(|(name, _)| *name).collect();
        // What another writes meanwhile is not ours to remove.
        let before = lock(&self.listings).clone();
        let stays = self.with_locations(|locations| locations.rows_without(&gone))?;
        let ours = self.list(&stays)?;
        self.remove(&before.into_iter().filter(|key| !ours.contains(key)).collect::<Vec<_>>())
    }
}

fn ids(pieces: &[Piece]) -> Vec<Id> {
    pieces.iter().map(|piece| piece.id).collect()
}
