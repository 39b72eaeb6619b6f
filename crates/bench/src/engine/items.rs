//! Operations on items, one after the other.

use record::{OperationKind, StopCause};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, fsync, mkdirat, mknodat, openat,
    renameat, statat, unlinkat, utimensat,
};
use rustix::io::Errno;

use super::clock::{now, sleep_until};
use super::entries::{POLL_NS, Walker};
use super::files;
use super::flow::CATCH_UP_NS;
use super::pool::{Claim, Nothing};
use super::turn::Turn;
use crate::data::mix;
use crate::sequence::Permutation;
use crate::workload::{EntryOperation, Item, Order};

impl Walker<'_> {
    /// Does what is asked for to the items that are this rank's to do.
    pub(super) fn visit_items(&mut self) -> rustix::io::Result<StopCause> {
        if self.chooser.is_some() {
            return self.visit_selected();
        }
        let once = matches!(self.entries.operation, EntryOperation::Rename | EntryOperation::Remove);
        let for_all = self.entries.first_rank_only;
        if (for_all || self.tree.shared_items && once) && self.place.in_job > 0 {
            return Ok(StopCause::Bytes);
        }
        if !for_all || self.tree.shared_items {
            return self.visit_own();
        }
        while self.on_behalf < self.place.size {
            self.change_owner(self.on_behalf);
            let cause = self.visit_own()?;
            if cause != StopCause::Bytes || self.meter.operations >= self.limit {
                return Ok(cause);
            }
            self.on_behalf += 1;
            self.position = 0;
        }
        Ok(StopCause::Bytes)
    }

    /// The items of one owner.
    fn visit_own(&mut self) -> rustix::io::Result<StopCause> {
        let operation = self.entries.operation;
        let create = operation == EntryOperation::Create;
        // A creation that was stopped left fewer items than planned. Where items are taken one by one, they are looked at
        // one by one.
        let made = self.context.shares[self.owner as usize].items();
        let all = create || made == 0 || self.context.pool.is_some();
        let items = self.entries.used(if all { self.tree.items } else { made });
        let again = self.context.phase.stop.repeat && operation.keeps();
        let permutation = Permutation::new(items, mix(self.context.workload.seed ^ u64::from(self.owner)));
        let mut started = now();
        let mut check_at = started + POLL_NS;
        loop {
            if self.meter.operations >= self.limit {
                break;
            }
            if self.position >= items {
                if !again {
                    break;
                }
                self.position = 0;
                if let Some(cause) = self.look_up(now()) {
                    return Ok(cause);
                }
            }
            let item = match self.entries.order {
                Order::RandomOnce if !create => permutation.at(self.position),
                _ => self.position,
            };
            if !self.take_own(item) {
                self.position += 1;
                continue;
            }
            if let Err(cause) = self.admit(&mut started) {
                self.give_back_own(item, false);
                self.remember();
                return Ok(cause);
            }
            let result = self.operate(item, &mut started);
            self.give_back_own(item, result.is_ok());
            let bytes = result?;
            self.position += 1;
            let ended = now();
            self.meter.record(0, ended.saturating_sub(started), bytes);
            started = ended;
            if ended >= check_at.min(self.deadline).min(self.meter.interval_end()) {
                if let Some(cause) = self.look_up(ended) {
                    self.remember();
                    return Ok(cause);
                }
                started = now();
                check_at = started + POLL_NS;
            }
        }
        self.remember();
        Ok(StopCause::Bytes)
    }

    /// Whether an item of one's own is there to work on; asked only where ranks take items from each other.
    #[inline]
    fn take_own(&self, item: u64) -> bool {
        let Some(pool) = self.context.pool else { return true };
        loop {
            match pool.claim(self.entries.operation, self.owner, item) {
                Claim::Ours => return true,
                Claim::Unfit => return false,
                Claim::Busy => sleep_until(now() + CATCH_UP_NS),
            }
        }
    }

    #[inline]
    fn give_back_own(&self, item: u64, done: bool) {
        if let Some(pool) = self.context.pool {
            pool.release(self.entries.operation, self.owner, item, done);
        }
    }

    /// Items of all ranks, as they are selected.
    fn visit_selected(&mut self) -> rustix::io::Result<StopCause> {
        let mut started = now();
        let mut check_at = started + POLL_NS;
        while self.meter.operations < self.limit {
            if let Err(cause) = self.admit(&mut started) {
                return Ok(cause);
            }
            let taken = match self.take() {
                Ok(taken) => taken,
                Err(cause) => return Ok(cause),
            };
            if self.pacer.is_none() {
                started = now();
            }
            self.change_owner(taken.0);
            let result = self.operate(taken.1, &mut started);
            if let Some(chooser) = &self.chooser {
                chooser.give_back(taken, result.is_ok());
            }
            let bytes = result?;
            let ended = now();
            self.meter.record(0, ended.saturating_sub(started), bytes);
            if ended >= check_at.min(self.deadline).min(self.meter.interval_end()) {
                if let Some(cause) = self.look_up(ended) {
                    return Ok(cause);
                }
                check_at = now() + POLL_NS;
            }
        }
        Ok(StopCause::Bytes)
    }

    /// Takes an item; waits while others have them all.
    fn take(&mut self) -> Result<(u32, u64), StopCause> {
        loop {
            let Some(chooser) = &mut self.chooser else { return Err(StopCause::Bytes) };
            match chooser.take() {
                Ok(taken) => return Ok(taken),
                Err(Nothing::Left) => return Err(StopCause::Bytes),
                Err(Nothing::Now) => sleep_until(now() + CATCH_UP_NS),
            }
            if let Some(cause) = self.look_up(now()) {
                return Err(cause);
            }
        }
    }

    /// Waits until the next operation may start, where a rate or a skew holds it back.
    #[inline]
    fn admit(&mut self, started: &mut u64) -> Result<(), StopCause> {
        if self.pacer.is_none() && self.turn.is_none() { Ok(()) } else { self.hold_back(started) }
    }

    fn hold_back(&mut self, started: &mut u64) -> Result<(), StopCause> {
        loop {
            let current = now();
            if let Some(cause) = self.look_up(current) {
                return Err(cause);
            }
            let until = match (&mut self.pacer, &mut self.turn) {
                (Some(pacer), _) if pacer.due() <= current => {
                    *started = pacer.due();
                    pacer.advance();
                    return Ok(());
                }
                (Some(pacer), _) => pacer.due(),
                (None, turn) => {
                    if turn.as_mut().is_none_or(Turn::take) {
                        *started = current;
                        return Ok(());
                    }
                    current + CATCH_UP_NS
                }
            };
            sleep_until(until.min(self.deadline).min(self.meter.interval_end()).min(current + POLL_NS));
        }
    }

    fn change_owner(&mut self, owner: u32) {
        if owner != self.owner {
            self.owner = owner;
            self.ground = self.context.grounds.of(owner);
            self.renamed = self.context.shares[owner as usize].renamed();
        }
    }

    /// What the phases that follow must know of these items.
    fn remember(&self) {
        let share = &self.context.shares[self.owner as usize];
        match self.entries.operation {
            EntryOperation::Create if self.tree.shared_items => share.remember_at_least(self.position),
            EntryOperation::Create => share.remember_items(self.position),
            // Made again, there may be fewer.
            EntryOperation::Remove if self.tree.shared_items => share.remember_items(0),
            EntryOperation::Rename => share.remember_rename(),
            _ => {}
        }
    }

    /// One operation on one item; returns the bytes it moved.
    fn operate(&mut self, item: u64, started: &mut u64) -> rustix::io::Result<u64> {
        self.locate(item)?;
        let path = self.item_path.as_c_str();
        match (self.entries.operation, self.entries.item) {
            (EntryOperation::Create, Item::Directory) => {
                mkdirat(self.base(), path, self.ground.directory_mode())?;
            }
            (EntryOperation::Create, Item::Node) => {
                match mknodat(self.base(), path, FileType::RegularFile, self.ground.file_mode(), 0) {
                    Err(Errno::EXIST) if self.tree.shared_items => {}
                    made => made?,
                }
            }
            (EntryOperation::Create, Item::File) => {
                let exclusive = if self.tree.shared_items { OFlags::empty() } else { OFlags::EXCL };
                return self.write(item, OFlags::CREATE | exclusive, started);
            }
            (EntryOperation::Write, _) if self.entries.anew => {
                unlinkat(self.base(), path, AtFlags::empty())?;
                return self.write(item, OFlags::CREATE | OFlags::EXCL, started);
            }
            (EntryOperation::Write, _) => return self.write(item, OFlags::empty(), started),
            (EntryOperation::SetAttributes, _) => {
                let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
                let times = Timestamps { last_access: now, last_modification: now };
                utimensat(self.base(), path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            (EntryOperation::Stat, _) => {
                std::hint::black_box(statat(self.base(), path, AtFlags::SYMLINK_NOFOLLOW)?);
            }
            (EntryOperation::Open, _) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                files::close(openat(self.base(), path, flags, Mode::empty())?)?;
            }
            (EntryOperation::Read, _) => return self.read(item, started),
            (EntryOperation::Rename, _) => {
                renameat(self.base(), path, self.base(), self.other.as_c_str())?;
            }
            (EntryOperation::Remove, Item::Directory) => unlinkat(self.base(), path, AtFlags::REMOVEDIR)?,
            (EntryOperation::Remove, _) => unlinkat(self.base(), path, AtFlags::empty())?,
            (
                EntryOperation::MakeTree
                | EntryOperation::RemoveTree
                | EntryOperation::Find
                | EntryOperation::Mark,
                _,
            ) => {}
        }
        Ok(0)
    }

    /// Makes what was written to `file` durable, if it is to be.
    pub(super) fn sync_file(&mut self, file: &impl std::os::fd::AsFd) -> rustix::io::Result<()> {
        if self.entries.fsync {
            let before = now();
            fsync(file)?;
            let index = self.meter.index(OperationKind::Fsync);
            self.meter.record_side(index, now() - before);
        }
        Ok(())
    }
}
