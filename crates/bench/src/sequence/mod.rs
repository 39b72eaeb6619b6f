//! The order in which a rank visits its share: which file, which offset, how many bytes, one step at a time and
//! without keeping a list.

mod permutation;

use units::Bytes;

use crate::data::mix;
use crate::workload::{FileSet, Layout, Order, Transfer, TransferSize, WeightedSize};

pub use permutation::Permutation;

/// Draws where an order with a random start begins.
const START: u64 = 1 << 60;

/// One transfer to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Which of the rank's open files.
    pub slot: u32,
    /// Offset in the file.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

/// How a rank's positions map to files and offsets.
#[derive(Debug, Clone, Copy)]
struct Map {
    unit: u64,
    /// Bytes from one block of the rank to its next (shared); 0 when the file is the rank's own.
    shared_round: u64,
    /// Bytes before the rank's first block (shared).
    shared_start: u64,
    /// Positions skipped at the start of each stretch, and those used (the range).
    first: u64,
    used: u64,
    /// Positions of a stretch: a range may go over its end to its beginning.
    stretch: u64,
    /// Bytes that all of it lies further.
    offset: u64,
}

/// Walks a rank's share of a transfer.
#[derive(Debug, Clone)]
pub struct Sequence {
    map: Map,
    order: Order,
    sizes: TransferSize,
    random: fastrand::Rng,
    permutation: Permutation,
    owner_seed: u64,
    /// Positions of the share.
    share: u64,
    /// Positions to visit: all of the share, unless a stopped write left less.
    count: u64,
    /// Added to the index before it is permuted: the rank's part of a file that all share.
    base: u64,
    /// Positions from one of the rank's to its next, where ranks take turns in a stream.
    pace: u64,
    /// Positions of the hit area at the start of the share; 0 without.
    hits: u64,
    /// Where an order with a random start begins.
    start: u64,
    next: u64,
    cursor: u64,
    whole_file: bool,
    /// Of orders that go by blocks.
    blocks: Blocks,
}

/// Orders that shuffle inside blocks: what is shuffled together is a block of the rank, or those of a segment of a file that
/// all ranks share.
#[derive(Debug, Clone, Default)]
struct Blocks {
    /// Positions that are shuffled together; 0 with other orders.
    period: u64,
    /// The rank's positions of them.
    own: u64,
    /// Which these are, where they were drawn.
    drawn: Option<Box<[u64]>>,
}

impl Blocks {
    fn new(order: Order, block: u64, whole_file: bool, (owner, ranks): (u32, u32), seed: u64) -> Self {
        let period = if whole_file { block * u64::from(ranks) } else { block };
        match order {
            Order::RandomInBlocks => Self { period, own: block, drawn: None },
            Order::RandomDrawn if !whole_file => Self { period, own: block, drawn: None },
            Order::RandomDrawn => {
                let is_own =
                    |position: &u64| mix(seed ^ mix(*position)) % u64::from(ranks) == u64::from(owner);
                let drawn: Box<[u64]> = (0..period).filter(is_own).collect();
                Self { period, own: drawn.len() as u64, drawn: Some(drawn) }
            }
            _ => Self::default(),
        }
    }

    /// Number of positions that the permutation is of.
    fn shuffled(&self) -> u64 {
        if self.drawn.is_some() { self.own } else { self.period }
    }
}

