use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Ratio};

use super::Layout;
use crate::data::mix;

/// Moving bytes between memory and the data files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transfer {
    /// Share of reads: `100%` reads, `0%` writes, between them each transfer is drawn (vdbench rdpct).
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub read: Ratio,
    /// Bytes per call.
    pub transfer_size: TransferSize,
    /// The order of offsets.
    pub order: Order,
    /// I/Os in flight per rank.
    pub queue_depth: u32,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Every write returns when its data is durable (`O_SYNC`; vdbench `openflags=o_sync`).
    pub synchronous: bool,
    /// When written data is made durable.
    pub fsync: Fsync,
    /// When transfers start.
    pub pacing: Pacing,
    /// Compare what is read with what was written.
    pub verify: bool,
    /// A transfer that comes back short is a failure, and is not completed by another call (IOR -x).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_attempt: bool,
    /// Whose files a rank works on.
    pub rank_shift: RankShift,
    /// Part of each file (of each block in a shared one, unless the order roams all of it) that is used: from this
    /// share ...
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub range_start: Ratio,
    /// ... to this one (vdbench range); one below the start goes over the end to the beginning.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub range_end: Ratio,
    /// Share of the reads that go to the hit area (vdbench rhpct); the others keep out of it.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub read_hits: Ratio,
    /// Share of the writes that do (vdbench whpct).
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub write_hits: Ratio,
    /// Size of the hit area, at the start of the rank's range (vdbench hitarea).
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub hit_area: Bytes,
    /// All of its transfers lie so many bytes further: off the multiples of the transfer size (vdbench offset). What would
    /// go over the end of the file is left out.
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub offset: Option<Bytes>,
    /// Before its transfers, each rank writes its whole share in order with calls of this size, inside the phase's time;
    /// bytes and calls do not count (IOR --randomPrefill).
    #[serde(with = "units::text::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub prefill: Option<Bytes>,
    /// Rest after every transfer (IOR interIODelay).
    #[serde(with = "units::text::duration", skip_serializing_if = "Duration::is_zero")]
    #[schemars(with = "String")]
    pub think_time: Duration,
}

/// Bytes per call: one size, or one drawn per transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferSize {
    /// Always the same.
    Fixed(
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        Bytes,
    ),
    /// Drawn from a weighted list (vdbench `xfersize=(4k,50,8k,50)`).
    Weighted(Vec<WeightedSize>),
    /// Any multiple of `step` between two sizes, all equally often (vdbench `xfersize=(min,max,align)`).
    Range {
        /// The smallest, a multiple of `step`.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        smallest: Bytes,
        /// The largest, a multiple of `step`.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        largest: Bytes,
        /// What sizes and offsets are multiples of.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        step: Bytes,
    },
}

/// One entry of a weighted list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Bytes per call.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub size: Bytes,
    /// How often, relative to the other entries.
    pub weight: u32,
}

/// The order of offsets in a rank's share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other.
    #[default]
    Sequential,
    /// From the end to the start.
    Reverse,
    /// One after the other from a random offset on, round to where it began (vdbench `seekpct=seqnz`).
    RandomStart,
    /// Every offset once, shuffled (IOR -z).
    RandomOnce,
    /// Every offset once, block after block and shuffled inside each, in all of them alike (IOR -z with several segments).
    /// In a file that all ranks share, the blocks of a segment are shuffled together, and every rank gets an equal part.
    RandomInBlocks,
    /// The same, but in a file that all ranks share the rank of each transfer is drawn: their parts differ (IOR 4's -z).
    RandomDrawn,
    /// Any offset at any time (IOR -z -z, fio norandommap).
    Random,
    /// So many transfers from a random offset on, which is a multiple of their bytes; then from another (IOR -z -z: any block
    /// of the file, and through it).
    RandomRuns(u64),
    /// A new random offset with this probability in percent, else the next one (vdbench seekpct).
    SeekPercent(f64),
    /// Every n-th transfer of the share in turn.
    Stride(u64),
    /// With a probability the next transfer skips some bytes, else it is the next one; at the end from the start again
    /// (vdbench `seekpct` with `stride=(min,max)`).
    Skip {
        /// How often, in percent.
        percent: f64,
        /// The least that is skipped.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        smallest: Bytes,
        /// The most; what is skipped is a multiple of the transfer size between the two, all equally often.
        #[serde(with = "units::text")]
        #[schemars(with = "String")]
        largest: Bytes,
    },
    /// In this many equal pieces, each from its start to its end (vdbench streams). Ranks are dealt to the pieces of a
    /// file that all share, and those of one piece take turns; in a file of its own a rank goes from piece to piece.
    Streams(u32),
}

