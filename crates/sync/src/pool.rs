use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work for several threads. Small pieces go before those that make more of them, so that little waits at any time. Last come
/// calls for help with what another thread is at: threads that write to one file wait for each other, so each is better off
/// with one of its own.
#[derive(Debug)]
pub struct Pool<Small, Large> {
    state: Mutex<State<Small, Large>>,
    wake: Condvar,
}

#[derive(Debug)]
struct State<Small, Large> {
    small: Vec<Small>,
    large: Vec<Large>,
    calls: Vec<Small>,
    busy: usize,
    closed: bool,
}

/// What a thread takes.
#[derive(Debug)]
pub enum Piece<Small, Item> {
    /// A small piece.
    Small(Small),
    /// An item of a large one.
    Item(Item),
}

/// A piece of work of which items are taken one by one.
pub trait Divisible {
    /// What is taken.
    type Item;
    /// The next item; `None` when there is none left.
    fn take(&mut self) -> Option<Self::Item>;
}

impl<Small, Large: Divisible> Default for Pool<Small, Large> {
    fn default() -> Self {
        let state = State { small: Vec::new(), large: Vec::new(), calls: Vec::new(), busy: 0, closed: false };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }
}

impl<Small, Large: Divisible> Pool<Small, Large> {
    fn lock(&self) -> MutexGuard<'_, State<Small, Large>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a small piece, unless `most` of them wait already: then the caller gets it back to do it at once.
    pub fn offer(&self, piece: Small, most: usize) -> Option<Small> {
        let mut state = self.lock();
        if state.small.len() >= most {
            return Some(piece);
        }
        state.small.push(piece);
        drop(state);
        self.wake.notify_one();
        None
    }

    /// Calls for help: whoever has nothing else to do takes the piece. Returns false where `most` calls wait already.
    pub fn call(&self, piece: Small, most: usize) -> bool {
        let mut state = self.lock();
        if state.calls.len() >= most {
            return false;
        }
        state.calls.push(piece);
        drop(state);
        self.wake.notify_one();
        true
    }

    /// Takes back the calls that are not `wanted` any more.
    pub fn call_off(&self, wanted: impl Fn(&Small) -> bool) {
        let mut state = self.lock();
        let (kept, gone) = std::mem::take(&mut state.calls).into_iter().partition(wanted);
        state.calls = kept;
        drop(state);
        // What they hold may take its time to be closed.
        drop::<Vec<Small>>(gone);
    }

    /// Adds a large piece. The last added is worked on first, so that a tree is walked in depth.
    pub fn push(&self, piece: Large) {
        self.lock().large.push(piece);
        self.wake.notify_all();
    }

    /// No thread takes anything from here on.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.small.clear();
        state.large.clear();
        state.calls.clear();
        drop(state);
        self.wake.notify_all();
    }

    /// The next piece of work; `None` when all is done. Every piece that was taken must be followed by [`Pool::done`].
    pub fn take(&self) -> Option<Piece<Small, Large::Item>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(piece) = state.next() {
                state.busy += 1;
                return Some(piece);
            }
            if state.busy == 0 {
                drop(state);
                self.wake.notify_all();
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A piece is done.
    pub fn done(&self) {
        let mut state = self.lock();
        state.busy -= 1;
        if state.busy == 0 && state.small.is_empty() && state.large.is_empty() && state.calls.is_empty() {
            drop(state);
            self.wake.notify_all();
        }
    }
}

impl<Small, Large: Divisible> State<Small, Large> {
    fn next(&mut self) -> Option<Piece<Small, Large::Item>> {
        if let Some(piece) = self.small.pop() {
            return Some(Piece::Small(piece));
        }
        while let Some(large) = self.large.last_mut() {
            if let Some(item) = large.take() {
                return Some(Piece::Item(item));
            }
            self.large.pop();
        }
        self.calls.pop().map(Piece::Small)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Numbers(u32);

    impl Divisible for Numbers {
        type Item = u32;
        fn take(&mut self) -> Option<u32> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
    }

    #[test]
    fn calls_for_help_come_last_and_can_be_called_off() {
        let pool = Pool::<u32, Numbers>::default();
        assert!(pool.call(7, 2) && pool.call(8, 2) && !pool.call(9, 2), "two calls may wait");
        pool.push(Numbers(1));
        assert!(pool.offer(1, 1).is_none());
        assert!(matches!(pool.take(), Some(Piece::Small(1))));
        assert!(matches!(pool.take(), Some(Piece::Item(0))));
        pool.call_off(|number| *number != 8);
        assert!(matches!(pool.take(), Some(Piece::Small(7))));
        (0..3).for_each(|_| pool.done());
        assert!(pool.take().is_none());
    }

    #[test]
    fn all_work_is_done_once_and_threads_end() {
        let (pool, sum) = (Pool::<u32, Numbers>::default(), AtomicUsize::new(0));
        pool.push(Numbers(5));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(piece) = pool.take() {
                        match piece {
                            Piece::Small(_) => drop(sum.fetch_add(1, Ordering::Relaxed)),
                            Piece::Item(0) => {}
                            Piece::Item(number) => {
                                pool.push(Numbers(number));
                                if pool.offer(number, 2).is_some() {
                                    sum.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        }
                        pool.done();
                    }
                });
            }
        });
        // Every number above zero of the tree 5 -> 4..0 -> ... : 2^4 - 1 nodes, each with one small piece.
        assert_eq!(sum.into_inner(), 15);
    }
}
