//! The keywords of each kind of statement, and what becomes of each.

use spec::nearest;

/// Kinds of statements, in the order in which they must appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Parameters for everything.
    General,
    /// A host.
    Host,
    /// A storage definition: a file.
    Storage,
    /// A workload definition on storage definitions.
    Workload,
    /// A file system definition: a tree.
    FileSystem,
    /// A workload definition on a tree.
    FileWorkload,
    /// A run definition.
    Run,
}

impl Kind {
    /// The kind that a statement's first keyword names.
    pub fn of(word: &str) -> Self {
        match word {
            "hd" | "host" => Self::Host,
            "sd" => Self::Storage,
            "wd" => Self::Workload,
            "fsd" => Self::FileSystem,
            "fwd" => Self::FileWorkload,
            "rd" => Self::Run,
            _ => Self::General,
        }
    }

    /// What it is called.
    pub const fn word(self) -> &'static str {
        match self {
            Self::General => "general parameter",
            Self::Host => "hd",
            Self::Storage => "sd",
            Self::Workload => "wd",
            Self::FileSystem => "fsd",
            Self::FileWorkload => "fwd",
            Self::Run => "rd",
        }
    }

    /// Its keywords.
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::General => GENERAL,
            Self::Host => HOST,
            Self::Storage => STORAGE,
            Self::Workload => WORKLOAD,
            Self::FileSystem => FILE_SYSTEM,
            Self::FileWorkload => FILE_WORKLOAD,
            Self::Run => RUN,
        }
    }
}

/// What becomes of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It is read.
    Read,
    /// It changes nothing here, and the person is told why.
    Noted(&'static str),
    /// It is refused, for this reason.
    Refused(&'static str),
}

/// A keyword.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its full name.
    pub name: &'static str,
    /// What becomes of it.
    pub support: Support,
}

