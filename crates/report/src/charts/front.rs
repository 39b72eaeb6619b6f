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
    let words = EmptyElement::at((at, top)) + Text::new("needed".to_owned(), (px(7), px(9)), style);
    chart.draw_series(std::iter::once(words)).map(|_| ())
}

fn dot(chart: &mut Chart<'_, '_>, point: &Point) -> Drawn {
    let at = (point.rate.log10(), point.cost.log10());
    let look = point.series.map_or(Look::solid(Ink::Muted), |index| Look::solid(Ink::Series(index)));
    if point.front {
        let ring = plot::stroke(Look::solid(Ink::Whisker), 5);
        chart.draw_series(std::iter::once(Circle::new(at, px(6), ring)))?;
    }
    plot::marker(chart, at, look)
}

/// Labels that find room beside their point without covering another one.
fn labels(chart: &mut Chart<'_, '_>, points: &[Point], (wide, high): (f64, f64)) -> Drawn {
    let place = |point: &Point| (point.rate.log10() * wide, point.cost.log10() * high);
    let size = |point: &Point| if point.front { 8.0 } else { 5.0 };
    let dots = points.iter().map(|point| (place(point), (2.0 * size(point), 2.0 * size(point))));
    let mut taken: Vec<Area> = dots.map(|(at, size)| Area::around(at, size)).collect();
    for (index, point) in points.iter().enumerate() {
        let Some(label) = &point.label else { continue };
        let (x, y) = place(point);
        let (width, away) = (label.chars().count() as f64 * 8.0, size(point) + 3.0);
        let places = [
            ((x + away + width / 2.0, y), HPos::Left, (away, 0.0)),
            ((x - away - width / 2.0, y), HPos::Right, (-away, 0.0)),
            ((x, y + away + 6.0), HPos::Center, (0.0, away + 6.0)),
            ((x, y - away - 6.0), HPos::Center, (0.0, -away - 6.0)),
        ];
        let free =
            |area: &Area| taken.iter().enumerate().all(|(other, known)| other == index || !known.meets(area));
        let found = places
            .into_iter()
            .map(|(at, side, by)| (Area::around(at, (width, 13.0)), side, by))
            .find(|(area, ..)| free(area));
        let Some((area, side, by)) = found else { continue };
        taken.push(area);
        let style = plot::label(Ink::Text).pos(Pos::new(side, VPos::Center));
        let by = ((by.0 * f64::from(px(1))) as i32, -(by.1 * f64::from(px(1))) as i32);
        let at = (point.rate.log10(), point.cost.log10());
        let words = EmptyElement::at(at) + Text::new(label.clone(), by, style);
        chart.draw_series(std::iter::once(words))?;
    }
    Ok(())
}

/// A box in pixels.
struct Area {
    at: (f64, f64),
    size: (f64, f64),
}

impl Area {
    const fn around(at: (f64, f64), size: (f64, f64)) -> Self {
        Self { at, size }
    }

    fn meets(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64, sizes: f64| (a - b).abs() < sizes / 2.0;
        near(self.at.0, other.at.0, self.size.0 + other.size.0)
            && near(self.at.1, other.at.1, self.size.1 + other.size.1)
    }
}
