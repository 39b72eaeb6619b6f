//! The matrix of a run as rows and heat maps: share of reads x seek x transfer size.

use record::{Matrix, MatrixPoint};
use units::{Bytes, Ratio};

use crate::charts::{Heat, HeatCell};
use crate::table::Table;

/// A figure of the matrix: what it is called, how it is read off, written, and coloured.
pub struct Figure {
    /// `IOPS`.
    pub title: &'static str,
    /// Its value.
    pub value: fn(&MatrixPoint) -> f64,
    /// Which colour of the series.
    pub colour: usize,
}

/// What a matrix shows.
pub const FIGURES: [Figure; 3] = [
    Figure { title: "IOPS", value: |point| point.iops().get(), colour: 0 },
    Figure { title: "MiB/s", value: |point| point.bandwidth().as_mib(), colour: 2 },
    Figure { title: "mean latency, ms", value: |point| point.latency.mean().as_secs_f64() * 1e3, colour: 1 },
];

/// One heat map of the matrix.
pub fn heat<'a>(matrix: &Matrix, figure: &'a Figure) -> Heat<'a> {
    let transfers = matrix.transfers();
    let mut rows = Vec::new();
    for read in matrix.reads() {
        for seek in matrix.seeks() {
            let cell = |transfer: &Bytes| {
                let value = (figure.value)(matrix.at(read, seek, *transfer)?);
                Some((value, written(value)))
            };
            rows.push((format!("{}, {}", reads(read), seek.word()), transfers.iter().map(cell).collect()));
        }
    }
    rows.retain(|(_, cells): &(String, Vec<HeatCell>)| cells.iter().any(Option::is_some));
    Heat {
        title: figure.title,
        columns: transfers.iter().map(ToString::to_string).collect(),
        rows,
        colour: figure.colour,
        alternative: format!(
            "{} by share of reads, seek and transfer size, {}. The table below has the same figures.",
            figure.title,
            matrix.conditions()
        ),
    }
}

fn reads(read: Ratio) -> String {
    match read.get() {
        share if share >= 1.0 => "read".to_owned(),
        share if share <= 0.0 => "write".to_owned(),
        _ => format!("{read} read"),
    }
}

/// Three digits that say something.
fn written(value: f64) -> String {
    match value {
        value if value >= 100.0 => crate::text::grouped(value.round()),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// A row per point, with its proof.
pub fn table(matrix: &Matrix) -> Table {
    let mut table =
        Table::new(format!("{}: {}", matrix.test, matrix.conditions())).words(["Reads", "Seek"]).figures([
            "Transfer size",
            "IOPS",
            "MiB/s",
            "Mean ms",
            "p99 ms",
            "In flight (Little)",
            "Bytes / (IOPS x transfer)",
        ]);
    for point in ordered(matrix) {
        table.row(vec![
            point.read.to_string().into(),
            point.seek.word().into(),
            point.transfer.to_string().into(),
            format!("{:.1}", point.iops().get()).into(),
            format!("{:.2}", point.bandwidth().as_mib()).into(),
            format!("{:.3}", point.latency.mean().as_secs_f64() * 1e3).into(),
            format!("{:.3}", point.latency.percentile(99.0).as_secs_f64() * 1e3).into(),
            format!("{:.2} of {}", point.in_flight(), matrix.depth).into(),
            format!("{:.3}", point.bytes_agree()).into(),
        ]);
    }
    table
}

/// The points by share of reads, seek and transfer size.
pub fn ordered(matrix: &Matrix) -> Vec<&MatrixPoint> {
    let mut points = Vec::new();
    for read in matrix.reads() {
        for seek in matrix.seeks() {
            points.extend(
                matrix.transfers().into_iter().filter_map(|transfer| matrix.at(read, seek, transfer)),
            );
        }
    }
    points
}