impl Sequence {
    /// The share of rank `owner` of `ranks`. Equal seeds give equal orders.
    pub fn new(files: &FileSet, transfer: &Transfer, owner: u32, ranks: u32, seed: u64) -> Self {
        let unit = transfer.transfer_size.unit().get().max(1);
        let block = files.block_of(owner).get();
        let shared = files.layout == Layout::Shared;
        let whole_file = transfer.roams(files.layout);
        let file_positions = files.segments * block / unit;
        let stretch = match (shared, whole_file) {
            (false, _) => file_positions,
            (true, true) => file_positions * u64::from(ranks),
            (true, false) => block / unit,
        };
        let (first, used) = range(stretch, transfer);
        let offset = transfer.offset.map_or(0, Bytes::get);
        // What is moved further must not go over the end.
        let used = if offset == 0 {
            used
        } else {
            used.min((stretch - first).saturating_sub(offset.div_ceil(unit)).max(1))
        };
        let stretches = match (shared, whole_file) {
            (false, _) => u64::from(files.files_per_rank),
            (true, true) => 1,
            (true, false) => files.segments,
        };
        let share = used * stretches;
        let (base, count, pace) = match transfer.order {
            _ if !whole_file => (0, share, 1),
            Order::Streams(streams) => part_of_stream(share, owner, ranks, streams),
            _ => {
                let (base, count) = part_of(share, owner, ranks);
                (base, count, 1)
            }
        };
        let map = Map {
            unit,
            shared_round: if shared && !whole_file { block * u64::from(ranks) } else { 0 },
            shared_start: if shared && !whole_file { block * u64::from(owner) } else { 0 },
            first,
            used,
            stretch,
            offset,
        };
        let hits = if transfer.has_hits() { transfer.hit_area.get() / unit } else { 0 };
        let owner_seed = if whole_file { mix(seed) } else { mix(seed ^ mix(u64::from(owner))) };
        let blocks = Blocks::new(transfer.order, block / unit, whole_file, (owner, ranks), seed);
        let (base, count) = match blocks.period {
            0 => (base, count),
            period => {
                (if whole_file { u64::from(owner) * blocks.own } else { 0 }, share / period * blocks.own)
            }
        };
        let shuffled = if blocks.period > 0 { blocks.shuffled() } else { share };
        Self {
            map,
            order: transfer.order,
            sizes: transfer.transfer_size.clone(),
            random: fastrand::Rng::with_seed(mix(seed ^ mix(u64::from(owner) << 32))),
            permutation: Permutation::new(shuffled, owner_seed),
            owner_seed,
            share: count,
            count,
            base,
            pace,
            hits,
            start: if count > 1 { 1 + mix(owner_seed ^ START) % (count - 1) } else { 0 },
            next: 0,
            cursor: base.max(hits),
            whole_file,
            blocks,
        }
    }

    /// Positions (of the smallest transfer size) in the share.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Keeps to what a stopped write left to read: the first `bytes` of the share when it wrote `in_order`, else what
    /// this same walk comes to first.
    pub fn keep_to(&mut self, bytes: Bytes, in_order: bool) {
        self.count = self.share.min(bytes.get() / self.map.unit);
        if in_order && !self.whole_file {
            self.share = self.count;
            self.permutation = Permutation::new(self.share, self.owner_seed);
        }
    }

