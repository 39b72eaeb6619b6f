//! `rhel_iotest.sh` and `iotest.sh` of SAS: their result block, in a `.results` or a `.log` file.
//!
//! Their rate is the size of one file over the mean time of the processes, per process; "megabytes" are MiB.

use fault::Result;
use record::OperationKind;
use units::Bytes;

use crate::found::{Found, FoundPhase, FoundTest};
use crate::page::Page;

const BLOCK: Bytes = Bytes::kib(64);
const MIB: f64 = 1_048_576.0;

/// Reads a result block.
pub fn read(page: &Page) -> Result<Found> {
    let command = page.after("INVOCATION:").unwrap_or_default().to_owned();
    let iterations = first_number(page, "iterations:")?;
    let Some(iterations) = iterations.filter(|count| (1.0..1e6).contains(count)) else {
        return Err(page.missing("`iterations:   N`, the number of processes"));
    };
    let gigabytes = first_number(page, "filesize:")?;
    let mut test = FoundTest {
        name: "iotest".to_owned(),
        kind: "iotest",
        target: page.after("target dir:").unwrap_or_default().to_owned(),
        summary: format!("{iterations} processes, 64 KiB sequential, fsync at end"),
        ranks: Some(iterations as u32),
        pcores: Some(iterations as u32),
        ..FoundTest::default()
    };
    test.set("transfer_size", "64 KiB");
    if let Some(size) = page.after("filesize:") {
        test.set("block_size", size);
    }
    for (word, kind) in [("write", OperationKind::Write), ("read", OperationKind::Read)] {
        if let Some(phase) = phase(page, word, kind, iterations, gigabytes)? {
            test.add(0, phase);
        }
    }
    if test.is_empty() {
        return Err(page.missing("`read throughput rate:   N megabytes/second per physical core`"));
    }
    let hostname = hostname(page);
    Ok(Found { tool: "rhel_iotest", command, hostname, tests: vec![test], ..Found::default() })
}

fn phase(
    page: &Page,
    word: &str,
    kind: OperationKind,
    iterations: f64,
    gigabytes: Option<f64>,
) -> Result<Option<FoundPhase>> {
    let label = format!("{word} throughput rate");
    let Some((number, line)) = page.lines().find(|(_, line)| line.contains(&label)) else { return Ok(None) };
    let value = line.split_once(':').map(|(_, value)| value.trim()).unwrap_or_default();
    let value = value.split_whitespace().next().unwrap_or_default();
    let rate = page.number(number, "a rate in megabytes/second", value)?;
    if rate == 0.0 {
        return Err(page.wrong(number, "a rate above zero", line));
    }
    let seconds = first_number(page, &format!("{word} time:"))?;
    let (mib, seconds) = match (gigabytes, seconds) {
        (Some(size), _) if size > 0.0 => (size * 1024.0, size * 1024.0 / rate),
        (_, Some(time)) if time > 0.0 => (rate * time, time),
        // A rate without a size: as much as one second of it.
        _ => (rate, 1.0),
    };
    let bytes = Bytes::new((mib * iterations * MIB) as u64);
    let mut phase = FoundPhase::new(word, kind, bytes / BLOCK, bytes, seconds);
    phase.transfer = Some(BLOCK);
    phase.stated(format!("{rate} MiB/s per process, in the mean {seconds:.2} s each"));
    Ok(Some(phase))
}

fn first_number(page: &Page, label: &str) -> Result<Option<f64>> {
    let found =
        page.lines().find_map(|(number, line)| Some((number, line.trim_start().strip_prefix(label)?)));
    let Some((number, rest)) = found else { return Ok(None) };
    let word = rest.split_whitespace().next().unwrap_or_default();
    page.number(number, &format!("a number after `{label}`"), word).map(Some)
}

/// `rhel_iotest_HOST_yymmdd-HHMM.results`.
fn hostname(page: &Page) -> String {
    let name = page.file().file_stem().unwrap_or_default().to_string_lossy();
    let host = name.strip_prefix("rhel_iotest_").and_then(|rest| rest.rsplit_once('_'));
    host.map(|(host, _)| host.to_owned()).unwrap_or_default()
}
