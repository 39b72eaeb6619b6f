//! When repetitions no longer differ: the last ones lie close together (as warp's autoterm) and do not drift (as fio's
//! steadystate slope).

/// Whether it is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// Since this repetition, counting from 1.
    From(usize),
    /// Not so far.
    NotYet,
}

/// Looks at the last `windows` of `rates`: they may differ by the share `within` of their mean, and a straight line through
/// them may rise or fall by no more from the first to the last.
pub fn steady(rates: &[f64], windows: usize, within: f64) -> Steady {
    let windows = windows.max(2);
    let Some(first) = rates.len().checked_sub(windows) else { return Steady::NotYet };
    let last = &rates[first..];
    let mean = last.iter().sum::<f64>() / windows as f64;
    let (least, most) =
        last.iter().fold((f64::INFINITY, 0.0f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    let drift = slope(last).abs() * (windows - 1) as f64;
    if mean > 0.0 && most - least <= within * mean && drift <= within * mean {
        Steady::From(first + 1)
    } else {
        Steady::NotYet
    }
}

/// Change per repetition of the straight line with the least squares.
fn slope(rates: &[f64]) -> f64 {
    let count = rates.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = rates.iter().sum::<f64>() / count;
    let products: f64 = rates.iter().enumerate().map(|(at, rate)| (at as f64 - middle) * (rate - mean)).sum();
    let squares: f64 = (0..rates.len()).map(|at| (at as f64 - middle).powi(2)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_fills_is_waited_for() {
        let mut rates = vec![900.0, 700.0, 500.0, 420.0, 400.0, 402.0, 398.0, 401.0, 399.0];
        assert_eq!(steady(&rates[..8], 5, 0.01), Steady::NotYet);
        assert_eq!(steady(&rates, 5, 0.01), Steady::From(5));
        rates.push(450.0);
        assert_eq!(steady(&rates, 5, 0.01), Steady::NotYet, "and it is looked at anew");
    }

    #[test]
    fn little_noise_and_few_runs() {
        assert_eq!(steady(&[100.0; 4], 5, 0.05), Steady::NotYet);
        assert_eq!(steady(&[100.0; 5], 5, 0.0), Steady::From(1));
        assert_eq!(steady(&[0.0; 5], 5, 0.05), Steady::NotYet, "nothing done is nothing steady");
        assert!((slope(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
    }
}
