//! Rules about what lies between the application and the storage: the page cache of this host, and others beyond.

use host::{CounterSource, TrafficCounter};
use record::{Check, OperationKind, Outcome, PhaseResult};

use super::context::Context;
use super::work::{amount, bytes_read, bytes_written, percent, share, size};

/// Below this share seen by the storage, a read result is the page cache's.
const SEEN_TOO_LITTLE: f64 = 0.5;
/// From this share on, the storage did the work; the rest is rounding, headers and counters read a moment apart.
const SEEN_ENOUGH: f64 = 0.95;
/// A file set of this many times the memory can't be served by the cache to any extent that matters.
const SIZE_RULE: f64 = 2.0;
/// Above this share of what was written, dirty pages make a difference to the result.
const DIRTY_SHARE: f64 = 0.10;
/// The storage moved this many times what the application did: someone else, or read-ahead that is thrown away.
const FOREIGN: f64 = 1.5;

const PROOF: &str = "cache-hit-proof";

/// Did the bytes that the application moved really come from, or go to, the storage?
pub(super) fn cache_hit_proof(phase: &PhaseResult, context: &Context<'_>) -> Check {
    let (read, written) = (bytes_read(phase), bytes_written(phase));
    if read + written <= 0.0 {
        return Check::not_applicable(PROOF, "the phase moves no bytes");
    }
    if context.is_in_memory() {
        return Check::note(
            PROOF,
            format!("{} is memory: these are the rates of this host's memory and CPU", context.file_system()),
            "use a directory on the storage you want to know about",
        );
    }
    if context.uncounted_targets {
        return Check::not_applicable(
            PROOF,
            "the files are in several targets, and their bytes are not all counted, or not all at the same place",
        );
    }
    let Some(first) = phase.counters.traffic.first() else {
        return Check::not_applicable(
            PROOF,
            "nothing on this host counts the bytes below this file system's cache",
        );
    };
    let seen = Seen::of(&phase.counters.traffic, first);
    let reads = (read > 0.0).then(|| seen.reads(read, context));
    let writes = (written > 0.0).then(|| seen.writes(written, context));
    match (reads, writes) {
        (Some(reads), Some(writes)) => both(reads, writes),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => Check::not_applicable(PROOF, "the phase moves no bytes"),
    }
}

/// The worse of two, with the evidence of both.
fn both(reads: Check, writes: Check) -> Check {
    let evidence = format!("{}; {}", reads.evidence, writes.evidence);
    let worse = if reads.outcome >= writes.outcome { reads } else { writes };
    Check { evidence, ..worse }
}

/// What counters below the cache saw.
struct Seen {
    by: String,
    source: CounterSource,
    read: f64,
    written: f64,
}

impl Seen {
    fn of(traffic: &[TrafficCounter], first: &TrafficCounter) -> Self {
        let name = if traffic.len() > 1 {
            format!("{} and {} more", first.name, traffic.len() - 1)
        } else {
            first.name.clone()
        };
        let by = match first.source {
            CounterSource::Device => format!("the device {name}"),
            CounterSource::Lustre => format!("the Lustre servers ({name})"),
            CounterSource::Nfs => format!("the NFS server ({name})"),
            CounterSource::Network => format!("the network ({name})"),
        };
        Self {
            by,
            source: first.source,
            read: traffic.iter().map(|t| amount(t.read_bytes)).sum(),
            written: traffic.iter().map(|t| amount(t.written_bytes)).sum(),
        }
    }

