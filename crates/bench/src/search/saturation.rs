//! Where throughput stops growing: the load is doubled until two further points do not reach 2 % more than the knee
//! (PerfKitBenchmarker's rule is one point at the end of its list).

/// Less than this is no growth.
pub const GROWTH: f64 = 0.02;
/// Further points that prove it.
const FURTHER: usize = 2;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saturation {
    /// This load.
    Measure(u32),
    /// Nothing: this is the knee.
    Found {
        /// The smallest load that reaches all there is, within 2 %.
        knee: u32,
        /// Whether two further points did not grow.
        proven: bool,
    },
}

/// Decides from what was measured: (load, operations per second), in rising order of load.
pub fn saturation(points: &[(u32, f64)], most: u32) -> Saturation {
    let Some((last, _)) = points.last() else { return Saturation::Measure(1) };
    let best = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let knee = points.iter().position(|(_, rate)| *rate * (1.0 + GROWTH) >= best).unwrap_or(0);
    let further = points.len() - 1 - knee;
    if further >= FURTHER {
        return Saturation::Found { knee: points[knee].0, proven: true };
    }
    match last.checked_mul(2).filter(|next| *next <= most) {
        Some(next) => Saturation::Measure(next),
        None => Saturation::Found { knee: points[knee].0, proven: false },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs the search on a storage that gives `rate` at a load.
    fn find(rate: impl Fn(u32) -> f64, most: u32) -> (Vec<u32>, u32, bool) {
        let mut points = Vec::new();
        loop {
            match saturation(&points, most) {
                Saturation::Measure(load) => points.push((load, rate(load))),
                Saturation::Found { knee, proven } => {
                    return (points.iter().map(|(load, _)| *load).collect(), knee, proven);
                }
            }
        }
    }

    #[test]
    fn it_stops_two_points_after_the_knee() {
        let limit = |load: u32| 1000.0 * f64::from(load.min(8));
        assert_eq!(find(limit, 256), (vec![1, 2, 4, 8, 16, 32], 8, true));
    }

    #[test]
    fn a_dip_is_no_end() {
        let dips = |load: u32| if load == 4 { 1500.0 } else { 1000.0 * f64::from(load.min(32)) };
        assert_eq!(find(dips, 256).1, 32, "after a dip it grows again");
    }

    #[test]
    fn what_grows_to_the_end_is_not_proven() {
        assert_eq!(find(f64::from, 16), (vec![1, 2, 4, 8, 16], 16, false));
        assert_eq!(find(|_| 5.0, 1), (vec![1], 1, false));
    }

    proptest! {
        /// The knee is the smallest power of two within 2 % of what the storage gives at any load it was asked for.
        #[test]
        fn the_knee_is_where_a_naive_look_finds_it(limit in 1.0f64..400.0, each in 0.5f64..3.0) {
            let rate = |load: u32| (f64::from(load) * each).min(limit);
            let (loads, knee, proven) = find(rate, 1024);
            let best = loads.iter().map(|load| rate(*load)).fold(0.0, f64::max);
            let naive = loads.iter().find(|load| rate(**load) * 1.02 >= best).unwrap();
            prop_assert_eq!(knee, *naive);
            prop_assert_eq!(proven, loads.iter().filter(|load| **load > knee).count() >= 2);
        }
    }
}
