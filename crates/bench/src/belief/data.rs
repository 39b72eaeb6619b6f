//! Rules about the data itself.

use record::{Check, OperationKind, PhaseResult};

use super::context::Context;
use super::work::{amount, bytes_read, bytes_written, percent, share, size};

/// Files with blocks for less than this share of their length have holes. The rest allows for tails and inline data.
const THIN: f64 = 0.95;
/// More than this share reserved but unwritten is answered with zeros from metadata often enough to matter.
const UNWRITTEN: f64 = 0.01;

/// A server with more than this many times the mean has the last word.
const UNEVEN: f64 = 1.25;

/// Was what came back what had been written?
pub(super) fn verification(phase: &PhaseResult) -> Check {
    const RULE: &str = "verification";
    let bytes = phase.verified_bytes;
    if phase.verify_failures > 0 {
        return Check::fail(
            RULE,
            format!(
                "{} words of 8 bytes in {bytes} verified were not what had been written",
                phase.verify_failures
            ),
            "the storage, the memory or the network damages data: do not trust this storage before the cause is known",
        );
    }
    if amount(bytes) > 0.0 {
        Check::pass(RULE, format!("{bytes} verified, all as written"))
    } else {
        Check::not_applicable(RULE, "verification was not asked for")
    }
}

/// Did a search find what it was looking for?
pub(super) fn found(phase: &PhaseResult) -> Check {
    const RULE: &str = "found";
    let evidence = |matched: u64| format!("{matched} of {} entries matched", phase.operation_count());
    match phase.matched {
        None => Check::not_applicable(RULE, "nothing in particular was looked for"),
        Some(0) => Check::fail(
            RULE,
            evidence(0),
            "a search that finds nothing may not have seen what was written: look at `looking_for` and at the target's clock",
        ),
        Some(matched) => Check::pass(RULE, evidence(matched)),
    }
}

/// Do the files that are read have data behind them?
pub(super) fn thin_files(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "thin-files";
    let Some(files) = context.allocated.filter(|_| bytes_read(phase) > 0.0) else {
        return Check::not_applicable(RULE, "no files were read whose blocks were looked at");
    };
    let apparent = amount(files.apparent_bytes);
    if apparent <= 0.0 {
        return Check::not_applicable(RULE, "the files are empty");
    }
    let allocated = share(amount(files.allocated_bytes), apparent);
    let unwritten = share(amount(files.unwritten_bytes), apparent);
    let evidence = format!(
        "{} of files have {} of blocks ({}), {} of it never written",
        files.apparent_bytes,
        files.allocated_bytes,
        percent(allocated),
        files.unwritten_bytes
    );
    let advice = "holes and unwritten blocks are answered without I/O: write the files with real data first";
    if unwritten > UNWRITTEN {
        return Check::fail(RULE, evidence, advice);
    }
    if allocated >= THIN {
        return Check::pass(RULE, evidence);
    }
    // Compressing and remote file systems show fewer blocks, or show them late.
    if context.is_remote()
        || context.is_in_memory()
        || matches!(context.file_system(), "zfs" | "btrfs" | "bcachefs" | "f2fs")
    {
        return Check::note(
            RULE,
            evidence,
            "this file system may compress or count late; if neither, the files have holes",
        );
    }
    Check::fail(RULE, evidence, advice)
}

/// Are the files spread evenly over the servers?
pub(super) fn server_balance(phase: &PhaseResult) -> Check {
    const RULE: &str = "server-balance";
    let Some(layout) = &phase.layout else {
        return Check::not_applicable(
            RULE,
            "the file system does not tell where files lie, or none were written",
        );
    };
    // What lies on the MDT is meant to be little.
    let parts: Vec<_> = layout.parts.iter().filter(|part| !part.name.starts_with("MDT")).collect();
    let Some(fullest) = parts.iter().max_by_key(|part| part.bytes) else {
        return Check::not_applicable(RULE, "the files hold nothing");
    };
    let all: f64 = parts.iter().map(|part| amount(part.bytes)).sum();
    let mean = all / parts.len() as f64;
    let over = share(amount(fullest.bytes), mean);
    let (what, usual) = if layout.kind == "lustre" { ("OSTs", "stripes") } else { ("bricks", "files") };
    let words = layout.layouts.first().map_or("", |count| count.layout.as_str());
    let evidence = format!(
        "{} of {} files over {} {what} ({words}): {} on {}, {} on the average",
        layout.files,
        layout.files_in_all,
        parts.len(),
        fullest.bytes,
        fullest.name,
        size(mean)
    );
    if over <= UNEVEN {
        Check::pass(RULE, evidence)
    } else {
        Check::note(
            RULE,
            evidence,
            format!(
                "the fullest one serves most and all wait for it: use more {usual}, or as many files as divide evenly"
            ),
        )
    }
}

/// Could something below shrink the data?
pub(super) fn compressible_data(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "compressible-data";
    let data = [OperationKind::Read, OperationKind::Write, OperationKind::Create, OperationKind::ReadFile];
    if !phase.main.iter().any(|kind| data.contains(kind)) || bytes_read(phase) + bytes_written(phase) <= 0.0 {
        return Check::not_applicable(RULE, "the phase moves no bytes");
    }
    let Some(what) = &context.data_is_compressible else {
        return Check::pass(RULE, "every 8 bytes of data are unique: nothing below can shrink them");
    };
    match context.compressor() {
        Some(compressor) => Check::fail(
            RULE,
            format!("{what} on {compressor}"),
            "most of the data never reaches the storage: use the default, incompressible data",
        ),
        None => Check::note(
            RULE,
            format!("the data can be shrunk ({what})"),
            "arrays and file services may compress or deduplicate unseen: use the default data unless this is what you mean to store",
        ),
    }
}
