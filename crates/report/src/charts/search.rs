//! Throughput and latency over the load of a search, with the load that was found.

use maud::Markup;
use plotters::element::{EmptyElement, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use record::{Load, Search, SearchPoint};

use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::text;

const WIDTH: i32 = 560;
const HEIGHT: i32 = 300;
const LEFT: i32 = 76;

/// Operations per second over the load.
pub fn throughput(search: &Search, alternative: String) -> fault::Result<Markup> {
    let points = by_load(search, |point| point.operations_per_second.get());
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let y = Axis::linear(most * 1.05, true, "operations per second").shown(text::grouped);
    draw(search, y, &[(points, 0)], alternative)
}

/// p50 and p99 over the load, on a log scale, with the target.
pub fn latency(search: &Search, alternative: String) -> fault::Result<Markup> {
    let log = |ns: u64| (ns.max(1) as f64).log10();
    let p50 = by_load(search, |point| log(point.latency_p50_ns));
    let p99 = by_load(search, |point| log(point.latency_p99_ns));
    let all = || {
        p50.iter().chain(&p99).map(|point| 10f64.powf(point.1)).chain(search.target_ns.map(|ns| ns as f64))
    };
    let (least, most) =
        all().fold((f64::INFINITY, 1.0f64), |(least, most), own| (least.min(own), most.max(own)));
    draw(search, Axis::latency(least, most, "latency (log scale)"), &[(p50, 1), (p99, 2)], alternative)
}

/// Points sorted by load; of runs at the same load, all.
fn by_load(search: &Search, value: impl Fn(&SearchPoint) -> f64) -> Vec<(f64, f64)> {
    let place = |point: &SearchPoint| point.load.unwrap_or_else(|| point.operations_per_second.get());
    let mut points: Vec<(f64, f64)> =
        search.points.iter().map(|point| (place(point), value(point))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if doubles(search) {
        points.iter_mut().for_each(|point| point.0 = point.0.max(1.0).log2());
    }
    points
}

/// Loads that are doubled stand on a log scale.
fn doubles(search: &Search) -> bool {
    matches!(search.load, Load::Ranks | Load::QueueDepth)
}

fn x_axis(search: &Search) -> Axis {
    let loads = by_load(search, |_| 0.0);
    let most = loads.iter().map(|point| point.0).fold(0.0, f64::max);
    let title = search.load.title();
    if !doubles(search) {
        return Axis::linear(most * 1.03, false, title).shown(text::grouped);
    }
    let ticks =
        (0..=most.ceil() as i32).map(|power| (f64::from(power), 2f64.powi(power).to_string())).collect();
    Axis { min: -0.15, max: most.ceil() + 0.3, ticks, title: title.to_owned() }
}

fn draw(
    search: &Search,
    y: Axis,
    lines: &[(Vec<(f64, f64)>, usize)],
    alternative: String,
) -> fault::Result<Markup> {
    let (bottom, top) = (y.min, y.max);
    let target = search.target_ns.filter(|_| lines.len() > 1).map(|ns| (ns.max(1) as f64).log10());
    let frame = Frame {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        top: 26,
        x: x_axis(search),
        y,
        grid: Grid::Up,
        alternative,
    };
    let (left, right) = (frame.x.min, frame.x.max);
    let found = search.found.map(|load| if doubles(search) { load.max(1.0).log2() } else { load });
    plot::draw(&frame, |chart| {
        if let Some(found) = found {
            plot::line(chart, &[(found, bottom), (found, top)], Look { ink: Ink::Required, dash: 2 }, 8)?;
            words(
                chart,
                (found, top),
                search.load.words(search.found.unwrap_or(0.0)),
                found > f64::midpoint(left, right),
            )?;
        }
        if let Some(target) = target {
            plot::line(chart, &[(left, target), (right, target)], Look { ink: Ink::Required, dash: 1 }, 6)?;
        }
        for (points, index) in lines {
            let look = Look::solid(Ink::Series(*index));
            plot::line(chart, points, look, 8)?;
            points.iter().try_for_each(|point| plot::marker(chart, *point, look))?;
        }
        Ok(())
    })
}

/// Words beside the line of what was found, towards the middle.
fn words(chart: &mut Chart<'_, '_>, at: (f64, f64), text: String, to_the_left: bool) -> Drawn {
    let (side, dx) = if to_the_left { (HPos::Right, -px(5)) } else { (HPos::Left, px(5)) };
    let style = plot::label(Ink::Required).pos(Pos::new(side, VPos::Top));
    let element = EmptyElement::at(at) + Text::new(text, (dx, px(2)), style);
    chart.draw_series(std::iter::once(element)).map(|_| ())
}
