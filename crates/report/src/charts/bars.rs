//! Measured against required, per pCore.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::text;

const ROW: i32 = 62;

/// One bar; figures in MB/s per pCore.
#[derive(Debug, Clone)]
pub struct Bar {
    /// What it is: `work write`.
    pub name: String,
    /// Which series' colour it has.
    pub series: usize,
    /// Lowest, median and highest of the repetitions; `None` if not measured.
    pub measured: Option<(f64, f64, f64)>,
    /// What is required.
    pub required: Option<f64>,
}

/// Horizontal bars with whiskers from the lowest to the highest, and the line of what is required.
pub fn bars(bars: &[Bar], unit: &str, alternative: String) -> fault::Result<Markup> {
    let reach = |bar: &Bar| bar.measured.map_or(0.0, |(_, _, max)| max).max(bar.required.unwrap_or(0.0));
    let most = bars.iter().map(reach).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let rows = bars.len() as f64;
    let frame = Frame {
        width: 560,
        height: 60 + ROW * i32::try_from(bars.len()).unwrap_or(100),
        left: 124,
        top: 10,
        x: Axis::linear(most * 1.3, false, unit),
        y: Axis {
            min: 0.0,
            max: rows.max(1.0),
            ticks: bars
                .iter()
                .enumerate()
                .map(|(index, bar)| (rows - index as f64 - 0.6, text::shorten(&bar.name, 16)))
                .collect(),
            title: String::new(),
        },
        grid: Grid::Across,
        alternative,
    };
    plot::draw(&frame, |chart| {
        for (index, bar) in bars.iter().enumerate() {
            draw(chart, bar, rows - index as f64)?;
        }
        Ok(())
    })
}

/// A row from `top` down to `top - 1`: the requirement's figure, then the bar.
fn draw(chart: &mut Chart<'_, '_>, bar: &Bar, top: f64) -> Drawn {
    let (upper, middle, lower) = (top - 0.36, top - 0.6, top - 0.84);
    let words = |text: String, ink: Ink, at: (f64, f64), pos: Pos, dx: i32| {
        EmptyElement::at(at) + Text::new(text, (dx, 0), plot::label(ink).pos(pos))
    };
    let mut end = 0.0;
    let mut figure = "not measured".to_owned();
    if let Some((min, median, max)) = bar.measured {
        let fill = Look::solid(Ink::Series(bar.series)).stand_in().filled();
        chart.draw_series(std::iter::once(Rectangle::new([(0.0, upper), (median, lower)], fill)))?;
        let whisker = plot::stroke(Look::solid(Ink::Whisker), 7);
        let cap = |x: f64| vec![(x, top - 0.5), (x, top - 0.7)];
        for path in [vec![(min, middle), (max, middle)], cap(min), cap(max)] {
            chart.draw_series(std::iter::once(PathElement::new(path, whisker)))?;
        }
        end = max;
        figure = format!("{median:.1} MB/s");
    }
    if let Some(required) = bar.required {
        let path = vec![(required, top - 0.28), (required, top - 0.92)];
        plot::line(chart, &path, Look::solid(Ink::Halo), 26)?;
        plot::line(chart, &path, Look { ink: Ink::Required, dash: 1 }, 11)?;
        let centre = Pos::new(HPos::Center, VPos::Center);
        let caption =
            words(format!("required {required:.1} MB/s"), Ink::Required, (required, top - 0.15), centre, 0);
        chart.draw_series(std::iter::once(caption))?;
        // The figure stands behind the line if it would otherwise cross it.
        if end < required && bar.measured.is_some() {
            end = required;
        }
    }
    let left = Pos::new(HPos::Left, VPos::Center);
    chart.draw_series(std::iter::once(words(figure, Ink::Text, (end, middle), left, px(8)))).map(|_| ())
}
