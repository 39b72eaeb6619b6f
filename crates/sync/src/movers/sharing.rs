//! Large files of a part, in which others help.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::queue::{Lease, Queue, Stretch};
use crate::job::lock;
use crate::large::{Share, Taken};

/// How long whoever has nothing left to do waits for others.
const PAUSE: Duration = Duration::from_millis(100);

/// What the threads of a mover have of large files. They take turns with the connection that renews leases.
pub struct Sharing<'a> {
    queue: Mutex<&'a mut dyn Queue>,
    held: &'a Lease,
    /// By a number of our own: the same stretch of another content is another.
    taken: Mutex<BTreeMap<u64, Stretch>>,
    count: AtomicU64,
}

impl<'a> Sharing<'a> {
    /// Of the part that is `held`.
    pub fn new(queue: &'a mut dyn Queue, held: &'a Lease) -> Self {
        Self { queue: Mutex::new(queue), held, taken: Mutex::default(), count: AtomicU64::new(0) }
    }

    /// Keeps the part, and what its threads have.
    pub fn extend(&self) -> fault::Result<bool> {
        let taken = lock(&self.taken).clone();
        let mut queue = lock(&self.queue);
        for stretch in taken.values() {
            // One that is lost, or done by now, is said when it is brought.
            queue.extend_stretch(stretch)?;
        }
        queue.extend(self.held)
    }

    /// Gives back what threads have that were stopped. Where that fails, their leases will be over.
    pub fn give_back(&self) {
        for stretch in std::mem::take(&mut *lock(&self.taken)).values() {
            let _ = lock(&self.queue).give_back_stretch(stretch, false);
        }
    }
}

impl Share for Sharing<'_> {
    fn open(&self, path: &[u8], head: &[u8], stretches: u64) -> fault::Result<()> {
        lock(&self.queue).open_file(self.held, path, head, stretches)
    }

    fn take(&self, path: &[u8]) -> fault::Result<Option<Taken>> {
        let Some(stretch) = lock(&self.queue).take_stretch(path)? else { return Ok(None) };
        let taken = Taken { number: stretch.number, claim: self.count.fetch_add(1, Ordering::Relaxed) };
        lock(&self.taken).insert(taken.claim, stretch);
        Ok(Some(taken))
    }

    fn done(&self, taken: &Taken, done: &[u8]) -> fault::Result<()> {
        let Some(stretch) = lock(&self.taken).remove(&taken.claim) else { return Ok(()) };
        // Where it was lost, somebody else does it.
        lock(&self.queue).commit_stretch(&stretch, done).map(drop)
    }

    fn finished(&self, path: &[u8], known: &BTreeSet<u64>) -> fault::Result<Vec<(u64, Vec<u8>)>> {
        let known: Vec<u64> = known.iter().copied().collect();
        lock(&self.queue).finished(path, &known)
    }

    fn wait(&self) {
        std::thread::sleep(PAUSE);
    }
}