/// When written data is made durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fsync {
    /// Never: the numbers may be those of memory, and the verdict says so.
    Never,
    /// Once per file, after its last transfer (IOR -e, dd conv=fsync).
    #[default]
    AtEnd,
    /// After every n-th write (1: IOR -Y, once and not twice).
    Every(u32),
    /// Two after every write, as IOR 4's -Y makes.
    EachTwice,
}

/// When transfers start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// The next starts when the last has ended.
    #[default]
    Closed,
    /// At a rate, whatever the storage does; latency counts from the intended start.
    Open {
        /// Operations per second of all the job's ranks together.
        operations_per_second: f64,
        /// How starts are spread.
        #[serde(default)]
        arrival: Arrival,
    },
}

/// How the starts of an open loop are spread in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly (vdbench `distribution=deterministic`).
    #[default]
    Uniform,
    /// Gaps of anything up to twice the mean, all equally often (vdbench `distribution=uniform`).
    Jittered,
    /// As a Poisson process: exponential gaps (vdbench `distribution=exponential`).
    Poisson,
}

/// Whose files a rank works on, so that it need not read what its own host has cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankShift {
    /// Its own.
    #[default]
    None,
    /// Those of the rank this many further (IOR -C with -Q, mdtest -N).
    By(u32),
    /// Those of the rank this many nodes further: so many times the ranks on the first rank's host (IOR -C, whose -Q counts
    /// in tasks per node). On one host these are its own. A run knows where its ranks are and turns it into [`By`](Self::By).
    ByNode(u32),
    /// Those of a random other rank: a true permutation drawn from this seed (IOR -Z -Z).
    Shuffled(u64),
    /// The same, with another permutation in every repetition (IOR -X below 0).
    Reshuffled(u64),
    /// Those of a rank that each draws for itself, at least so many further: several may work on the same, and nobody on
    /// others (IOR 4's -Z).
    Drawn {
        /// Seed of the draws.
        seed: u64,
        /// The least that a draw may be.
        at_least: u32,
        /// Others are drawn in every repetition (IOR -X below 0).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Those of a rank of the first group of `group` ranks: of the one that has this rank's place in its own group, `by`
    /// further. So all groups work on the same.
    Within {
        /// Ranks of a group.
        group: u32,
        /// This many further, round the group.
        by: u32,
    },
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            read: Ratio::ONE,
            transfer_size: TransferSize::Fixed(Bytes::mib(1)),
            order: Order::Sequential,
            queue_depth: 1,
            direct: false,
            synchronous: false,
            fsync: Fsync::AtEnd,
            pacing: Pacing::Closed,
            verify: false,
            single_attempt: false,
            rank_shift: RankShift::None,
            range_start: Ratio::ZERO,
            range_end: Ratio::ONE,
            read_hits: Ratio::ZERO,
            write_hits: Ratio::ZERO,
            hit_area: Bytes::mib(1),
            offset: None,
            prefill: None,
            think_time: Duration::ZERO,
        }
    }
}

impl Transfer {
    /// Sequential writes of `transfer_size`, fsync at the end.
    pub fn write(transfer_size: Bytes) -> Self {
        Self { read: Ratio::ZERO, transfer_size: TransferSize::Fixed(transfer_size), ..Self::default() }
    }

    /// Sequential reads of `transfer_size`.
    pub fn read(transfer_size: Bytes) -> Self {
        Self { transfer_size: TransferSize::Fixed(transfer_size), ..Self::default() }
    }

    /// Whether any transfer writes.
    pub fn writes(&self) -> bool {
        self.read.get() < 1.0
    }

    /// Whether any transfer reads.
    pub fn reads(&self) -> bool {
        self.read.get() > 0.0
    }

