//! mdtest's options: those it has, those that can't be, and what is done in another way.

use fault::Result;

use super::super::grammar::{Known, Line, wrong};
use super::Mdtest;

/// Flags, options with a value, and what each means.
pub const OPTIONS: [(char, bool, &str); 38] = [
    ('a', true, "interface; POSIX only"),
    ('b', true, "directories per directory [1]"),
    ('B', true, "no barriers between phases: refused"),
    ('c', false, "one task creates for all"),
    ('C', false, "only create"),
    ('d', true, "directories under test, DIR or DIR@DIR with -u [./out]"),
    ('D', false, "only directories"),
    ('e', true, "bytes to read from each file [0]"),
    ('E', false, "only read files"),
    ('f', true, "first number of tasks"),
    ('F', false, "only files"),
    ('G', true, "seed of the data"),
    ('h', false, "help"),
    ('i', true, "iterations [1]"),
    ('I', true, "items per directory"),
    ('k', false, "make files with mknod"),
    ('l', true, "last number of tasks"),
    ('L', false, "items in the deepest directories only"),
    ('n', true, "items per task"),
    ('N', true, "stat, read and remove the items of the task this many further [0]"),
    ('p', true, "seconds to wait before each phase"),
    ('P', false, "show rates and times"),
    ('r', false, "only remove"),
    ('R', false, "stat and read in a random order"),
    ('s', true, "step between numbers of tasks [1]"),
    ('S', false, "one set of files for all tasks"),
    ('t', false, "changing to the task's directory is in the time: it always is"),
    ('T', false, "only stat"),
    ('u', false, "a tree for each task"),
    ('U', false, "only rename directories"),
    ('v', false, "say more"),
    ('V', true, "say this much"),
    ('w', true, "bytes to write to each file [0]"),
    ('W', true, "stop creating files after so many seconds; then all create as many as the furthest"),
    ('x', true, "file for the number of items created, for -T, -E and -r of later runs"),
    ('X', false, "compare what is read"),
    ('y', false, "fsync each file"),
    ('Y', false, "sync at the end of each phase"),
];
const MORE: [(char, bool, &str); 2] =
    [('z', true, "depth of the tree [0]"), ('Z', false, "show times instead of rates")];
const LONG: [(&str, bool); 13] = [
    ("dataPacketType", true),
    ("random-seed", true),
    ("verify-write", false),
    ("posix.odirect", false),
    ("run-cmd-before-phase", true),
    ("run-cmd-after-phase", true),
    ("savePerOpDataCSV", true),
    ("saveRankPerformanceDetails", true),
    ("print-all-procs", false),
    ("showRankStatistics", false),
    ("warningAsErrors", false),
    ("allocateBufferOnGPU", true),
    ("help", false),
];

/// The options as the grammar needs them.
pub fn known() -> Vec<Known> {
    let short = OPTIONS.iter().chain(&MORE).map(|(letter, value, _)| {
        let option = Known { takes_value: *value, ..Known::flag(*letter) };
        if *letter == 'X' { option.or("verify-read") } else { option }
    });
    let long = LONG.iter().map(|(name, value)| Known { takes_value: *value, ..Known::long_flag(name) });
    short.chain(long).collect()
}

/// A line for each option.
pub fn help() -> String {
    let lines = OPTIONS.iter().chain(&MORE).map(|(letter, value, what)| {
        let value = if *value { " N" } else { "" };
        format!("  -{letter}{value:<3} {what}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What can't be done, each by name and with its reason.
pub fn refuse(line: &Line) -> Result<()> {
    let refused = [
        ("-B", "phases would overlap, and rates mean nothing (mdtest 4.1 refuses it, too)", "leave it out"),
        (
            "--run-cmd-before-phase",
            "commands are not run from a benchmark's command line",
            "use a `forebay mdtest` for each phase (-C, -T, -r) and run commands between them",
        ),
        (
            "--run-cmd-after-phase",
            "commands are not run from a benchmark's command line",
            "use a `forebay mdtest` for each phase (-C, -T, -r) and run commands between them",
        ),
        (
            "--saveRankPerformanceDetails",
            "every rank is in the record",
            "`forebay runs export latest --as json`",
        ),
        ("--allocateBufferOnGPU", "buffers are in memory", "leave it out"),
    ];
    for (name, why, fix) in refused {
        if line.has(name) {
            return Err(wrong(format!("mdtest: `{name}` is not supported: {why}")).hint(fix));
        }
    }
    match line.text("-a") {
        Some(api) if !api.eq_ignore_ascii_case("POSIX") => {
            Err(wrong(format!("mdtest: `-a {api}` is not supported: this measures POSIX file systems"))
                .hint("mount the storage and leave out -a"))
        }
        _ => Ok(()),
    }
}

/// What is done otherwise than mdtest 4.1 does it, in words.
pub fn deviations(line: &Line, mdtest: &Mdtest) -> Vec<String> {
    let mut told = Vec::new();
    if mdtest.strict {
        return told;
    }
    let mut tell = |text: &str| told.push(text.to_owned());
    if !mdtest.full_paths {
        tell(
            "items are named in their directory, opened once; mdtest walks the whole path for each (`--full-paths` does)",
        );
    }
    if mdtest.show_times {
        tell(
            "the table of times is in seconds per phase and says so; mdtest calls the same values ms/op (--strict-mdtest)",
        );
    }
    if line.flag("-Y") {
        tell("-Y flushes the file system under test and no other; mdtest runs `sync` for all of them");
    }
    if line.has("--dataPacketType") && mdtest.write_bytes.get() > 0 {
        tell(
            "data is unique and incompressible whatever --dataPacketType says: others flatter storage that compresses",
        );
    }
    if line.flag("--print-all-procs") || line.flag("--showRankStatistics") {
        tell("every rank is in the record: `forebay runs show`, `forebay runs report`");
    }
    if line.flag("--warningAsErrors") {
        tell("--warningAsErrors changes nothing: what mdtest warns of ends the run");
    }
    tell("mdtest sleeps for a second before each number of tasks; this does not");
    told
}
