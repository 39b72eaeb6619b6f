//! The whole run as it happened: throughput of all phases one after the other.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use record::TestRecord;

use super::plot::{self, Chart, Drawn, Frame, Grid};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::facts::phases::Rate;
use crate::facts::series;

const WIDTH: i32 = 1080;
const LEFT: i32 = 58;
const POINTS: usize = 600;

struct Stretch<'a> {
    name: &'a str,
    series: usize,
    repetition: u32,
    from: f64,
    to: f64,
    points: Vec<(f64, f64)>,
}

/// Throughput over the run's time; every other phase has a shaded ground, and is named above if there is room.
pub fn timeline(test: &TestRecord, rate: Rate, alternative: String) -> fault::Result<Markup> {
    let stretches = stretches(test, rate);
    let begin = stretches.iter().map(|s| s.from).fold(f64::MAX, f64::min).min(1e12);
    let end = stretches.iter().map(|s| s.to).fold(0.0, f64::max);
    let most = stretches.iter().flat_map(|s| &s.points).map(|p| p.1).fold(0.0, f64::max);
    let frame = Frame {
        width: WIDTH,
        height: 250,
        left: LEFT,
        top: 28,
        x: Axis::linear(end - begin, false, "seconds since the test began"),
        y: Axis::linear(most * 1.22, true, rate.unit()),
        grid: Grid::Up,
        alternative,
    };
    let pixels = f64::from(WIDTH - LEFT - plot::MARGIN_RIGHT) / frame.x.max;
    let top = frame.y.max;
    plot::draw(&frame, |chart| {
        for (index, stretch) in stretches.iter().enumerate() {
            draw(chart, stretch, begin, (index, top, pixels))?;
        }
        Ok(())
    })
}

fn stretches(test: &TestRecord, rate: Rate) -> Vec<Stretch<'_>> {
    let names = test.phase_names();
    let length: usize = test.repetitions.iter().flat_map(|r| &r.phases).map(|p| p.series.len()).sum();
    let mut stretches = Vec::new();
    for repetition in &test.repetitions {
        for phase in &repetition.phases {
            let from = phase.started_ns as f64 / 1e9;
            let points = if rate == Rate::Bytes && phase.last_done.bytes.get() == 0 {
                Vec::new()
            } else {
                let share = POINTS * phase.series.len() / length.max(1);
                series::thin(&series::rates(phase, rate), share.max(20))
            };
            stretches.push(Stretch {
                name: &phase.name,
                series: names.iter().position(|name| *name == phase.name).unwrap_or(0),
                repetition: repetition.number,
                from,
                to: from + phase.last_done.elapsed_ns as f64 / 1e9,
                points: points.into_iter().map(|(at, value)| (from + at, value)).collect(),
            });
        }
    }
    stretches
}

fn draw(
    chart: &mut Chart<'_, '_>,
    stretch: &Stretch<'_>,
    begin: f64,
    (index, top, pixels): (usize, f64, f64),
) -> Drawn {
    let (from, to) = (stretch.from - begin, stretch.to - begin);
    if index.is_multiple_of(2) {
        let ground = Look::solid(Ink::Band).stand_in().filled();
        chart.draw_series(std::iter::once(Rectangle::new([(from, top), (to, 0.0)], ground)))?;
    }
    let edge = plot::stroke(Look { ink: Ink::Grid, dash: 0 }, 4);
    chart.draw_series(std::iter::once(PathElement::new(vec![(from, 0.0), (from, top)], edge)))?;
    let points: Vec<(f64, f64)> = stretch.points.iter().map(|(at, value)| (at - begin, *value)).collect();
    if !points.is_empty() {
        let look = Look::series(stretch.series);
        plot::line(chart, &points, look, 7)?;
    }
    let name = format!("{} {}", stretch.repetition, stretch.name);
    if (to - from) * pixels < name.chars().count() as f64 * 7.5 + 8.0 {
        return Ok(());
    }
    let pos = Pos::new(HPos::Center, VPos::Center);
    let name = EmptyElement::at((f64::midpoint(from, to), top * 0.93))
        + Text::new(name, (0, 0), plot::label(Ink::Text).pos(pos));
    chart.draw_series(std::iter::once(name)).map(|_| ())
}
