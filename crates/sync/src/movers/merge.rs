//! One record of what all movers did.

use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

use crate::record::{End, Entries, Failure, MOST_FAILURES, Record, Sizes};

/// What came of a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Verdict {
    /// It was gone through.
    Done(Box<Record>),
    /// The job as a whole could not go on.
    Failed { refused: bool, message: String, hint: Option<String> },
}

impl Verdict {
    /// Why the job could not go on.
    pub fn failed(fault: &Fault) -> Self {
        let hint = fault.hint_text().map(str::to_owned);
        Self::Failed { refused: fault.kind() == Kind::Refused, message: fault.message().to_owned(), hint }
    }

    /// For the queue.
    pub fn written(&self) -> fault::Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Fault::new(Kind::Bug, "cannot write a record").caused_by(error))
    }

    /// From the queue.
    pub fn read(text: &str) -> fault::Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            Fault::new(Kind::Corrupt, "the queue has a record that can't be read")
                .hint("are all movers of one version?")
                .caused_by(error)
        })
    }

    /// As if this process had done it alone.
    pub fn into_result(self) -> fault::Result<Record> {
        match self {
            Self::Done(record) => Ok(*record),
            Self::Failed { refused, message, hint } => {
                let fault = Fault::new(if refused { Kind::Refused } else { Kind::Io }, message);
                Err(match hint {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                })
            }
        }
    }
}

/// Adds what one part did.
pub fn add(sum: &mut Record, part: Record) {
    sum.state = worse(sum.state, part.state);
    sum.entries = add_entries(sum.entries, part.entries);
    sum.bytes = add_sizes(sum.bytes, part.bytes);
    let room = MOST_FAILURES.saturating_sub(sum.failures.len());
    sum.failures.extend(part.failures.into_iter().take(room));
}

/// Adds a part that was given up.
pub fn add_given_up(sum: &mut Record, path: &[u8], words: &str) {
    sum.state = worse(sum.state, End::Partial);
    sum.entries.failed += 1;
    if sum.failures.len() < MOST_FAILURES {
        let hint = Some("all below it was left as it is; sync again when it can be done".to_owned());
        sum.failures.push(Failure { path: crate::span::shown(path), reason: words.to_owned(), hint });
    }
}

const fn worse(a: End, b: End) -> End {
    match (a, b) {
        (End::Stopped, _) | (_, End::Stopped) => End::Stopped,
        (End::Partial, _) | (_, End::Partial) => End::Partial,
        (End::Complete, End::Complete) => End::Complete,
    }
}

const fn add_entries(a: Entries, b: Entries) -> Entries {
    Entries {
        scanned: a.scanned + b.scanned,
        copied: a.copied + b.copied,
        moved: a.moved + b.moved,
        made: a.made + b.made,
        linked: a.linked + b.linked,
        updated: a.updated + b.updated,
        skipped: a.skipped + b.skipped,
        left_out: a.left_out + b.left_out,
        deleted: a.deleted + b.deleted,
        unstable: a.unstable + b.unstable,
        vanished: a.vanished + b.vanished,
        failed: a.failed + b.failed,
    }
}

const fn add_sizes(a: Sizes, b: Sizes) -> Sizes {
    Sizes {
        read_bytes: a.read_bytes + b.read_bytes,
        sent_bytes: a.sent_bytes + b.sent_bytes,
        saved_bytes: a.saved_bytes + b.saved_bytes,
        verified_bytes: a.verified_bytes + b.verified_bytes,
    }
}

/// What was done between two looks at the same counters.
pub fn between(mut record: Record, before: (Entries, Sizes)) -> Record {
    let (a, b) = (&mut record.entries, before.0);
    for (now, then) in [
        (&mut a.scanned, b.scanned),
        (&mut a.copied, b.copied),
        (&mut a.moved, b.moved),
        (&mut a.made, b.made),
        (&mut a.linked, b.linked),
        (&mut a.updated, b.updated),
        (&mut a.skipped, b.skipped),
        (&mut a.left_out, b.left_out),
        (&mut a.deleted, b.deleted),
        (&mut a.unstable, b.unstable),
        (&mut a.vanished, b.vanished),
        (&mut a.failed, b.failed),
    ] {
        *now -= then;
    }
    let (a, b) = (&mut record.bytes, before.1);
    a.read_bytes -= b.read_bytes;
    a.sent_bytes -= b.sent_bytes;
    a.saved_bytes -= b.saved_bytes;
    a.verified_bytes -= b.verified_bytes;
    record
}
