//! What is in items: written and read whole, or in parts.

use record::OperationKind;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, pread, pwrite};
use units::Bytes;

use super::clock::now;
use super::entries::Walker;
use super::files;
use super::rank::damaged;
use crate::data::{Mismatch, mix};
use crate::sequence::Permutation;
use crate::workload::EntryOperation;

/// Items are numbered apart from data files: their contents never repeat those of a data file.
const ITEM_NUMBERS: u64 = 1 << 63;

impl Walker<'_> {
    fn number(&self, item: u64) -> u64 {
        ITEM_NUMBERS | u64::from(self.owner) << 40 | item
    }

    fn size_of(&self, item: u64, otherwise: Bytes) -> u64 {
        if self.tree.sizes.is_empty() {
            return otherwise.get();
        }
        let drawn = self.tree.size_of(self.context.workload.seed, self.owner, item);
        drawn.unwrap_or(otherwise).get()
    }

    /// The parts of a file that calls go to, offset and length. A creation writes all of them, in order.
    fn parts(&self, item: u64, size: u64) -> impl Iterator<Item = (u64, usize)> + use<> {
        let entries = self.entries;
        let create = entries.operation == EntryOperation::Create;
        let part = entries.transfer_size.map_or(size, Bytes::get).max(1);
        let count = size.div_ceil(part);
        let calls = if create { count } else { entries.calls.unwrap_or(count) };
        let scattered = entries.scattered && !create && count > 1;
        let shuffled =
            scattered.then(|| Permutation::new(count, mix(self.number(item) ^ mix(self.meter.operations))));
        (0..count.min(calls)).map(move |index| {
            let offset = shuffled.map_or(index, |order| order.at(index)) * part;
            (offset, part.min(size - offset) as usize)
        })
    }

    fn flags(&self, flags: OFlags) -> OFlags {
        let direct = if self.entries.direct { OFlags::DIRECT } else { OFlags::empty() };
        flags | direct | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }

    /// Opens a file, writes it and closes it. Generating data counts neither as the storage's time nor as latency, unless
    /// the operation has a time at which it was due.
    pub(super) fn write(&mut self, item: u64, flags: OFlags, started: &mut u64) -> rustix::io::Result<u64> {
        let size = self.size_of(item, self.entries.write_bytes);
        if size == 0 {
            let flags = self.flags(flags | OFlags::WRONLY);
            let file = openat(self.base(), self.item_path.as_c_str(), flags, self.ground.file_mode())?;
            self.sync_file(&file)?;
            return files::close(file).map(|()| 0);
        }
        let number = self.number(item);
        let mut parts = self.parts(item, size);
        let mut next = parts.next();
        if let Some((offset, length)) = next {
            self.generator.fill(number, offset, &mut self.buffer.part(0)[..length]);
            if self.pacer.is_none() {
                *started = now();
            }
        }
        let flags = self.flags(flags | OFlags::WRONLY);
        let file = openat(self.base(), self.item_path.as_c_str(), flags, self.ground.file_mode())?;
        let mut moved = 0;
        while let Some((offset, length)) = next {
            let part = &self.buffer.part(0)[..length];
            let mut done = 0;
            while done < length {
                done += match pwrite(&file, &part[done..], offset + done as u64)? {
                    0 => return Err(Errno::NOSPC),
                    count => count,
                };
            }
            moved += length as u64;
            next = parts.next();
            if let Some((offset, length)) = next {
                let before = now();
                self.generator.fill(number, offset, &mut self.buffer.part(0)[..length]);
                if self.pacer.is_none() {
                    *started += now() - before;
                }
            }
        }
        self.sync_file(&file)?;
        files::close(file)?;
        Ok(moved)
    }

    /// Opens a file, reads it and closes it. Comparing is not the storage's time.
    pub(super) fn read(&mut self, item: u64, started: &mut u64) -> rustix::io::Result<u64> {
        let size = self.size_of(item, self.entries.read_bytes);
        let flags = self.flags(OFlags::RDONLY);
        let file = openat(self.base(), self.item_path.as_c_str(), flags, Mode::empty())?;
        if size == 0 {
            return files::close(file).map(|()| 0);
        }
        let parts = self.parts(item, size);
        let mut moved = 0;
        for (offset, length) in parts {
            let part = &mut self.buffer.part(0)[..length];
            let mut done = 0;
            while done < length {
                done += match pread(&file, &mut part[done..], offset + done as u64)? {
                    // Shorter than it should be: data was lost.
                    0 => return Err(Errno::IO),
                    count => count,
                };
            }
            moved += length as u64;
            if self.entries.verify {
                let ended = now();
                self.compare(self.number(item), offset, length);
                if self.pacer.is_none() {
                    *started += now() - ended;
                }
            }
        }
        files::close(file)?;
        Ok(moved)
    }

    fn compare(&mut self, number: u64, offset: u64, length: usize) {
        self.scratch.resize(length, 0);
        self.verified.0 += length as u64;
        let part = &self.buffer.part(0)[..length];
        if let Err(bad) = self.generator.verify(number, offset, part, &mut self.scratch) {
            if self.verified.1 == 0 {
                self.report_mismatch(&bad);
            }
            self.verified.1 += bad.words;
        }
    }

    fn report_mismatch(&self, bad: &Mismatch) {
        self.context.failures.note(damaged(
            self.place.number,
            OperationKind::ReadFile,
            &self.item_path.text(),
            bad,
        ));
    }
}
