use std::sync::Arc;
use std::sync::atomic::Ordering;

use chunk::ChunkList;

use super::super::{Large, RANGE, call_others};
use super::{Holes, Moved, WINDOW, cut, data_in, keep};
use crate::job::{Job, Trouble, lock};

/// Has all workers cut the old copy, range by range, if its chunks are not known. Returns false where others are still at
/// it: the last of them calls again.
pub fn learn(job: &Job<'_>, large: &Arc<Large>, moved: &Moved) -> bool {
    if moved.list.get().is_some() {
        return true;
    }
    let ranges = moved.meta.size.div_ceil(RANGE);
    loop {
        let number = moved.next.fetch_add(1, Ordering::Relaxed);
        if number >= ranges {
            return moved.list.get().is_some();
        }
        if job.stopping() {
            large.give_up(Trouble::Stopped);
        }
        if !large.stopped.load(Ordering::Relaxed) {
            cut_range(job, large, moved, number);
        }
        if moved.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            learned(job, large, moved);
            call_others(job, large);
            return true;
        }
    }
}

fn cut_range(job: &Job<'_>, large: &Large, moved: &Moved, number: u64) {
    let (start, end) = (number * RANGE, moved.meta.size.min((number + 1) * RANGE));
    let again = || store::open_reading(large.pair.destination(job)?, &large.item.name);
    // What can't be read has no chunks: it comes from the source.
    let Ok(holes) = Holes::of(&moved.meta, start, end, again) else { return };
    let mut buffer = vec![0; WINDOW.min(end - start) as usize];
    let mut at = start;
    while at < end && !job.stopping() {
        let wanted = (end - at).min(WINDOW) as usize;
        if !holes.covers(at, at + wanted as u64) {
            let read = moved.read_old(&mut buffer[..wanted], at);
            for run in data_in(at, read, &holes) {
                let chunks = cut(moved.cutter, at + run.start as u64, &buffer[run]);
                lock(&moved.learned).extend(chunks);
            }
        }
        at += wanted as u64;
    }
}

/// All is cut: it is written down, so that a job that goes on after a kill need not read the old copy again.
fn learned(job: &Job<'_>, large: &Large, moved: &Moved) {
    let list = ChunkList::new(moved.cutter, std::mem::take(&mut *lock(&moved.learned)));
    if job.stopping() {
        large.give_up(Trouble::Stopped);
    } else if let Err(fault) = keep(job.state, &large.path(), &moved.meta, &list) {
        large.give_up(Trouble::Fatal(fault));
    }
    let _ = moved.list.set(list);
}
