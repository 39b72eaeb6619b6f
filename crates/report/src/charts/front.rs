//! Cost against throughput, one point per design.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::text;

const WIDTH: i32 = 1080;
const HEIGHT: i32 = 430;
const LEFT: i32 = 70;

/// One design.
#[derive(Debug, Clone)]
pub struct Point {
    /// Throughput in MB/s.
    pub rate: f64,
    /// US dollars per month.
    pub cost: f64,
    /// Which series' colour and shape it has; `None` for those without a name.
    pub series: Option<usize>,
    /// Whether no design beats it in everything.
    pub front: bool,
    /// Its place in the ranking, if it should be written beside it.
    pub label: Option<String>,
}

/// Points on log scales, those of the front with a ring, and the line of what is required.
pub fn front(points: &[Point], required: Option<f64>, alternative: String) -> fault::Result<Markup> {
    let rates = points.iter().map(|point| point.rate).chain(required);
    let costs = points.iter().map(|point| point.cost);
    let frame = Frame {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        top: 28,
        x: Axis::decades(
            rates,
            text::whole_mb,
            "delivered at the requirements' mixes, all storages together (log scale)",
        ),
        y: Axis::decades(costs, text::short_usd, "US dollars per month, storage and clients (log scale)"),
        grid: Grid::Up,
        alternative,
    };
    let wide = f64::from(WIDTH - LEFT - plot::MARGIN_RIGHT) / (frame.x.max - frame.x.min);
    let high = f64::from(HEIGHT - 28 - 43) / (frame.y.max - frame.y.min);
    let top = (frame.y.min, frame.y.max);
    plot::draw(&frame, |chart| {
        if let Some(required) = required.filter(|required| *required > 0.0) {
            requirement(chart, required.log10(), top)?;
        }
        for point in points.iter().rev() {
            dot(chart, point)?;
        }
        labels(chart, points, (wide, high))
    })
}

fn requirement(chart: &mut Chart<'_, '_>, at: f64, (bottom, top): (f64, f64)) -> Drawn {
    plot::line(chart, &[(at, bottom), (at, top)], Look { ink: Ink::Required, dash: 1 }, 10)?;
    let style = plot::label(Ink::Required).pos(Pos::new(HPos::Left, VPos::Center));
    let words = EmptyElement::at((at, top)) + Text::new("required".to_owned(), (px(7), px(9)), style);
    chart.draw_series(std::iter::once(words)).map(|_| ())
}

fn dot(chart: &mut Chart<'_, '_>, point: &Point) -> Drawn {
    let at = (point.rate.log10(), point.cost.log10());
    let look = point.series.map_or(Look::solid(Ink::Muted), |index| Look::solid(Ink::Series(index)));
    if point.front {
        let ring = plot::stroke(Look::solid(Ink::Whisker), 6);
        chart.draw_series(std::iter::once(Circle::new(at, px(8), ring)))?;
    }
    plot::marker(chart, at, look)
}

/// Labels that find room: right of their point, else left of it, else above or below.
fn labels(chart: &mut Chart<'_, '_>, points: &[Point], (wide, high): (f64, f64)) -> Drawn {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for point in points {
        let Some(label) = &point.label else { continue };
        let at = (point.rate.log10(), point.cost.log10());
        let (x, y) = (at.0 * wide, at.1 * high);
        let width = label.chars().count() as f64 * 8.0;
        let places = [
            (x + 11.0, y, HPos::Left, px(11), 0),
            (x - 11.0 - width, y, HPos::Right, -px(11), 0),
            (x - width / 2.0, y + 18.0, HPos::Center, 0, -px(18)),
            (x - width / 2.0, y - 18.0, HPos::Center, 0, px(18)),
        ];
        let free = |left: f64, y: f64| {
            taken.iter().all(|(l, r, t)| left > r + 2.0 || left + width < l - 2.0 || (y - t).abs() > 14.0)
        };
        let Some((left, y, side, dx, dy)) = places.into_iter().find(|place| free(place.0, place.1)) else {
            continue;
        };
        taken.push((left, left + width, y));
        let style = plot::label(Ink::Text).pos(Pos::new(side, VPos::Center));
        let words = EmptyElement::at(at) + Text::new(label.clone(), (dx, dy), style);
        chart.draw_series(std::iter::once(words))?;
    }
    Ok(())
}
