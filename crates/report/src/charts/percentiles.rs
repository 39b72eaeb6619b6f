//! Latency by percentile, the way HdrHistogram plots it.

use maud::Markup;
use record::{Latency, OperationKind};

use super::plot::{self, Frame, Grid};
use super::scale::Axis;
use super::theme::Look;

/// One line per kind of operation, as far to the right as its number of operations carries.
pub fn percentiles(kinds: &[(OperationKind, Latency)], alternative: String) -> fault::Result<Markup> {
    let lines: Vec<Vec<(f64, f64)>> = kinds.iter().map(|(_, latency)| points(latency)).collect();
    let all = || lines.iter().flatten().map(|point| point.1);
    let (lowest, highest) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let nines = lines.iter().flatten().map(|point| point.0).fold(0.0, f64::max).ceil().clamp(2.0, 5.0);
    let frame = Frame {
        width: 540,
        height: 300,
        left: 62,
        top: 28,
        x: Axis::percentile(nines as u32, "percentile of operations"),
        y: Axis::latency(10f64.powf(lowest), 10f64.powf(highest), "latency"),
        grid: Grid::Up,
        alternative,
    };
    plot::draw(&frame, |chart| {
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            plot::line(chart, line, Look::series(index), 8)?;
            // On a short line the shapes would run into each other: one at its end says enough.
            let short = line.last().is_some_and(|end| end.0 < nines / 6.0);
            let marked = if short { &line[line.len() - 1..] } else { line };
            plot::markers(chart, marked, Look::series(index), index)?;
        }
        Ok(())
    })
}

/// (-log10(1 - share), log10 of ns) up to the share that one operation lies above.
fn points(latency: &Latency) -> Vec<(f64, f64)> {
    if latency.count() == 0 {
        return Vec::new();
    }
    let end = (latency.count() as f64).log10().min(5.0);
    let steps = 100;
    (0..=steps)
        .map(|step| {
            let nines = end * f64::from(step) / f64::from(steps);
            let percent = (1.0 - 10f64.powf(-nines)) * 100.0;
            let ns = latency.percentile(percent).as_nanos() as f64;
            (nines, ns.max(1.0).log10())
        })
        .collect()
}
