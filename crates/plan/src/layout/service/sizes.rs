//! Capacities that are sold: `min, min + step, ... max`, in one or several ranges.

use catalog::SizeRange;
use units::Bytes;

use super::words;

/// Part of a step that is rounding noise and not worth another step.
const NOISE: f64 = 1e-9;

/// The smallest capacity sold that holds `needed` bytes, or `None` if none does.
pub fn at_least(sizes: &[SizeRange], needed: f64) -> Option<Bytes> {
    sizes.iter().find_map(|range| {
        let steps = ((needed - range.min.get() as f64) / range.step.get() as f64 - NOISE).ceil().max(0.0);
        // `as` keeps an absurdly large need at the largest number, which no range reaches.
        let size = range.step.get().checked_mul(steps as u64)?.checked_add(range.min.get())?;
        range.max.is_none_or(|max| size <= max.get()).then_some(Bytes::new(size))
    })
}

/// The largest capacity sold: `None` when the provider names no bound.
pub fn largest(sizes: &[SizeRange]) -> Option<Bytes> {
    let range = sizes.last()?;
    let steps = |max: Bytes| (max.get() - range.min.get()) / range.step.get();
    range.max.map(|max| Bytes::new(range.min.get() + steps(max) * range.step.get()))
}

/// Whether exactly this capacity is sold.
pub fn sold(sizes: &[SizeRange], size: Bytes) -> bool {
    at_least(sizes, size.get() as f64) == Some(size)
}

/// What is sold around a capacity that is not: `the next sizes are 1200 GiB and 2400 GiB`.
pub fn around(sizes: &[SizeRange], size: Bytes) -> String {
    let above = at_least(sizes, size.get() as f64);
    match (below(sizes, size), above) {
        (Some(below), Some(above)) => {
            format!("the next sizes are {} and {}", words::size(below), words::size(above))
        }
        (Some(below), None) => format!("the largest size is {}", words::size(below)),
        (None, Some(above)) => format!("the smallest size is {}", words::size(above)),
        (None, None) => "its sizes are not in the catalog".to_owned(),
    }
}

/// The largest capacity sold that is not above `size`.
fn below(sizes: &[SizeRange], size: Bytes) -> Option<Bytes> {
    let range = sizes.iter().rfind(|range| range.min <= size)?;
    let top = range.max.map_or(size, |max| max.min(size));
    let steps = (top.get() - range.min.get()) / range.step.get();
    Some(Bytes::new(range.min.get() + steps * range.step.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gib(count: u64) -> Bytes {
        Bytes::gib(count)
    }

    /// 1200, 2400, 4800, 7200, ... 24000 GiB.
    fn sizes() -> Vec<SizeRange> {
        vec![
            SizeRange { min: gib(1200), step: gib(1200), max: Some(gib(1200)) },
            SizeRange { min: gib(2400), step: gib(2400), max: Some(gib(24_000)) },
        ]
    }

    fn rounded(needed: u64) -> Option<Bytes> {
        at_least(&sizes(), gib(needed).get() as f64)
    }

    #[test]
    fn capacity_is_rounded_up_to_what_is_sold() {
        assert_eq!(rounded(0), Some(gib(1200)));
        assert_eq!(rounded(1200), Some(gib(1200)));
        assert_eq!(rounded(1201), Some(gib(2400)));
        assert_eq!(rounded(2401), Some(gib(4800)));
        assert_eq!((rounded(24_000), rounded(24_001)), (Some(gib(24_000)), None));
        assert_eq!(at_least(&sizes(), f64::INFINITY), None);
        assert_eq!(at_least(&[], 1.0), None);
    }

    #[test]
    fn noise_does_not_buy_a_step() {
        assert_eq!(at_least(&sizes(), gib(4800).get() as f64 * (1.0 + 1e-12)), Some(gib(4800)));
    }

    #[test]
    fn sizes_between_steps_are_not_sold() {
        assert!(sold(&sizes(), gib(2400)) && !sold(&sizes(), gib(3600)) && !sold(&sizes(), gib(26_400)));
        assert_eq!(around(&sizes(), gib(3600)), "the next sizes are 2400 GiB and 4800 GiB");
        assert_eq!(around(&sizes(), gib(100)), "the smallest size is 1200 GiB");
        assert_eq!(around(&sizes(), gib(99_999)), "the largest size is 24000 GiB");
        assert_eq!(largest(&sizes()), Some(gib(24_000)));
    }
}
