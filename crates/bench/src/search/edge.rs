//! The highest load that keeps a promise: doubling until one does not, then bisection, then the same load again until it
//! has kept it often enough. A load that failed once has failed.

/// A run at a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The load.
    pub load: f64,
    /// Whether it kept the promise.
    pub kept: bool,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge {
    /// This load.
    Measure(f64),
    /// Nothing: this is the highest.
    Found(f64),
    /// Nothing: none keeps it.
    Nothing,
}

/// Decides from the runs so far. Loads begin at `first` and go up to `most`; `close` says whether a load that kept it (or 0)
/// and one that did not are as near as matters; `proofs` runs must keep it at the edge.
pub fn edge(
    trials: &[Trial],
    first: f64,
    most: f64,
    close: impl Fn(f64, f64) -> bool,
    proofs: usize,
) -> Edge {
    let failed =
        trials.iter().filter(|trial| !trial.kept).map(|trial| trial.load).fold(f64::INFINITY, f64::min);
    let low = trials
        .iter()
        .filter(|trial| trial.kept && trial.load < failed)
        .map(|trial| trial.load)
        .fold(0.0, f64::max);
    let ended = if failed.is_finite() { close(low, failed) } else { low >= most };
    if ended {
        let kept = trials.iter().filter(|trial| trial.kept && trial.load.total_cmp(&low).is_eq()).count();
        return match low {
            low if low <= 0.0 => Edge::Nothing,
            low if kept < proofs => Edge::Measure(low),
            low => Edge::Found(low),
        };
    }
    if failed.is_finite() {
        let middle = f64::midpoint(low, failed);
        // Whole loads have no middle between neighbours; `close` ends there.
        return Edge::Measure(if first >= 1.0 && first.fract() == 0.0 && most.fract() == 0.0 {
            middle.floor().max(1.0)
        } else {
            middle
        });
    }
    Edge::Measure(if low <= 0.0 { first } else { (low * 2.0).min(most) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(
        keeps: impl Fn(f64, usize) -> bool,
        first: f64,
        most: f64,
        whole: bool,
    ) -> (Option<f64>, Vec<Trial>) {
        let mut trials: Vec<Trial> = Vec::new();
        loop {
            let close = |low: f64, high: f64| {
                if whole { high - low <= 1.0 } else { high - low <= 0.05 * high || high < most / 100.0 }
            };
            match edge(&trials, first, most, close, 3) {
                Edge::Measure(load) => {
                    let again = trials.iter().filter(|trial| trial.load.total_cmp(&load).is_eq()).count();
                    trials.push(Trial { load, kept: keeps(load, again) });
                    assert!(trials.len() < 100, "{trials:?}");
                }
                Edge::Found(load) => return (Some(load), trials),
                Edge::Nothing => return (None, trials),
            }
        }
    }

    proptest! {
        #[test]
        fn a_depth_is_found_exactly(limit in 0u32..300, most in 1u32..256) {
            let (found, _) = find(|load, _| load <= f64::from(limit), 1.0, f64::from(most), true);
            let naive = (1..=most).filter(|depth| *depth <= limit).max();
            prop_assert_eq!(found, naive.map(f64::from));
        }

        #[test]
        fn a_rate_is_found_within_the_resolution(limit in 1.0f64..1000.0) {
            let most = 1000.5;
            let (found, _) = find(|load, _| load <= limit, most / 2.0, most, false);
            match found {
                // Below a hundredth of the most nobody looks closer.
                Some(rate) => {
                    let near = rate >= limit * 0.9 || limit < most / 100.0;
                    prop_assert!(rate <= limit && near, "{rate} of {limit}");
                }
                None => prop_assert!(limit < most / 100.0),
            }
        }
    }

    #[test]
    fn an_edge_that_does_not_hold_gives_way() {
        // Load 8 keeps it once and then no more; 7 always does.
        let (found, trials) =
            find(|load, again| load < 8.0 || (load as u32 == 8 && again == 0), 1.0, 64.0, true);
        assert_eq!(found, Some(7.0), "{trials:?}");
        assert_eq!(trials.iter().filter(|trial| trial.load as u32 == 7).count(), 3);
    }
}
