//! The field's words, for people who are new to them.

/// Word and meaning.
pub const WORDS: [(&str, &str); 15] = [
    ("Requirement", "What the grid needs from the storage, in MB/s for every pCore that works on it."),
    ("pCore", "A physical core of a processor. Two vCPUs share one pCore where hyper-threading is on."),
    ("Rank", "One numbered participant of a run, usually one per pCore. Each has its own files."),
    ("Phase", "One timed step of a test, such as write or read. All ranks start it together."),
    ("Repetition", "One pass over all phases. Several show how much the figures vary by themselves."),
    ("Median", "The middle one of the repetitions: half are lower, half are higher."),
    (
        "Per pCore",
        "The SAS rule: the bytes one rank moved over the mean time of all ranks, fsync and close included.",
    ),
    ("First done, last done", "When the first and when the last rank had done its share of the phase."),
    ("Tail", "The time between first done and last done. In it the storage serves fewer and fewer ranks."),
    ("Wear-out", "Ranks go on after the deadline until all have done as much as the furthest one."),
    ("fsync", "The call that returns when written data would survive a power cut."),
    (
        "Latency percentile",
        "The time that this share of the operations did not exceed. p99 is the time 99 % kept; 1 % took longer.",
    ),
    ("Belief", "What the checks say together: valid, valid with notes, or not valid."),
    ("Page cache", "Memory the kernel keeps file data in. Reads from it do not measure the storage."),
    (
        "MB and MiB",
        "1 MB is 1 000 000 bytes, 1 MiB is 1 048 576. What the SAS test prints as megabytes are MiB.",
    ),
];
