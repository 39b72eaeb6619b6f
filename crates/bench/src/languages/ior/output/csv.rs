//! `summaryFormat=CSV` and `saveRankPerformanceDetailsCSV`.

use std::fmt::Write as _;

use record::TestRecord;

use super::super::{READ, Test, WRITE};
use super::Document;

/// A line for each phase of each repetition.
pub fn rows(document: &Document) -> String {
    let mut text = String::from(
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n",
    );
    for (test, _, figures) in &document.tests {
        let p = &test.parameters;
        for row in &figures.rows {
            let Some(moved) = row.moved else { continue };
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{},{:.4},{:.4},{:.9},{:.4},{:.4},{:.9},{:.9},{:.9},{:.9},{},{}",
                row.access,
                moved.bandwidth,
                moved.iops,
                moved.latency,
                p.block_size as f64 / 1024.0,
                p.transfer_size as f64 / 1024.0,
                moved.open,
                moved.transfer,
                moved.close,
                row.total,
                p.tasks,
                row.repetition
            );
        }
    }
    text
}

/// A line for each task of each phase. IOR takes the expected size for what a task moved; `strict` does, too.
pub fn ranks(test: &Test, result: Option<&TestRecord>) -> String {
    let mut text =
        String::from("access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n");
    let expected = (test.parameters.block_size * test.parameters.segments) as f64;
    let phases =
        result.into_iter().flat_map(|test| &test.repetitions).flat_map(|repetition| &repetition.phases);
    for phase in phases.filter(|phase| [WRITE, READ].contains(&phase.name.as_str())) {
        for rank in &phase.ranks {
            let whole = rank.closed_ns as f64 / 1e9;
            let inner = rank.synced_ns.saturating_sub(rank.opened_ns) as f64 / 1e9;
            let bytes = if test.strict { expected } else { rank.bytes.get() as f64 };
            let _ = writeln!(
                text,
                "{},{},{},{},{},{}",
                phase.name,
                rank.rank,
                scientific(whole),
                scientific(inner),
                scientific(bytes / whole),
                scientific(bytes / inner)
            );
        }
    }
    text
}

/// `%.10e` as C writes it: two digits of exponent at least.
fn scientific(number: f64) -> String {
    let text = format!("{number:.10e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::scientific;

    #[test]
    fn exponents_are_those_of_c() {
        assert_eq!(scientific(0.001_234), "1.2340000000e-03");
        assert_eq!(scientific(1.5e12), "1.5000000000e+12");
    }
}
