//! One phase over time, all repetitions over each other.

use maud::Markup;

use super::plot::{self, Frame, Grid};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::facts::phases::Phase;
use crate::facts::series;

/// Points per line: as many as the chart has room for.
const POINTS: usize = 600;
/// Points of all lines together, which bounds the size of the page.
const ALL_POINTS: usize = 4800;

fn frame(phase: &Phase<'_>, y: Axis, alternative: String) -> Frame {
    let ends = phase.results.iter().map(|(_, result)| result.last_done.elapsed_ns as f64 / 1e9);
    let x = Axis::linear(ends.fold(0.0, f64::max), false, "seconds since the phase began");
    Frame { width: 540, height: 270, left: 62, top: 28, x, y, grid: Grid::Up, alternative }
}

fn limit(lines: usize) -> usize {
    (ALL_POINTS / lines.max(1)).clamp(40, POINTS)
}

/// Throughput over time; colour, dashes and markers tell the repetitions apart. `most` keeps phases on one scale.
pub fn rate_over_time(phase: &Phase<'_>, most: f64, alternative: String) -> fault::Result<Markup> {
    let rate = phase.rate();
    let frame = frame(phase, Axis::linear(most, true, rate.unit()), alternative);
    plot::draw(&frame, |chart| {
        for (index, (_, result)) in phase.results.iter().enumerate() {
            let points = series::thin(&series::rates(result, rate), limit(phase.results.len()));
            if !points.is_empty() {
                plot::line(chart, &points, Look::series(index), 7)?;
                plot::markers(chart, &points, Look::series(index), index)?;
            }
        }
        Ok(())
    })
}

/// The looks of p50 and p99 lines: colour by percentile, dashes by repetition.
pub fn latency_look(percentile: usize, repetition: usize) -> Look {
    Look { ink: Ink::Series(percentile), ..Look::series(repetition) }
}

/// p50 and p99 over time on a log scale.
pub fn latency_over_time(phase: &Phase<'_>, alternative: String) -> fault::Result<Option<Markup>> {
    let lines: Vec<(Look, Vec<(f64, f64)>)> = phase
        .results
        .iter()
        .enumerate()
        .flat_map(|(index, (_, result))| {
            [50.0, 99.0].into_iter().enumerate().map(move |(percentile, percent)| {
                let points =
                    series::thin(&series::latencies(result, percent), limit(phase.results.len() * 2));
                let points = points.into_iter().map(|(at, ns)| (at, ns.log10())).collect();
                (latency_look(percentile, index), points)
            })
        })
        .collect();
    let all = || lines.iter().flat_map(|(_, points): &(Look, Vec<(f64, f64)>)| points).map(|point| point.1);
    if all().next().is_none() {
        return Ok(None);
    }
    let (lowest, highest) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let y = Axis::latency(10f64.powf(lowest), 10f64.powf(highest), "latency");
    let frame = frame(phase, y, alternative);
    plot::draw(&frame, |chart| {
        for (index, (look, points)) in lines.iter().enumerate().filter(|(_, (_, points))| !points.is_empty())
        {
            plot::line(chart, points, *look, 7)?;
            plot::markers(chart, points, *look, index)?;
        }
        Ok(())
    })
    .map(Some)
}