/// Why a word is no keyword.
#[derive(Debug, PartialEq, Eq)]
pub enum NoKey {
    /// It begins several.
    Ambiguous(Vec<&'static str>),
    /// It is none; one may be near.
    Unknown(Option<&'static str>),
}

/// The keyword that `word` is, or the shortest unique beginning of (two letters at least).
pub fn find(kind: Kind, word: &str) -> Result<&'static Key, NoKey> {
    let lower = word.to_ascii_lowercase();
    if let Some(exact) = kind.keys().iter().find(|key| key.name == lower) {
        return Ok(exact);
    }
    let beginning: Vec<&Key> = kind.keys().iter().filter(|key| key.name.starts_with(&lower)).collect();
    let same = |key: &&Key| canonical(kind, key.name) == canonical(kind, beginning[0].name);
    match beginning.as_slice() {
        [first, ..] if lower.len() >= 2 && beginning.iter().all(same) => Ok(first),
        [_, _, ..] if lower.len() >= 2 => {
            Err(NoKey::Ambiguous(beginning.iter().map(|key| key.name).collect()))
        }
        _ => Err(NoKey::Unknown(nearest(&lower, kind.keys().iter().map(|key| key.name)))),
    }
}

const fn read(name: &'static str) -> Key {
    Key { name, support: Support::Read }
}

const fn noted(name: &'static str, why: &'static str) -> Key {
    Key { name, support: Support::Noted(why) }
}

const fn refused(name: &'static str, why: &'static str) -> Key {
    Key { name, support: Support::Refused(why) }
}

const COMMANDS: &str = "a file that somebody else wrote must not run commands";
const JOURNAL: &str = "data is verified from seed, file and offset alone, without a journal (`-v`); nothing recovers a crash of the host";
const PROCESSES: &str = "threads are I/Os in flight here, without processes to share them out";
const OUTPUT: &str = "all of it is in the record";
const ERRORS: &str = "failures are counted, and the run is not valid; it does not stop at a number of them";
const REPLAY: &str = "traces are not replayed";
const OTHER_OS: &str = "it belongs to another operating system";

const GENERAL: &[Key] = &[
    noted("abort_failed_skew", "the shares that workloads had are in the record"),
    read("compratio"),
    read("compressionratio"),
    noted("create_anchors", "an anchor that is not there is made, and removed again"),
    noted("data_errors", ERRORS),
    noted("debug", OUTPUT),
    refused("dedupflipflop", "duplicates are drawn from contents that stay"),
    read("dedupratio"),
    refused("dedupsets", "duplicates are drawn from a fixed number of contents"),
    read("dedupunit"),
    refused("endcmd", COMMANDS),
    read("formatsds"),
    noted("formatxfersize", "files are written first with calls of up to 1 MiB"),
    noted("histogram", "latencies are in the record as distributions"),
    noted("ios_per_jvm", PROCESSES),
    refused("journal", JOURNAL),
    noted("journal_max", JOURNAL),
    read("loop"),
    noted("messagescan", "what the kernel counted is in the record"),
    refused("monitor", COMMANDS),
    refused("pattern", "the data are unique, or shrink as `compratio` and `dedupratio` say"),
    refused("patterns", "the data are unique, or shrink as `compratio` and `dedupratio` say"),
    noted("port", "no ports are needed"),
    noted("report", OUTPUT),
    refused("showlba", "a line per I/O costs what it measures"),
    refused("startcmd", COMMANDS),
    noted("swat", OUTPUT),
    noted("timeout", "a rank that does not come back is named when the run is stopped"),
    read("validate"),
];

const HOST: &[Key] = &[
    read("hd"),
    read("host"),
    read("clients"),
    noted("jvms", PROCESSES),
    noted("master", "agents talk over their ssh connection: nothing connects back"),
    refused("mount", COMMANDS),
    noted("shell", "hosts are reached by ssh"),
    read("system"),
    read("user"),
    noted("vdbench", "nothing needs to be installed there"),
];

const STORAGE: &[Key] = &[
    read("sd"),
    read("align"),
    read("compratio"),
    read("count"),
    read("dedupratio"),
    refused("dedupsets", "duplicates are drawn from a fixed number of contents"),
    read("dedupunit"),
    noted("format", "files are written first whenever something reads them"),
    read("hitarea"),
    read("hd"),
    read("host"),
    refused("journal", JOURNAL),
    read("lun"),
    read("offset"),
    read("openflags"),
    read("range"),
    refused("replay", REPLAY),
    refused("resetbus", OTHER_OS),
    refused("resetlun", OTHER_OS),
    read("size"),
    refused("streamcontext", "there are no stream contexts"),
    read("threads"),
    refused("tracefile", REPLAY),
];

const WORKLOAD: &[Key] = &[
    read("wd"),
    read("hd"),
    read("hitarea"),
    read("host"),
    read("iorate"),
    read("openflags"),
    refused("priority", "a workload with a rate of its own (`iorate=`) goes beside the others without one"),
    read("range"),
    read("rdpct"),
    read("readpct"),
    read("rhpct"),
    read("sd"),
    read("seekpct"),
    read("skew"),
    read("streams"),
    read("stride"),
    read("threads"),
    read("whpct"),
    read("xfersize"),
    read("xfersizes"),
];

const FILE_SYSTEM: &[Key] = &[
    read("fsd"),
    read("anchor"),
    noted("cleanup", "files are always removed afterwards"),
    refused("count", "one tree for each test: write an `fsd` and an `rd` for each"),
    read("depth"),
    read("distribution"),
    read("files"),
    refused("journal", JOURNAL),
    noted("log", OUTPUT),
    noted("mask", "names follow one scheme"),
    read("openflags"),
    noted("shared", "ranks of all hosts share the tree"),
    read("size"),
    read("sizes"),
    read("totalsize"),
    read("width"),
    read("workingsetsize"),
    read("wss"),
];

const FILE_WORKLOAD: &[Key] = &[
    read("fwd"),
    read("fileio"),
    read("fileselect"),
    read("fsd"),
    read("hd"),
    read("host"),
    read("openflags"),
    read("operation"),
    read("operations"),
    read("rdpct"),
    read("readpct"),
    read("skew"),
    read("stopafter"),
    read("threads"),
    read("xfersize"),
    read("xfersizes"),
];

const RUN: &[Key] = &[
    read("rd"),
    read("compratio"),
    read("curve"),
    read("depth"),
    read("distribution"),
    read("elapsed"),
    refused("endcmd", COMMANDS),
    read("files"),
    read("forcompratio"),
    read("fordepth"),
    read("forfiles"),
    read("forhitarea"),
    read("format"),
    read("foroperation"),
    read("foroperations"),
    read("forrdpct"),
    read("forreadpct"),
    read("forrhpct"),
    read("forseekpct"),
    read("forsize"),
    read("forsizes"),
    read("forthreads"),
    read("fortotal"),
    read("fortotalsize"),
    read("forwhpct"),
    read("forwidth"),
    read("forxfersize"),
    read("forxfersizes"),
    read("fsd"),
    read("fwd"),
    read("fwdrate"),
    read("hd"),
    read("hitarea"),
    read("host"),
    read("interval"),
    read("iorate"),
    read("maxdata"),
    read("openflags"),
    read("operation"),
    read("operations"),
    read("pause"),
    read("rdpct"),
    read("readpct"),
    refused("replay", REPLAY),
    read("rhpct"),
    read("sd"),
    read("seekpct"),
    read("size"),
    read("sizes"),
    refused("startcmd", COMMANDS),
    read("stopcurve"),
    read("threads"),
    read("totalsize"),
    read("warmup"),
    read("wd"),
    read("whpct"),
    read("width"),
    read("xfersize"),
    read("xfersizes"),
];

/// The one name of keywords that mean the same.
pub fn canonical(kind: Kind, name: &'static str) -> &'static str {
    match name {
        "size" if kind == Kind::Storage => "size",
        "readpct" => "rdpct",
        "xfersizes" => "xfersize",
        "compressionratio" => "compratio",
        "wss" => "workingsetsize",
        "size" => "sizes",
        "operations" => "operation",
        "foroperations" => "foroperation",
        "forreadpct" => "forrdpct",
        "forxfersizes" => "forxfersize",
        "forsize" => "forsizes",
        "fortotalsize" => "fortotal",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 7] = [
        Kind::General,
        Kind::Host,
        Kind::Storage,
        Kind::Workload,
        Kind::FileSystem,
        Kind::FileWorkload,
        Kind::Run,
    ];

    #[test]
    fn the_guides_abbreviations_are_found() {
        for (kind, word, name) in [
            (Kind::Run, "el", "elapsed"),
            (Kind::Run, "in", "interval"),
            (Kind::Run, "io", "iorate"),
            (Kind::Run, "forx", "forxfersize"),
            (Kind::Workload, "xf", "xfersize"),
            (Kind::Run, "ELAPSED", "elapsed"),
            (Kind::Storage, "th", "threads"),
            (Kind::Workload, "rd", "rdpct"),
            (Kind::Workload, "se", "seekpct"),
        ] {
            assert_eq!(find(kind, word).map(|key| canonical(kind, key.name)).ok(), Some(name), "{word}");
        }
    }

    #[test]
    fn a_beginning_of_several_and_strangers_are_told() {
        assert!(matches!(find(Kind::Workload, "s"), Err(NoKey::Unknown(_))), "one letter is too short");
        assert!(matches!(find(Kind::Workload, "st"), Err(NoKey::Ambiguous(names)) if names.len() == 2));
        assert!(matches!(find(Kind::Run, "elapsd"), Err(NoKey::Unknown(Some("elapsed")))));
    }

    #[test]
    fn every_keyword_is_found_by_its_own_name() {
        for kind in KINDS {
            for key in kind.keys() {
                assert_eq!(find(kind, key.name).map(|found| found.name).ok(), Some(key.name));
            }
        }
    }
}