    /// Bytes of the share.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.count * self.map.unit)
    }

    /// Starts the share again; random orders go on drawing.
    pub fn rewind(&mut self) {
        self.next = 0;
        self.cursor = self.base.max(self.hits);
    }

    /// The next transfer; `None` at the end of the share.
    #[inline]
    pub fn step(&mut self) -> Option<Step> {
        if self.next >= self.count {
            return None;
        }
        let drawn = match &self.sizes {
            TransferSize::Fixed(_) => 1,
            _ => self.draw_units(),
        };
        let (position, units) = match self.order {
            Order::Sequential => (self.next, self.inside(self.next, drawn)),
            Order::Random => {
                let position = self.draw_position(drawn);
                (position, self.inside(position, drawn))
            }
            _ => self.visit(drawn),
        };
        self.next += units;
        Some(self.place(position, units * self.map.unit))
    }

    /// Where the next transfer of any order goes. Apart from the two that do the least, so that these stay short.
    #[inline(never)]
    fn visit(&mut self, drawn: u64) -> (u64, u64) {
        match self.order {
            Order::Sequential => (self.next, self.inside(self.next, drawn)),
            Order::Reverse => self.reversed(drawn),
            Order::RandomStart => {
                let position = (self.start + self.next) % self.share;
                (position, self.inside(position, drawn))
            }
            // Sizes that differ are refused with these two: they would meet some bytes twice and others never.
            Order::RandomOnce => (self.permutation.at(self.next + self.base), 1),
            Order::RandomInBlocks | Order::RandomDrawn => (self.in_blocks(), 1),
            Order::RandomRuns(length) => self.run(length.max(1), drawn),
            Order::Stride(stride) => (self.strided(self.next, stride), 1),
            Order::Streams(_) if self.whole_file => (self.base + self.next * self.pace, 1),
            // One of every stream in turn.
            Order::Streams(streams) => {
                (self.strided(self.next, self.share.div_ceil(u64::from(streams)).max(1)), 1)
            }
            Order::Random => {
                let position = self.draw_position(drawn);
                (position, self.inside(position, drawn))
            }
            Order::SeekPercent(percent) => self.seek(percent, drawn),
            Order::Skip { percent, smallest, largest } => {
                self.skip(percent, smallest, largest, drawn);
                self.at_cursor(drawn)
            }
        }
    }

    /// The next transfer, somewhere in the hit area; `None` at the end of the share.
    pub fn step_in_hits(&mut self) -> Option<Step> {
        if self.next >= self.count {
            return None;
        }
        let area = self.hits.clamp(1, self.space());
        let units = self.draw_units().min(area);
        let position = self.random.u64(0..area / units) * units;
        let units = self.inside(position, units);
        self.next += units;
        Some(self.place(position, units * self.map.unit))
    }

    /// A transfer's size in units; the last of the share may not reach beyond it.
    #[inline(never)]
    fn draw_units(&mut self) -> u64 {
        let length = match &self.sizes {
            TransferSize::Fixed(size) => *size,
            TransferSize::Weighted(sizes) => draw_weighted(sizes, &mut self.random),
            TransferSize::Range { smallest, largest, step } => {
                let steps = largest.saturating_sub(*smallest).get() / step.get();
                *smallest + *step * self.random.u64(0..=steps)
            }
        };
        (length.get() / self.map.unit).clamp(1, self.count - self.next)
    }

    /// As much of a transfer as crosses neither the end of the stretch it begins in nor that of what there is to read.
    #[inline]
    fn inside(&self, position: u64, units: u64) -> u64 {
        if units == 1 {
            1
        } else {
            units.min(self.map.left(position % self.map.used)).min(self.space() - position)
        }
    }

    /// From the end of the share towards its start.
    fn reversed(&self, units: u64) -> (u64, u64) {
        let end = self.share - self.next;
        let units = units.min(self.map.behind((end - 1) % self.map.used + 1));
        (end - units, units)
    }

    #[inline]
    fn draw_position(&mut self, units: u64) -> u64 {
        let space = self.space();
        // A stopped write may have left less than the hit area.
        let first = if self.hits < space { self.hits } else { 0 };
        if units == 1 {
            self.random.u64(first..space)
        } else {
            first + self.random.u64(0..((space - first) / units).max(1)) * units
        }
    }

    /// Positions that a random draw may land on.
    #[inline]
    fn space(&self) -> u64 {
        if self.whole_file { self.map.used } else { self.share }
    }

    /// The next of the rank's positions in the block that it is in.
    fn in_blocks(&self) -> u64 {
        let (block, index) = (self.next / self.blocks.own, self.next % self.blocks.own);
        let within = match &self.blocks.drawn {
            Some(drawn) => drawn[self.permutation.at(index) as usize],
            None => self.permutation.at(self.base + index),
        };
        block * self.blocks.period + within
    }

    /// On from the last transfer, or from a new offset when a run has ended.
    fn run(&mut self, length: u64, units: u64) -> (u64, u64) {
        if self.next.is_multiple_of(length) || self.cursor >= self.space() {
            self.cursor = self.random.u64(0..(self.space() / length).max(1)) * length;
        }
        self.at_cursor(units)
    }

    fn seek(&mut self, percent: f64, units: u64) -> (u64, u64) {
        if self.random.f64() * 100.0 < percent || self.cursor >= self.space() {
            self.cursor = self.draw_position(units);
        }
        self.at_cursor(units)
    }

    /// Moves the cursor on by a multiple of a transfer of `units`, now and then.
    fn skip(&mut self, percent: f64, smallest: Bytes, largest: Bytes, units: u64) {
        if self.random.f64() * 100.0 < percent {
            let transfer = units * self.map.unit;
            let (least, most) = (smallest.get().div_ceil(transfer), largest.get() / transfer);
            self.cursor = self.cursor.saturating_add(self.random.u64(least..=most.max(least)) * units);
        }
        if self.cursor >= self.space() {
            self.cursor = if self.hits < self.space() { self.hits } else { 0 };
        }
    }

    /// The transfer at the cursor.
    fn at_cursor(&mut self, units: u64) -> (u64, u64) {
        let position = self.cursor;
        let units = self.inside(position, units);
        self.cursor += units;
        (position, units)
    }

    /// Position number `index` of a walk that takes every `stride`-th, then starts one further.
    fn strided(&self, index: u64, stride: u64) -> u64 {
        let full = self.share / stride;
        let longer = self.share % stride;
        // The first `longer` walks visit one position more than the others.
        if index < longer * (full + 1) {
            index % (full + 1) * stride + index / (full + 1)
        } else {
            let rest = index - longer * (full + 1);
            rest % full.max(1) * stride + longer + rest / full.max(1)
        }
    }

    #[inline]
    fn place(&self, position: u64, length: u64) -> Step {
        let map = &self.map;
        let (stretch, within) =
            if position < map.used { (0, position) } else { (position / map.used, position % map.used) };
        let turned = map.first + within;
        let within = if turned < map.stretch { turned } else { turned - map.stretch } * map.unit;
        if map.shared_round == 0 {
            Step { slot: stretch as u32, offset: within + map.offset, length: length as u32 }
        } else {
            Step {
                slot: 0,
                offset: stretch * map.shared_round + map.shared_start + within,
                length: length as u32,
            }
        }
    }
}

