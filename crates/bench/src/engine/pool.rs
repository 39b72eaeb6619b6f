//! Items that ranks take from each other: which are there, and which are in use.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use fleet::Block;

use super::clock::now;
use crate::workload::{EntryOperation, Selection, Tree};

/// Not there.
const MISSING: u8 = 0;
/// There, and nobody uses it. Each who looks at it adds one.
const FREE: u8 = 1;
/// As many as can look at it at one time.
const FULL: u8 = u8::MAX - 1;
/// Somebody makes, changes or removes it.
const TAKEN: u8 = u8::MAX;

/// The items of a process's ranks in a repetition, owner by owner. Those of other processes are theirs to take.
#[derive(Debug)]
pub struct Pool {
    first_owner: u32,
    states: Vec<AtomicU8>,
    per_owner: u64,
    /// Items that the ranks of each job have come to, where each is taken once.
    cursors: Vec<AtomicU64>,
}

/// What became of an attempt to take an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is ours until it is given back.
    Ours,
    /// Somebody else uses it.
    Busy,
    /// It is not there, or there already.
    Unfit,
}

impl Pool {
    /// A pool without items, for the trees of `owners`.
    pub fn new(tree: &Tree, owners: Block) -> Self {
        let count = tree.items * u64::from(owners.count);
        Self {
            first_owner: owners.first,
            states: (0..count).map(|_| AtomicU8::new(MISSING)).collect(),
            per_owner: tree.items,
            cursors: Vec::new(),
        }
    }

    /// The ranks of this process whose items lie in one of `targets` of `all` targets; in any where none is named.
    pub fn owners(&self, targets: &[u32], all: usize) -> Vec<u32> {
        let count = (self.states.len() as u64).checked_div(self.per_owner).unwrap_or(0) as u32;
        let is_in = |owner: &u32| targets.is_empty() || targets.contains(&(owner % all.max(1) as u32));
        (self.first_owner..self.first_owner + count).filter(is_in).collect()
    }

    /// Before a phase of so many jobs.
    pub fn begin(&mut self, jobs: usize) {
        self.cursors = (0..jobs).map(|_| AtomicU64::new(0)).collect();
    }

    fn state(&self, owner: u32, item: u64) -> &AtomicU8 {
        &self.states[(u64::from(owner - self.first_owner) * self.per_owner + item) as usize]
    }

    /// Whether `operation` can be done to an item now.
    pub fn suits(&self, operation: EntryOperation, owner: u32, item: u64) -> bool {
        let there = self.state(owner, item).load(Ordering::Acquire) != MISSING;
        there == (operation != EntryOperation::Create)
    }

    /// Tries to take an item for `operation`.
    pub fn claim(&self, operation: EntryOperation, owner: u32, item: u64) -> Claim {
        let state = self.state(owner, item);
        let current = state.load(Ordering::Relaxed);
        let create = operation == EntryOperation::Create;
        let wanted = match current {
            TAKEN => return Claim::Busy,
            _ if create != (current == MISSING) => return Claim::Unfit,
            MISSING => TAKEN,
            FREE if changes(operation) => TAKEN,
            _ if changes(operation) || current == FULL => return Claim::Busy,
            _ => current + 1,
        };
        match state.compare_exchange(current, wanted, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Claim::Ours,
            Err(_) => Claim::Busy,
        }
    }

    /// Gives back an item that was taken for `operation`, which was `done` or failed.
    pub fn release(&self, operation: EntryOperation, owner: u32, item: u64, done: bool) {
        let state = self.state(owner, item);
        if !changes(operation) {
            state.fetch_sub(1, Ordering::Release);
            return;
        }
        let gone = match operation {
            EntryOperation::Create => !done,
            EntryOperation::Remove => done,
            _ => false,
        };
        state.store(if gone { MISSING } else { FREE }, Ordering::Release);
    }
}

fn changes(operation: EntryOperation) -> bool {
    use EntryOperation::{Create, Remove, Rename, Write};
    matches!(operation, Create | Write | Rename | Remove)
}

/// One rank's way through a pool.
#[derive(Debug)]
pub struct Chooser<'a> {
    pool: &'a Pool,
    operation: EntryOperation,
    select: Selection,
    job: usize,
    /// Whose items they are.
    owners: Vec<u32>,
    /// Items of each owner that are used.
    used: u64,
    /// All that are used.
    all: u64,
    at: u64,
    random: fastrand::Rng,
}

impl<'a> Chooser<'a> {
    /// Through the first `used` items of each of `owners`, who are of this process, for rank `in_job` of the `job_size` ranks of job number `job`.
    pub fn new(
        pool: &'a Pool,
        (operation, select): (EntryOperation, Selection),
        (used, owners): (u64, Vec<u32>),
        (job, in_job, job_size): (usize, u32, u32),
        seed: u64,
    ) -> Self {
        let all = used * owners.len() as u64;
        let at = all * u64::from(in_job) / u64::from(job_size.max(1));
        Self { pool, operation, select, job, owners, used, all, at, random: fastrand::Rng::with_seed(seed) }
    }

