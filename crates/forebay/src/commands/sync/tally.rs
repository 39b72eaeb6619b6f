use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fleet::{Link as _, Node};
use sync::Counters;

/// What all ranks have counted so far, at the first one.
pub struct Tally<'a> {
    node: &'a Node,
    own: &'a Counters,
    whole: &'a Counters,
    /// What was added of each, as it last told.
    added: Mutex<BTreeMap<u32, [u64; 15]>>,
}

impl<'a> Tally<'a> {
    /// Adds up `own` and what the others tell in `whole`.
    pub fn new(node: &'a Node, own: &'a Counters, whole: &'a Counters) -> Self {
        Self { node, own, whole, added: Mutex::default() }
    }

    /// Tells the first rank, or hears the others.
    pub fn exchange(&self) {
        let own = self.own.numbers();
        if self.node.process() > 0 {
            return self.node.post(own.iter().flat_map(|number| number.to_le_bytes()).collect());
        }
        self.add(0, own);
        for (rank, bytes) in self.node.posts() {
            let numbers: Vec<u64> =
                bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
            if let Ok(numbers) = numbers.try_into() {
                self.add(rank, numbers);
            }
        }
    }

    fn add(&self, rank: u32, now: [u64; 15]) {
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let before = added.insert(rank, now).unwrap_or_default();
        self.whole.add_since(&before, &now);
    }
}
