//! The matrix of a run: a table per share of reads, seeks down and transfer sizes across.

use std::fmt::Write as _;

use record::{Matrix, MatrixPoint};
use units::Ratio;

use crate::paint;

/// Characters of the first column, and of each figure. N is what is in flight by Little's law.
const FIRST: usize = 11;
const FIGURE: usize = 9;

/// The matrix with its proof, for people.
pub fn section(matrix: &Matrix) -> String {
    let mut text =
        format!("{} ({})\n", paint::strong("read share x seek x transfer size"), matrix.conditions());
    for read in matrix.reads() {
        text.push_str(&table(matrix, read));
    }
    for line in matrix.proof() {
        text.push_str(&line);
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn table(matrix: &Matrix, read: Ratio) -> String {
    let transfers = matrix.transfers();
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "\n{:<FIRST$}", format!("{read} read"));
    for transfer in &transfers {
        let _ = write!(text, "{:>width$}", transfer.to_string(), width = 4 * FIGURE);
    }
    let _ = write!(text, "\n{:<FIRST$}", "seek");
    for _ in &transfers {
        for name in ["IOPS", "MiB/s", "ms", "N"] {
            let _ = write!(text, "{name:>FIGURE$}");
        }
    }
    for seek in matrix.seeks() {
        let _ = write!(text, "\n{:<FIRST$}", seek.word());
        for transfer in &transfers {
            text.push_str(&cells(matrix.at(read, seek, *transfer)));
        }
    }
    text.push('\n');
    text
}

fn cells(point: Option<&MatrixPoint>) -> String {
    let Some(point) = point else { return format!("{:>FIGURE$}", "-").repeat(4) };
    format!(
        "{:>FIGURE$.1}{:>FIGURE$.2}{:>FIGURE$.3}{:>FIGURE$.2}",
        point.iops().get(),
        point.bandwidth().as_mib(),
        point.latency.mean().as_secs_f64() * 1e3,
        point.in_flight()
    )
}