    fn reads(&self, asked: f64, context: &Context<'_>) -> Check {
        let seen = share(self.read, asked);
        let evidence = format!(
            "{} read by the application, {} ({}) by {}",
            size(asked),
            size(self.read),
            percent(seen),
            self.by
        );
        let cached = percent((1.0 - seen).max(0.0));
        if seen >= SEEN_ENOUGH {
            Check::pass(PROOF, evidence)
        } else if seen >= SEEN_TOO_LITTLE {
            let advice =
                "use files larger than twice the memory, drop the cache before reading, or use O_DIRECT";
            Check::note(PROOF, format!("{evidence}: the page cache served {cached}"), advice)
        } else if self.source == CounterSource::Network {
            Check::note(
                PROOF,
                format!("{evidence}: either a cache served {cached}, or the bytes took another way"),
                "RDMA and servers on this host pass by these counters; if there are none, this is the cache: use O_DIRECT or larger files",
            )
        } else if context.direct {
            Check::note(
                PROOF,
                format!("{evidence}, with O_DIRECT"),
                "something below O_DIRECT answers from memory or without I/O: holes, a loop device's own cache, or a file system that ignores O_DIRECT",
            )
        } else {
            Check::fail(
                PROOF,
                format!("{evidence}: the page cache served {cached}"),
                "use files larger than twice the memory, drop the cache before reading, or use O_DIRECT",
            )
        }
    }

    fn writes(&self, asked: f64, context: &Context<'_>) -> Check {
        let seen = share(self.written, asked);
        let evidence = format!(
            "{} written by the application, {} ({}) by {}",
            size(asked),
            size(self.written),
            percent(seen),
            self.by
        );
        if seen >= SEEN_ENOUGH {
            Check::pass(PROOF, evidence)
        } else if context.fsync || context.direct {
            Check::note(
                PROOF,
                evidence,
                "something above the counter shrinks or absorbs the data: compression, blocks written twice before they left memory, or traffic these counters don't see",
            )
        } else {
            Check::note(PROOF, format!("{evidence}: the rest was left in memory"), "end the phase with fsync")
        }
    }
}

/// Could this host's memory hold what was read?
pub(super) fn working_set(phase: &PhaseResult, context: &Context<'_>, proof: &Check) -> Check {
    const RULE: &str = "working-set";
    if bytes_read(phase) <= 0.0 {
        return Check::not_applicable(RULE, "the phase reads no data");
    }
    if context.is_in_memory() {
        return Check::not_applicable(RULE, format!("{} has no cache: it is one", context.file_system()));
    }
    let memory = amount(context.environment.memory.cacheable());
    let ratio = share(amount(context.working_set), memory);
    let sizes = format!("{} of files, {} of memory for cache", context.working_set, size(memory));
    if context.direct {
        return Check::pass(RULE, format!("{sizes}; O_DIRECT passes the cache by"));
    }
    if memory <= 0.0 {
        return Check::not_applicable(RULE, "the size of the memory is not known");
    }
    if ratio >= SIZE_RULE {
        return Check::pass(RULE, format!("{sizes}: {ratio:.1} times as much"));
    }
    if proof.outcome == Outcome::Pass {
        return Check::pass(
            RULE,
            format!("{sizes}: the cache could have served it, but the counters show it did not"),
        );
    }
    let advice = format!(
        "use at least {} of files, drop the cache before reading, or use O_DIRECT",
        size(memory * SIZE_RULE)
    );
    if context.cache_dropped_before {
        let evidence =
            format!("{sizes}; the cache was dropped before, and no counter proves it stayed empty");
        return Check::note(RULE, evidence, advice);
    }
    if context.files_written_by_this_host_in_this_run {
        return Check::fail(
            RULE,
            format!("{sizes}; this host had just written them and nothing was dropped"),
            advice,
        );
    }
    Check::note(
        RULE,
        format!("{sizes}; an earlier reader on this host may have left them in the cache"),
        advice,
    )
}

/// Caches of servers and arrays can't be seen or dropped from here: the verdict says so without holding it against the run.
pub(super) fn server_cache(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "server-cache";
    if bytes_read(phase) <= 0.0 || !context.is_remote() {
        return Check::not_applicable(RULE, "no data is read from a server");
    }
    let written = if context.files_written_by_this_host_in_this_run { ", written in this run," } else { "" };
    Check::not_applicable(
        RULE,
        format!(
            "the server's memory may hold part of these {} of files{written} and this host can't see it; larger files or a pause before reading tell",
            context.working_set
        ),
    )
}

