use std::time::Duration;

use sync::{End, Record};
use units::{Bytes, format_duration};

/// What a sync did, in a few lines.
pub fn of(record: &Record) -> String {
    let (entries, bytes) = (&record.entries, &record.bytes);
    let elapsed = Duration::from_nanos(record.elapsed_ns);
    if record.dry_run {
        return format!("{} entries looked at; nothing was done", entries.scanned);
    }
    let counted = [
        (entries.copied, "copied"),
        (entries.moved, "moved"),
        (entries.made, "made"),
        (entries.linked, "linked"),
        (entries.updated, "attributes set"),
        (entries.deleted, "deleted"),
        (entries.skipped, "unchanged"),
        (entries.left_out, "left out"),
        (entries.vanished, "vanished"),
        (entries.unstable, "unstable"),
        (entries.failed, "failed"),
    ];
    let parts: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let sent = Bytes::new(bytes.sent_bytes);
    let mut lines = vec![
        if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") },
        format!("{sent} sent in {} ({})", format_duration(elapsed), sent.per(elapsed)),
    ];
    if bytes.saved_bytes > 0 {
        lines.push(format!("{} were there already", Bytes::new(bytes.saved_bytes)));
    }
    if bytes.verified_bytes > 0 {
        lines.push(format!("{} read back and found right", Bytes::new(bytes.verified_bytes)));
    }
    if let Some(watched) = &record.watched {
        lines.push(format!(
            "watched by {}: {} rounds, {} rescans, {} gaps, {} changes left",
            watched.by, watched.rounds, watched.rescans, watched.gaps, watched.waiting
        ));
    }
    match record.state {
        End::Complete => {}
        End::Partial => lines.push("partial: each entry above was not copied".to_owned()),
        End::Stopped => lines.push("stopped: the same command goes on from here".to_owned()),
    }
    lines.join("\n")
}
