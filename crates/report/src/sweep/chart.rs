//! Lines over places that stand in a row.

use maud::Markup;

use crate::charts::plot::{self, Frame, Grid};
use crate::charts::scale::Axis;
use crate::charts::{Ink, Look};
use crate::text;

const WIDTH: i32 = 560;
const HEIGHT: i32 = 320;
const LEFT: i32 = 64;

/// One line of the chart.
pub struct Line {
    /// What it is.
    pub text: String,
    /// How it looks.
    pub look: Look,
    /// Place and MB/s.
    pub points: Vec<(f64, f64)>,
}

/// MB/s per pCore over `places`.
pub fn chart(places: &[String], title: &str, lines: &[Line], alternative: String) -> fault::Result<Markup> {
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    let last = places.len().saturating_sub(1) as f64;
    let ticks = places.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect();
    let (min, max) = (-0.4, last + 0.4);
    let frame = Frame {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        top: 26,
        x: Axis { min, max, ticks, title: title.to_owned() },
        y: Axis::linear(most * 1.08, true, "MB/s per pCore").shown(text::grouped),
        grid: Grid::Up,
        alternative,
    };
    plot::draw(&frame, |chart| {
        for line in lines {
            // What is the same everywhere goes through the whole chart.
            let measured = matches!(line.look.ink, Ink::Series(_));
            let mut points = line.points.clone();
            if !measured && let (Some(first), Some(end)) = (points.first().copied(), points.last().copied()) {
                points.insert(0, (min, first.1));
                points.push((max, end.1));
            }
            plot::line(chart, &points, line.look, if measured { 10 } else { 7 })?;
            if measured {
                line.points.iter().try_for_each(|point| plot::marker(chart, *point, line.look))?;
            }
        }
        Ok(())
    })
}
