//! How evenly the ranks worked.

use maud::Markup;
use plotters::prelude::*;

use super::MOST_BARS;
use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::facts::phases::Rate;
use crate::facts::ranks::RankSpread;
use crate::facts::series;
use crate::text;

/// Bars by rank, the slowest in a colour of its own; above [`MOST_BARS`] ranks a curve from the slowest to the fastest.
pub fn ranks(spreads: &[RankSpread], rate: Rate, alternative: String) -> fault::Result<Markup> {
    spread(spreads, rate, alternative, "rank", |spread| spread.rank.to_string())
}

/// The same by host.
pub fn hosts(spreads: &[RankSpread], rate: Rate, alternative: String) -> fault::Result<Markup> {
    spread(spreads, rate, alternative, "host", |spread| text::shorten(&spread.host, 9))
}

fn spread(
    spreads: &[RankSpread],
    rate: Rate,
    alternative: String,
    of: &str,
    name: impl Fn(&RankSpread) -> String,
) -> fault::Result<Markup> {
    let most = spreads.iter().map(|spread| spread.max).fold(0.0, f64::max);
    let curve = spreads.len() > MOST_BARS;
    let frame = Frame {
        width: 540,
        height: 270,
        left: 62,
        top: 28,
        x: if curve {
            Axis::linear(spreads.len() as f64, false, format!("{of}s, slowest first"))
        } else {
            by_name(spreads, of, name)
        },
        y: Axis::linear(most, true, rate.unit()),
        grid: Grid::Up,
        alternative,
    };
    plot::draw(&frame, |chart| if curve { sorted(chart, spreads) } else { columns(chart, spreads) })
}

/// As many names as fit: of hosts, which are longer, fewer.
fn by_name(spreads: &[RankSpread], of: &str, name: impl Fn(&RankSpread) -> String) -> Axis {
    let step = spreads.len().div_ceil(if of == "rank" { 16 } else { 8 }).max(1);
    let ticks = spreads
        .iter()
        .enumerate()
        .step_by(step)
        .map(|(index, spread)| (index as f64 + 0.5, name(spread)))
        .collect();
    Axis { min: 0.0, max: spreads.len().max(1) as f64, ticks, title: of.to_owned() }
}

fn columns(chart: &mut Chart<'_, '_>, spreads: &[RankSpread]) -> Drawn {
    let slowest = spreads.iter().map(|spread| spread.median).fold(f64::MAX, f64::min);
    for (index, spread) in spreads.iter().enumerate() {
        let is_slowest = spreads.len() > 1 && spread.median <= slowest;
        let fill = Look::solid(Ink::Series(usize::from(is_slowest))).stand_in().filled();
        let (from, to) = (index as f64 + 0.18, index as f64 + 0.82);
        chart.draw_series(std::iter::once(Rectangle::new([(from, spread.median), (to, 0.0)], fill)))?;
        let middle = index as f64 + 0.5;
        let whisker = plot::stroke(Look::solid(Ink::Whisker), 6);
        let path = vec![(middle, spread.min), (middle, spread.max)];
        chart.draw_series(std::iter::once(PathElement::new(path, whisker)))?;
        if is_slowest {
            let style = Look::solid(Ink::Text).stand_in().filled();
            let sign =
                EmptyElement::at((middle, spread.max)) + TriangleMarker::new((0, -px(9)), -px(5), style);
            chart.draw_series(std::iter::once(sign))?;
        }
    }
    Ok(())
}

fn sorted(chart: &mut Chart<'_, '_>, spreads: &[RankSpread]) -> Drawn {
    let mut by_median: Vec<&RankSpread> = spreads.iter().collect();
    by_median.sort_by(|a, b| a.median.total_cmp(&b.median));
    let curve = |pick: fn(&RankSpread) -> f64| -> Vec<(f64, f64)> {
        by_median.iter().enumerate().map(|(index, spread)| (index as f64 + 0.5, pick(spread))).collect()
    };
    let faint = Look { ink: Ink::Muted, dash: 2 };
    plot::line(chart, &series::thin(&curve(|s| s.min), 600), faint, 4)?;
    plot::line(chart, &series::thin(&curve(|s| s.max), 600), faint, 4)?;
    plot::line(chart, &series::thin(&curve(|s| s.median), 600), Look::series(0), 9)
}
