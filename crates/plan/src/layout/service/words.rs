//! Figures as providers state them.

use units::{Bandwidth, Bytes};

use crate::limit::Capability;

/// The unit in which a provider states a rate. The catalog converts units on reading, so it is found again from the
/// figures: a tier's rates are whole numbers of their own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// MB/s.
    Mb,
    /// MiB/s.
    Mib,
}

impl Unit {
    /// The unit of which `rate`, in bytes per second, is a whole number; MB/s where it is of neither.
    pub fn of(rate: f64) -> Self {
        let whole = |unit: Self| (rate / unit.bytes()).fract() == 0.0;
        if !whole(Self::Mb) && whole(Self::Mib) { Self::Mib } else { Self::Mb }
    }

    /// Bytes per second of one.
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Mb => 1e6,
            Self::Mib => 1_048_576.0,
        }
    }

    /// The unit of a capability's bounds.
    pub fn of_both(one: Capability) -> Self {
        let finite = [one.read, one.write, one.sum].into_iter().find(|rate| rate.is_finite());
        finite.map_or(Self::Mb, Self::of)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Mb => "MB/s",
            Self::Mib => "MiB/s",
        }
    }

    /// `250 MB/s`, or `260 read / 88 write MiB/s` where the directions differ.
    pub fn pair(self, both: Capability) -> String {
        let of = |rate: f64| number(rate / self.bytes());
        let text = match (both.read.is_finite(), both.write.is_finite()) {
            (true, true) if same(both.read, both.write) => of(both.read),
            (true, true) => format!("{} read / {} write", of(both.read), of(both.write)),
            (true, false) => format!("{} read", of(both.read)),
            (false, true) => format!("{} write", of(both.write)),
            (false, false) => return "no bound known".to_owned(),
        };
        format!("{text} {}", self.name())
    }

    /// `250 MB/s`
    pub fn one(self, rate: f64) -> String {
        format!("{} {}", number(rate / self.bytes()), self.name())
    }
}

/// A rate in its provider's unit: `128 MiB/s`.
pub fn rate(rate: Bandwidth) -> String {
    Unit::of(rate.get()).one(rate.get())
}

/// A capacity as it is ordered: whole TiB, or GiB.
pub fn size(bytes: Bytes) -> String {
    let tib = Bytes::tib(1).get();
    if bytes.get().is_multiple_of(tib) {
        return format!("{} TiB", bytes.get() / tib);
    }
    format!("{} GiB", number(bytes.as_gib()))
}

/// A capacity that is multiplied by a figure per TiB: `4800 GiB (4.69 TiB)`.
pub fn size_in_tib(bytes: Bytes) -> String {
    let ordered = size(bytes);
    if ordered.ends_with("TiB") {
        return ordered;
    }
    format!("{ordered} ({:.2} TiB)", bytes.as_gib() / 1024.0)
}

/// Up to one decimal; none where it is zero.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// `` for one, `3 x ` for three.
pub fn times(count: u32) -> String {
    if count == 1 { String::new() } else { format!("{count} x ") }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_in_the_unit_they_are_stated_in() {
        assert_eq!(rate(Bandwidth::mb_per_second(250.0)), "250 MB/s");
        assert_eq!(rate(Bandwidth::mib_per_second(128.0)), "128 MiB/s");
        assert_eq!(rate(Bandwidth::bytes_per_second(1_234_567.0)), "1.2 MB/s");
        let both = Capability::each(260.0 * 1_048_576.0, 88.0 * 1_048_576.0);
        assert_eq!(Unit::of_both(both).pair(both), "260 read / 88 write MiB/s");
    }

    #[test]
    fn capacities_are_told_as_they_are_ordered() {
        assert_eq!(size(Bytes::tib(3712)), "3712 TiB");
        assert_eq!(size_in_tib(Bytes::gib(4800)), "4800 GiB (4.69 TiB)");
    }
}