    /// Whether it leaves its share written, once it has come to its end.
    pub fn covers(&self) -> bool {
        !self.reads() && self.order.is_once() && !self.has_hits() && self.offset.is_none()
    }

    /// Whether some transfers go to a hit area.
    pub fn has_hits(&self) -> bool {
        self.read_hits > Ratio::ZERO || self.write_hits > Ratio::ZERO
    }

    /// Whether each rank goes to all of a file that all share, and not only to its own blocks of it.
    pub fn roams(&self, layout: Layout) -> bool {
        layout == Layout::Shared
            && matches!(
                self.order,
                Order::Random
                    | Order::RandomOnce
                    | Order::RandomInBlocks
                    | Order::RandomDrawn
                    | Order::RandomRuns(_)
                    | Order::SeekPercent(_)
                    | Order::Skip { .. }
                    | Order::Streams(_)
            )
    }
}

impl Fsync {
    /// After how many writes; 0: never between them.
    pub fn every(self) -> u32 {
        match self {
            Self::Never | Self::AtEnd => 0,
            Self::Every(writes) => writes,
            Self::EachTwice => 1,
        }
    }
}

impl Order {
    /// Whether it begins at the start of the share and leaves nothing out on the way.
    pub fn is_forward(self) -> bool {
        matches!(self, Self::Sequential | Self::SeekPercent(0.0))
    }

    /// Whether it visits nothing twice before it has visited all.
    pub fn is_once(self) -> bool {
        self.is_forward()
            || matches!(
                self,
                Self::Reverse
                    | Self::RandomStart
                    | Self::RandomOnce
                    | Self::RandomInBlocks
                    | Self::RandomDrawn
                    | Self::Stride(_)
                    | Self::Streams(_)
            )
    }
}

impl TransferSize {
    /// The largest size.
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted(sizes) => sizes.iter().map(|s| s.size).max().unwrap_or_default(),
            Self::Range { largest, .. } => *largest,
        }
    }

    /// The unit that offsets are multiples of: the smallest size, or the step of a range.
    pub fn unit(&self) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted(sizes) => sizes.iter().map(|s| s.size).min().unwrap_or_default(),
            Self::Range { step, .. } => *step,
        }
    }
}

impl RankShift {
    /// The same with so many ranks on the first rank's host, of `ranks`.
    #[must_use]
    pub fn placed(self, ranks_per_node: u32, ranks: u32) -> Self {
        match self {
            Self::ByNode(nodes) => {
                let ranks = u64::from(ranks.max(1));
                Self::By((u64::from(nodes) * u64::from(ranks_per_node) % ranks) as u32)
            }
            other => other,
        }
    }

    /// The same in one repetition, counting from 0.
    #[must_use]
    pub fn in_repetition(self, repetition: u32) -> Self {
        match self {
            Self::Reshuffled(seed) => Self::Shuffled(seed.wrapping_add(u64::from(repetition))),
            Self::Drawn { seed, at_least, again: true } => {
                Self::Drawn { seed: seed.wrapping_add(u64::from(repetition)), at_least, again: false }
            }
            other => other,
        }
    }

    /// The rank whose files rank `rank` of `ranks` works on.
    pub fn apply(self, rank: u32, ranks: u32) -> u32 {
        match self {
            Self::None | Self::ByNode(_) => rank,
            Self::By(shift) => ((u64::from(rank) + u64::from(shift)) % u64::from(ranks)) as u32,
            Self::Shuffled(seed) | Self::Reshuffled(seed) => {
                crate::sequence::Permutation::new(u64::from(ranks), seed).at(u64::from(rank)) as u32
            }
            Self::Within { group, by } => {
                let group = u64::from(group.max(1));
                (((u64::from(rank) + u64::from(by)) % group) as u32).min(ranks.saturating_sub(1))
            }
            Self::Drawn { seed, at_least, .. } => {
                let least = u64::from(at_least.min(ranks - 1));
                let own = mix(seed ^ mix(u64::from(rank)));
                ((u64::from(rank) + least + own % (u64::from(ranks) - least)) % u64::from(ranks)) as u32
            }
        }
    }
}