    /// Takes an item: whose it is, and its number. `Err` when there is none: for ever, or only now.
    pub fn take(&mut self) -> Result<(u32, u64), Nothing> {
        if self.select == Selection::Once {
            return self.take_once();
        }
        let first = match self.select {
            Selection::Random => self.random.u64(0..self.all),
            Selection::Skewed(mean) => self.skewed(mean.get()),
            _ => self.at,
        };
        for step in 0..self.all {
            let place = (first + step) % self.all;
            let (owner, item) = self.item(place);
            if self.pool.claim(self.operation, owner, item) == Claim::Ours {
                self.at = place + 1;
                return Ok((owner, item));
            }
        }
        Err(Nothing::Now)
    }

    fn take_once(&mut self) -> Result<(u32, u64), Nothing> {
        loop {
            let place = self.pool.cursors[self.job].fetch_add(1, Ordering::Relaxed);
            if place >= self.all {
                return Err(Nothing::Left);
            }
            let (owner, item) = self.item(place);
            loop {
                match self.pool.claim(self.operation, owner, item) {
                    Claim::Ours => return Ok((owner, item)),
                    Claim::Unfit => break,
                    Claim::Busy => super::clock::sleep_until(now() + 10_000),
                }
            }
        }
    }

    /// Gives back what was taken.
    pub fn give_back(&self, (owner, item): (u32, u64), done: bool) {
        self.pool.release(self.operation, owner, item, done);
    }

    /// The items of all owners in turn: the first ones of each lie near each other.
    fn item(&self, place: u64) -> (u32, u64) {
        (self.owners[(place / self.used) as usize], place % self.used)
    }

    /// Exponentially distributed, drawn again where it lies beyond the end.
    fn skewed(&mut self, mean: f64) -> u64 {
        loop {
            let share = -(1.0 - self.random.f64()).ln() * mean;
            if share < 1.0 {
                return ((share * self.all as f64) as u64).min(self.all - 1);
            }
        }
    }
}

/// Why no item could be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// Others use them, or must make or remove some first.
    Now,
    /// All have been taken.
    Left,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_look_and_one_changes() {
        use EntryOperation::{Create, Remove, Stat, Write};
        let tree = Tree { items: 2, ..Tree::default() };
        let pool = Pool::new(&tree, Block::whole(2));
        assert_eq!(pool.claim(Stat, 1, 1), Claim::Unfit);
        assert_eq!((pool.claim(Create, 1, 1), pool.claim(Create, 1, 1)), (Claim::Ours, Claim::Busy));
        pool.release(Create, 1, 1, true);
        assert_eq!((pool.claim(Stat, 1, 1), pool.claim(Stat, 1, 1)), (Claim::Ours, Claim::Ours));
        assert_eq!((pool.claim(Write, 1, 1), pool.claim(Create, 1, 1)), (Claim::Busy, Claim::Unfit));
        pool.release(Stat, 1, 1, true);
        assert_eq!(pool.claim(Remove, 1, 1), Claim::Busy);
        pool.release(Stat, 1, 1, true);
        assert_eq!((pool.claim(Remove, 1, 1), pool.claim(Stat, 1, 1)), (Claim::Ours, Claim::Busy));
        pool.release(Remove, 1, 1, false);
        assert!(pool.suits(Stat, 1, 1) && !pool.suits(Stat, 0, 1), "a removal that failed removed nothing");
    }

    #[test]
    fn the_first_items_are_taken_more_often_the_stronger_the_skew() {
        let tree = Tree { items: 1000, ..Tree::default() };
        let mut pool = Pool::new(&tree, Block::whole(1));
        pool.begin(1);
        (0..1000).for_each(|item| {
            pool.claim(EntryOperation::Create, 0, item);
            pool.release(EntryOperation::Create, 0, item, true);
        });
        let low = |select| {
            let mut chooser =
                Chooser::new(&pool, (EntryOperation::Stat, select), (1000, vec![0]), (0, 0, 1), 3);
            let taken = (0..4000).map(|_| {
                let item = chooser.take().unwrap();
                chooser.give_back(item, true);
                item.1
            });
            taken.filter(|item| *item < 100).count()
        };
        let mean = units::Ratio::percent(10.0);
        let (even, skewed) = (low(Selection::Random), low(Selection::Skewed(mean)));
        assert!((300..500).contains(&even), "a tenth: {even}");
        assert!((2300..2750).contains(&skewed), "1 - 1/e: {skewed}");
        assert_eq!(low(Selection::Next), 400, "four rounds");
        assert_eq!(
            Chooser::new(&pool, (EntryOperation::Create, Selection::Random), (1000, vec![0]), (0, 0, 1), 3)
                .take(),
            Err(Nothing::Now)
        );
    }
}