/// Entries that this host just made are answered from its own cache.
pub(super) fn metadata_cache(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "metadata-cache";
    let looks_up = |kind: &OperationKind| {
        matches!(kind, OperationKind::Stat | OperationKind::Open | OperationKind::Find)
    };
    if !phase.main.iter().any(looks_up) {
        return Check::not_applicable(RULE, "the phase looks up no entries");
    }
    if context.is_in_memory()
        || !context.files_written_by_this_host_in_this_run
        || context.cache_dropped_before
    {
        return Check::pass(RULE, "the entries were not made by this host a moment ago");
    }
    Check::note(
        RULE,
        "this host made these entries in this run: it may answer from its own entry and inode caches",
        "look at entries that another host made, or drop the caches before",
    )
}

/// Was what was written still in memory when the clock stopped?
pub(super) fn dirty_left(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "dirty-left";
    let written = bytes_written(phase);
    if written <= 0.0 {
        return Check::not_applicable(RULE, "the phase writes no data");
    }
    if context.is_in_memory() {
        return Check::not_applicable(RULE, format!("{} is never written back", context.file_system()));
    }
    let (dirty, writeback) = (amount(phase.counters.dirty_bytes), amount(phase.counters.writeback_bytes));
    let now = dirty + writeback;
    let levels = format!("{} dirty and {} being written at the end", size(dirty), size(writeback));
    if context.fsync || context.direct {
        let how = if context.fsync { "after fsync" } else { "with O_DIRECT" };
        if share(now, written) <= DIRTY_SHARE {
            return Check::pass(RULE, format!("{levels}, {how}"));
        }
        let evidence = format!("{levels}, {how}: data of others on this host");
        return Check::note(RULE, evidence, "stop other writers on this host while measuring");
    }
    let left = (now - amount(context.dirty_before)).max(0.0);
    let evidence = format!(
        "{levels}: {} of the {} written, without fsync",
        percent(share(left, written)),
        size(written)
    );
    if share(left, written) <= DIRTY_SHARE {
        Check::pass(RULE, evidence)
    } else {
        Check::fail(
            RULE,
            evidence,
            "this is the rate of memory: end the phase with fsync, or write more than memory holds",
        )
    }
}

/// Does the write-back of earlier data disturb this phase?
pub(super) fn write_back_before(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "write-back-before";
    let moved = bytes_read(phase) + bytes_written(phase);
    if moved <= 0.0 || context.is_in_memory() {
        return Check::not_applicable(RULE, "the phase moves no bytes to or from storage");
    }
    let before = amount(context.dirty_before);
    let evidence = format!("{} dirty or being written when the phase began", size(before));
    if share(before, moved) <= DIRTY_SHARE {
        Check::pass(RULE, evidence)
    } else {
        Check::note(
            RULE,
            evidence,
            "its write-back shares the storage with this phase: sync and wait before it",
        )
    }
}

/// Does somebody else use the storage, or does read-ahead fetch what nobody wants?
pub(super) fn foreign_traffic(phase: &PhaseResult, context: &Context<'_>) -> Check {
    const RULE: &str = "foreign-traffic";
    let own = bytes_read(phase) + bytes_written(phase);
    let seen: f64 =
        phase.counters.traffic.iter().map(|t| amount(t.read_bytes) + amount(t.written_bytes)).sum();
    if own <= 0.0 || phase.counters.traffic.is_empty() {
        return Check::not_applicable(RULE, "no bytes to compare");
    }
    let evidence = format!("{} moved below the cache for {} of this phase", size(seen), size(own));
    if share(seen, own) <= FOREIGN {
        return Check::pass(RULE, evidence);
    }
    let advice = if context.direct {
        "look for others that use this storage (`iostat`, `nfsiostat`), and for journals and RAID parity"
    } else {
        "others use this storage, or read-ahead and partial pages multiply small transfers: compare with O_DIRECT"
    };
    Check::note(RULE, evidence, advice)
}
