//! Memory held while a test runs, so that less is left for the page cache (IOR -M).

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use fault::{Fault, Kind, Result};
use host::Memory;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use units::Bytes;

use crate::data::mix;
use crate::interrupt;
use crate::workload::HoldMemory;

/// The most of what is available that is taken: beyond it the kernel ends processes.
const MOST: f64 = 0.90;
const PAGE: usize = 4096;
/// Filled between two looks whether to stop.
const PIECE: usize = 64 << 20;

/// Memory that is ours until this is dropped; the kernel takes it back when the process ends in any other way.
#[derive(Debug)]
pub struct HeldMemory {
    start: NonNull<c_void>,
    length: usize,
    locked: bool,
}

impl HeldMemory {
    /// Takes the memory and fills it: pages that were never written, or are all equal, take none.
    pub fn hold(amount: HoldMemory, memory: &Memory) -> Result<Self> {
        let asked = match amount {
            HoldMemory::Size(size) => size,
            HoldMemory::Share(share) => Bytes::new((memory.cacheable().get() as f64 * share.get()) as u64),
        };
        // A cgroup's limit counts where there is one: beyond it, too, processes are ended.
        let cacheable = Some(memory.cacheable()).filter(|bytes| *bytes > Bytes::ZERO);
        let available = available()?.min(cacheable.unwrap_or(Bytes::new(u64::MAX)));
        if asked.get() as f64 > available.get() as f64 * MOST {
            return Err(Fault::new(
                Kind::Refused,
                format!("{asked} of memory are to be held, and {available} are available"),
            )
            .hint("hold less (`hold_memory`): beyond 90 % of it the kernel ends processes"));
        }
        let mut held = Self::map(asked)?;
        held.fill()?;
        // SAFETY: the mapping is ours, and stays until `drop`.
        held.locked = unsafe { mlock(held.start.as_ptr(), held.length) }.is_ok();
        Ok(held)
    }

    /// What the record says of it.
    pub fn told(&self) -> record::HeldMemory {
        record::HeldMemory { size_bytes: Bytes::new(self.length as u64), locked: self.locked }
    }

    fn map(size: Bytes) -> Result<Self> {
        let length = size.as_usize().next_multiple_of(PAGE);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh anonymous mapping overlaps nothing; we own it until `drop`.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags)
        };
        let start = start.ok().and_then(NonNull::new).ok_or_else(|| {
            Fault::new(Kind::NoSpace, format!("cannot reserve {size} of memory"))
                .hint("hold less (`hold_memory`)")
        })?;
        Ok(Self { start, length, locked: false })
    }

    /// A number of its own in every page: nothing merges them, nothing compresses them all to one.
    fn fill(&mut self) -> Result<()> {
        // SAFETY: the mapping has this length, is initialised (anonymous memory is zero), and is ours alone.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast::<u8>(), self.length) };
        for (piece, part) in bytes.chunks_mut(PIECE).enumerate() {
            if interrupt::requested().is_some() {
                return Err(Fault::new(Kind::Interrupted, "stopped before the first phase"));
            }
            for (page, bytes) in part.chunks_mut(PAGE).enumerate() {
                let number = (piece * (PIECE / PAGE) + page) as u64;
                bytes[..8].copy_from_slice(&mix(number).to_le_bytes());
            }
        }
        Ok(())
    }
}

impl fmt::Display for HeldMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = Bytes::new(self.length as u64);
        let how = if self.locked {
            "locked, so that it can't be swapped out"
        } else {
            "not locked (RLIMIT_MEMLOCK): swap may take it back"
        };
        write!(f, "{size} of memory are held while the test runs, {how}")
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody borrows from it any more.
        let _ = unsafe { munmap(self.start.as_ptr(), self.length) };
    }
}

/// Memory that can be had without swapping (MemAvailable).
fn available() -> Result<Bytes> {
    let unknown = || {
        Fault::new(Kind::Unsupported, "cannot tell how much memory is available (/proc/meminfo)")
            .hint("leave out `hold_memory`")
    };
    let text = std::fs::read_to_string("/proc/meminfo").map_err(|_| unknown())?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).ok_or_else(unknown)?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().map_err(|_| unknown())?;
    Ok(Bytes::kib(kib))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident() -> u64 {
        let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
    }

    #[test]
    fn memory_is_really_held_and_given_back() {
        let size = 512 << 20;
        let before = resident();
        let held = HeldMemory::hold(HoldMemory::Size(Bytes::new(size)), &Memory::default()).unwrap();
        let during = resident();
        assert!(held.to_string().starts_with("512 MiB of memory are held"), "{held}");
        drop(held);
        // Other tests of this process come and go meanwhile, with far less.
        assert!(during > before + size * 3 / 4, "{before} {during}");
        assert!(resident() < during - size * 3 / 4, "{during}");
    }

    #[test]
    fn more_than_there_is_is_refused() {
        let far_too_much = HoldMemory::Size(Bytes::tib(1 << 10));
        let fault = HeldMemory::hold(far_too_much, &Memory::default()).unwrap_err();
        assert!(fault.message().contains("are to be held"), "{fault:?}");
    }
}
