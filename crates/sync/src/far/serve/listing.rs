//! A listing as it travels: many entries in an item.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fault::{Fault, Kind};
use store::{FileSystem, Root, Stamp};

use super::super::words::{Listed, Wanted, Words};
use super::desk::{Answer, Desk};
use crate::filter::Filter;
use crate::job::lock;
use crate::objects::scan::{Ear, Found, Rules, walk};

/// Bytes of entries in one item.
const ITEM: usize = 64 << 10;
/// Threads that list.
const WORKERS: usize = 4;
/// How young a change may be to count as one that may have a younger twin, ns: a local kernel stamps times by its tick.
const TICK: i128 = 20_000_000;
/// The same where another host's clock stamps them, ns.
const CLOCKS: i128 = 2_000_000_000;

/// Lists a tree to whoever asked with this number.
pub fn list(root: &Root, wanted: &Wanted, (desk, number): (&Desk, u32)) -> fault::Result<Answer> {
    let filter = Filter::take(&wanted.filter)?;
    let rules = Rules {
        filtered: wanted.filtered,
        filter: &filter,
        special_files: wanted.special_files,
        cross_mounts: wanted.cross_mounts,
    };
    let local = FileSystem::of(root.fd()).is_ok_and(|system| system.is_local());
    let margin = if local { TICK } else { CLOCKS };
    let out = Out {
        desk,
        number,
        held: Mutex::default(),
        left_out: AtomicU64::new(0),
        gone: AtomicBool::new(false),
    };
    let unseen = walk(root, rules, (&out, WORKERS), &|mut found: Found| {
        found.known.racy = Stamp::now().as_nanos() - found.known.ctime.as_nanos() < margin;
        out.keep(&found)
    })?;
    out.flush(&mut lock(&out.held))?;
    out.tell(&Listed::LeftOut(out.left_out.load(Ordering::Relaxed)))?;
    unseen.into_iter().try_for_each(|dir| out.tell(&Listed::Unseen(dir)))?;
    Ok(Answer::default())
}

/// Gathers what a walk finds into items.
struct Out<'a> {
    desk: &'a Desk,
    number: u32,
    held: Mutex<Vec<u8>>,
    left_out: AtomicU64,
    gone: AtomicBool,
}

impl Out<'_> {
    fn keep(&self, found: &Found) -> fault::Result<()> {
        let mut held = lock(&self.held);
        found.put(&mut held);
        if held.len() >= ITEM { self.flush(&mut held) } else { Ok(()) }
    }

    fn flush(&self, held: &mut Vec<u8>) -> fault::Result<()> {
        if held.is_empty() {
            return Ok(());
        }
        self.tell(&Listed::Entries(std::mem::take(held)))
    }

    fn tell(&self, item: &Listed) -> fault::Result<()> {
        self.desk.item(self.number, item).map_err(|error| {
            self.gone.store(true, Ordering::Relaxed);
            Fault::new(Kind::Interrupted, "nobody takes the listing").caused_by(error)
        })
    }
}

impl Ear for Out<'_> {
    fn scanned(&self) {}

    fn left_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self, path: &[u8], fault: &Fault) {
        let _ = self.tell(&Listed::Failed(path.to_vec(), Words::of(fault)));
    }

    fn note(&self, text: &str) {
        let _ = self.tell(&Listed::Note(text.to_owned()));
    }

    fn stopping(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}
