use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::Sample;
use crate::statistics::{mann_whitney, smallest_p};

/// A difference counts when chance alone would make it in fewer than one case in twenty.
const LEVEL: f64 = 0.05;
/// With sample sizes whose smallest possible p is between the level and this (three against three), samples that do
/// not overlap are called likely different. Rounded up so that 2/20 is not lost to its last bit.
const LIKELY_LEVEL: f64 = 0.1001;
/// Below this difference, samples too small for a test are not called likely different: repetitions of storage tests
/// differ by this much on a quiet machine.
const LIKELY_DIFFERENCE: f64 = 0.05;

/// Whether `b`'s figure differs from `a`'s. It says nothing about better or worse: see [`super::Figure::larger_is_better`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// `b` is larger by more than the noise.
    Larger,
    /// `b` is smaller by more than the noise.
    Smaller,
    /// Too few repetitions for a test, but every value of `b` is above every value of `a`, by more than 5 % in the median.
    LikelyLarger,
    /// The same, below.
    LikelySmaller,
    /// No difference that repetitions of one run would not show too.
    WithinNoise,
    /// Nothing can be said.
    TooFewRepetitions,
}

pub(super) struct Judgement {
    pub verdict: Verdict,
    pub p: Option<f64>,
    pub explanation: String,
}

pub(super) fn judge(a: &Sample, b: &Sample, ratio: Option<f64>) -> Judgement {
    let sizes = format!("{} and {} repetitions", a.values.len(), b.values.len());
    let reachable = smallest_p(a.values.len(), b.values.len());
    let test = mann_whitney(&a.values, &b.values);
    let change = describe(ratio);
    let (verdict, explanation) = match test {
        Some(test) if reachable <= LEVEL => {
            let how = if test.exact { "exact" } else { "normal approximation" };
            let p = test.p;
            if p < LEVEL {
                let verdict = direction(a, b, Verdict::Larger, Verdict::Smaller);
                (verdict, format!("{change}: larger than the noise (p = {p:.3}, {how})"))
            } else {
                (Verdict::WithinNoise, format!("{change}: within the noise (p = {p:.2}, {how})"))
            }
        }
        Some(_) if reachable <= LIKELY_LEVEL => small(a, b, ratio, &change),
        _ => (
            Verdict::TooFewRepetitions,
            format!("{change}, but {sizes} can't tell a difference from noise: run at least 4 each"),
        ),
    };
    Judgement { verdict, p: test.map(|test| test.p), explanation }
}

/// Three against three and the like: no test can reach the level, so the ranges have to speak.
fn small(a: &Sample, b: &Sample, ratio: Option<f64>, change: &str) -> (Verdict, String) {
    let sizes = format!("{} and {} repetitions", a.values.len(), b.values.len());
    let apart = a.max < b.min || b.max < a.min;
    let differs = ratio.is_none_or(|ratio| (ratio - 1.0).abs() > LIKELY_DIFFERENCE);
    if apart && differs {
        let verdict = direction(a, b, Verdict::LikelyLarger, Verdict::LikelySmaller);
        let percent = smallest_p(a.values.len(), b.values.len()) * 100.0;
        let text = format!(
            "likely {change}: the ranges do not overlap, which {sizes} of the same thing do in {percent:.0} % of cases; run at least 4 each to be sure"
        );
        return (verdict, text);
    }
    let why =
        if apart { "the ranges do not overlap but differ by 5 % or less" } else { "the ranges overlap" };
    (
        Verdict::WithinNoise,
        format!("{change}: {why}; a small difference can't be told from noise with {sizes}"),
    )
}

fn direction(a: &Sample, b: &Sample, larger: Verdict, smaller: Verdict) -> Verdict {
    // Equal medians can still differ in rank; the means then say which way.
    let mean = |sample: &Sample| crate::statistics::mean(&sample.values).unwrap_or_default();
    let order = b.median.total_cmp(&a.median).then(mean(b).total_cmp(&mean(a)));
    if order.is_gt() { larger } else { smaller }
}

fn describe(ratio: Option<f64>) -> String {
    match ratio {
        None => "no ratio to a median of zero".to_owned(),
        Some(ratio) if ratio >= 2.0 => format!("{ratio:.2} times as much"),
        Some(ratio) if ratio >= 1.0 => format!("{:.1} % more", (ratio - 1.0) * 100.0),
        Some(ratio) => format!("{:.1} % less", (1.0 - ratio) * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(a: &[f64], b: &[f64]) -> (Verdict, String) {
        let (a, b) = (Sample::of(a.to_vec()).unwrap(), Sample::of(b.to_vec()).unwrap());
        let judgement = judge(&a, &b, Some(b.median / a.median));
        (judgement.verdict, judgement.explanation)
    }

    #[test]
    fn four_repetitions_can_decide() {
        let (seen, words) = verdict(&[100.0, 101.0, 99.0, 100.5], &[150.0, 151.0, 149.0, 152.0]);
        assert_eq!(seen, Verdict::Larger, "{words}");
        assert!(words.contains("50.1 % more") || words.contains("50.2 % more"), "{words}");
        assert_eq!(verdict(&[100.0, 101.0, 99.0, 98.0], &[50.0, 51.0, 49.0, 52.0]).0, Verdict::Smaller);
        assert_eq!(verdict(&[100.0, 101.0, 99.0, 98.0], &[100.2, 101.3, 98.5, 97.0]).0, Verdict::WithinNoise);
    }

    #[test]
    fn three_repetitions_are_only_ever_likely() {
        let (seen, words) = verdict(&[100.0, 101.0, 99.0], &[150.0, 151.0, 149.0]);
        assert_eq!(seen, Verdict::LikelyLarger);
        assert!(words.contains("likely 50.0 % more") && words.contains("10 % of cases"), "{words}");
        assert_eq!(verdict(&[150.0, 151.0, 149.0], &[100.0, 101.0, 99.0]).0, Verdict::LikelySmaller);
        let (seen, words) = verdict(&[100.0, 101.0, 99.0], &[103.0, 104.0, 102.0]);
        assert_eq!(seen, Verdict::WithinNoise);
        assert!(words.contains("5 % or less"), "{words}");
        assert_eq!(verdict(&[100.0, 101.0, 99.0], &[100.5, 140.0, 139.0]).0, Verdict::WithinNoise);
    }

    #[test]
    fn one_or_two_repetitions_decide_nothing() {
        for (a, b) in
            [(vec![1.0], vec![9.0]), (vec![1.0, 2.0], vec![8.0, 9.0]), (vec![1.0], vec![8.0, 9.0, 9.5])]
        {
            assert_eq!(verdict(&a, &b).0, Verdict::TooFewRepetitions);
        }
    }
}
