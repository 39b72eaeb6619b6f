use units::{Bandwidth, Bytes, Iops};

/// What something can do at most: a bandwidth, a rate of I/Os, or both. `None` is unknown, not unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rate {
    /// Bytes per second.
    pub bandwidth: Option<Bandwidth>,
    /// I/Os per second.
    pub iops: Option<Iops>,
}

impl Rate {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { bandwidth: None, iops: None };

    /// The bandwidth left at I/Os of `io_size` bytes: the smaller of the bandwidth and IOPS x size. Providers count an I/O
    /// larger than `io_unit` as several, so merged I/Os never carry more than that each.
    pub fn at(self, io_size: Bytes, io_unit: Option<Bytes>) -> Option<Bandwidth> {
        let size = io_unit.map_or(io_size, |unit| unit.min(io_size));
        let by_iops = self.iops.map(|iops| Bandwidth::bytes_per_second(iops.get() * size.get() as f64));
        match (self.bandwidth, by_iops) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}