impl Map {
    /// Positions from `within` on to the end of what is used, or to where the range goes over the end of the stretch.
    fn left(&self, within: u64) -> u64 {
        let turn = self.stretch - self.first;
        if within < turn { turn.min(self.used) - within } else { self.used - within }
    }

    /// The same backwards: positions that lie before `end` in one piece.
    fn behind(&self, end: u64) -> u64 {
        let turn = self.stretch - self.first;
        if end > turn { end - turn } else { end }
    }
}

/// First position of what is used of a stretch, and the number of positions.
fn range(stretch: u64, transfer: &Transfer) -> (u64, u64) {
    let first = (stretch as f64 * transfer.range_start.get()).floor() as u64;
    let end = ((stretch as f64 * transfer.range_end.get()).ceil() as u64).min(stretch);
    if transfer.range_start < transfer.range_end {
        (first, end.max(first + 1) - first)
    } else {
        let first = first.min(stretch - 1);
        (first, (stretch - first + end).min(stretch))
    }
}

/// First position and number of positions of rank `owner`'s part of what all ranks share: no two parts differ by more
/// than one.
fn part_of(share: u64, owner: u32, ranks: u32) -> (u64, u64) {
    let (owner, ranks) = (u64::from(owner), u64::from(ranks));
    let (each, longer) = (share / ranks, share % ranks);
    (owner * each + owner.min(longer), each + u64::from(owner < longer))
}

/// The same for rank `owner` when the share is cut into pieces and the ranks are dealt to them; and how far apart its
/// positions are.
fn part_of_stream(share: u64, owner: u32, ranks: u32, streams: u32) -> (u64, u64, u64) {
    let (start, length) = part_of(share, owner % streams, streams);
    let (turn, pace) = (u64::from(owner / streams), u64::from((ranks / streams).max(1)));
    (start + turn, length.saturating_sub(turn).div_ceil(pace), pace)
}

fn draw_weighted(sizes: &[WeightedSize], random: &mut fastrand::Rng) -> Bytes {
    let total: u32 = sizes.iter().map(|s| s.weight).sum();
    let mut ticket = random.u32(0..total.max(1));
    let drawn = sizes.iter().find(|s| {
        let hit = ticket < s.weight;
        ticket = ticket.saturating_sub(s.weight);
        hit
    });
    drawn.map_or(Bytes::ZERO, |s| s.size)
}

#[cfg(test)]
mod tests;
