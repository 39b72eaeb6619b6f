//! Where the ticks of an axis go.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::text;

/// An axis: its range, its ticks with their labels, and what it measures.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Positions and labels.
    pub ticks: Vec<(f64, String)>,
    /// What it measures, with its unit.
    pub title: String,
}

impl Axis {
    /// From zero to at least `most`, with about 6 round ticks; the range ends at a tick if `closed`.
    pub fn linear(most: f64, closed: bool, title: impl Into<String>) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = round_step(most / 6.0);
        let steps = (most / step).ceil().max(1.0);
        let max = if closed { steps * step } else { most };
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (0..=steps as usize)
            .map(|index| index as f64 * step)
            .filter(|value| *value <= max * (1.0 + 1e-9))
            .map(|value| (value, format!("{value:.digits$}")))
            .collect();
        Self { min: 0.0, max, ticks, title: title.into() }
    }

    /// The same axis with its ticks shown by `show`.
    pub fn shown(mut self, show: impl Fn(f64) -> String) -> Self {
        for (value, label) in &mut self.ticks {
            *label = show(*value);
        }
        self
    }

    /// Positive figures on a log scale, with ticks at 1, 2 and 5 of every decade around them; positions are log10.
    pub fn decades(
        values: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String,
        title: impl Into<String>,
    ) -> Self {
        let finite = values.filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) =
            finite.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 10.0) };
        let (min, max) = ((least * 0.85).log10(), (most * 1.25).log10());
        let between: &[f64] = match max - min {
            wide if wide > 2.0 => &[1.0],
            wide if wide > 1.2 => &[1.0, 2.0, 5.0],
            _ => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        };
        let ticks = (min.floor() as i32..=max.ceil() as i32)
            .flat_map(|decade| between.iter().map(move |factor| factor * 10f64.powi(decade)))
            .filter(|value| (min..=max).contains(&value.log10()))
            .map(|value| (value.log10(), show(value)))
            .collect();
        Self { min, max, ticks, title: title.into() }
    }

    /// Latency over whole decades; positions are log10 of ns.
    pub fn latency(lowest_ns: f64, highest_ns: f64, title: impl Into<String>) -> Self {
        let lowest = lowest_ns.max(1.0);
        let highest = highest_ns.max(lowest);
        let min = lowest.log10().floor();
        let max = (highest.log10() + 1e-9).ceil().max(min + 1.0);
        let between: &[f64] = if max - min <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = (min as i32..=max as i32)
            .flat_map(|decade| between.iter().map(move |factor| factor * 10f64.powi(decade)))
            .filter(|ns| ns.log10() <= max + 1e-9)
            .map(|ns| (ns.log10(), text::round_latency(ns)))
            .collect();
        Self { min, max, ticks, title: title.into() }
    }

    /// Percentiles as HdrHistogram plots them: equal steps from 90 to 99 to 99.9. Positions are -log10(1 - share).
    pub fn percentile(nines: u32, title: impl Into<String>) -> Self {
        let all = [
            (50.0, "50 %"),
            (90.0, "90 %"),
            (99.0, "99 %"),
            (99.9, "99.9 %"),
            (99.99, "99.99 %"),
            (99.999, "99.999 %"),
        ];
        let max = f64::from(nines);
        let ticks = all
            .into_iter()
            .map(|(percent, label)| (nines_of(percent), label.to_owned()))
            .filter(|(position, _)| *position <= max + 1e-6)
            .collect();
        Self { min: 0.0, max, ticks, title: title.into() }
    }

    /// The label of the tick nearest to `value`.
    fn label(&self, value: f64) -> String {
        let nearest = self.ticks.iter().min_by(|a, b| (a.0 - value).abs().total_cmp(&(b.0 - value).abs()));
        nearest.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = ((value - self.min) / (self.max - self.min)).clamp(-1.0, 2.0);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Ticks are ours: no light lines between them.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(position, _)| *position).collect()
    }

    fn range(&self) -> Range<f64> {
        self.min..self.max
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// Position of a percentile on its axis.
pub fn nines_of(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

fn round_step(rough: f64) -> f64 {
    let decade = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|factor| factor * decade >= rough * 0.999);
    factor.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::linear(173.0, true, "")), ["0", "50", "100", "150", "200"]);
        assert_eq!(labels(&Axis::linear(0.0, true, "")), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(&Axis::latency(2e5, 3e6, "")),
            ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"]
        );
        assert_eq!(labels(&Axis::percentile(3, "")), ["50 %", "90 %", "99 %", "99.9 %"]);
    }

    proptest::proptest! {
        #[test]
        fn an_axis_always_has_a_range_and_a_handful_of_ticks(most in proptest::num::f64::ANY) {
            let axis = Axis::linear(most, true, "");
            proptest::prop_assert!(axis.max > axis.min);
            proptest::prop_assert!((2..=12).contains(&axis.ticks.len()), "{axis:?}");
        }
    }
}
