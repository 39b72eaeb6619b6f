//! The ini file: every key of IO500's with its default; unknown ones are refused with the nearest.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use units::Bytes;

use super::super::grammar::size;

/// Section, key, default and meaning.
const KEYS: [(&str, &str, &str, &str); 33] = [
    ("global", "datadir", "./datafiles", "The directory where the files are made"),
    ("global", "timestamp-datadir", "TRUE", "Use a subdirectory with the time of the start"),
    ("global", "resultdir", "./results", "The directory for results"),
    ("global", "timestamp-resultdir", "TRUE", "Use a subdirectory with the time of the start"),
    ("global", "api", "POSIX", "POSIX, with options of it behind: POSIX --posix.odirect"),
    (
        "global",
        "drop-caches",
        "FALSE",
        "Drop this host's clean pages of the files before each phase that reads",
    ),
    ("global", "drop-caches-cmd", "", "Not run: the files' own pages are dropped, without root"),
    ("global", "io-buffers-on-gpu", "FALSE", "Must stay FALSE"),
    ("global", "verbosity", "1", "Ignored: the record has everything"),
    ("global", "scc", "FALSE", "Rules of the student cluster competition: 30 s"),
    ("global", "dataPacketType", "timestamp", "Data of ior: timestamp, offset, incompressible, random"),
    ("debug", "stonewall-time", "300", "Seconds of each write phase; anything but 300 is INVALID"),
    ("debug", "pause-dir", "", "Must stay empty"),
    ("ior-easy", "API", "", "As in [global]"),
    ("ior-easy", "transferSize", "2m", "Bytes of one call"),
    ("ior-easy", "blockSize", "9920000m", "Most bytes of each process; lowered to what fits"),
    ("ior-easy", "filePerProc", "TRUE", "A file for each process"),
    ("ior-easy", "uniqueDir", "FALSE", "A directory for each process"),
    ("ior-easy", "run", "TRUE", "Run these phases"),
    ("ior-easy", "verbosity", "", "Ignored"),
    ("ior-hard", "API", "", "As in [global]"),
    (
        "ior-hard",
        "segmentCount",
        "10000000",
        "Most segments of 47008 bytes per process; lowered to what fits",
    ),
    ("ior-hard", "collective", "", "Must stay FALSE: it is MPI-IO's"),
    ("ior-hard", "run", "TRUE", "Run these phases"),
    ("ior-hard", "verbosity", "", "Ignored"),
    ("mdtest-easy", "n", "1000000", "Most files of each process"),
    ("mdtest-easy", "run", "TRUE", "Run these phases"),
    ("mdtest-hard", "n", "1000000", "Most files of each process"),
    ("mdtest-hard", "files-per-dir", "", "Files in each directory: no deadline then, INVALID"),
    ("mdtest-hard", "run", "TRUE", "Run these phases"),
    ("find", "run", "TRUE", "Run this phase"),
    ("find-easy", "run", "TRUE", "Run this phase of the extended mode"),
    ("find-hard", "run", "TRUE", "Run this phase of the extended mode"),
];
/// Keys of the find.
const FIND: [&str; 7] = [
    "external-script",
    "external-mpi-args",
    "external-extra-args",
    "nproc",
    "pfind-queue-length",
    "pfind-steal-next",
    "pfind-parallelize-single-dir-access-using-hashing",
];
/// Sections of single phases: each may have `API` and `run`, those of ior-hard `collective` too.
const PHASE_SECTIONS: [&str; 12] = [
    "ior-easy-write",
    "mdtest-easy-write",
    "ior-hard-write",
    "mdtest-hard-write",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
];
/// Sections of the extended mode whose phases there are not: md-workbench mixes four operations in one loop.
const MD_WORKBENCH: [&str; 4] =
    ["mdworkbench", "mdworkbench-create", "mdworkbench-bench", "mdworkbench-delete"];

/// A configuration, with all defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    values: BTreeMap<(String, String), String>,
}

impl Config {
    /// Reads the text of an ini file.
    pub fn read(text: &str, name: &str) -> Result<Self> {
        let mut values: BTreeMap<(String, String), String> = KEYS
            .iter()
            .map(|(section, key, value, _)| (((*section).to_owned(), (*key).to_owned()), (*value).to_owned()))
            .collect();
        let mut section = String::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let place = format!("`{name}` line {number}");
            if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                title.trim().clone_into(&mut section);
                check_section(&place, &section)?;
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(wrong(format!("{place}: expected `key = value` or `[section]`, found `{line}`")));
            };
            let (key, value) = (key.trim(), value.trim());
            check_key(&place, &section, key)?;
            values.insert((section.clone(), key.to_owned()), value.to_owned());
        }
        let config = Self { values };
        config.check(name)?;
        Ok(config)
    }

    fn text(&self, section: &str, key: &str) -> &str {
        self.values.get(&(section.to_owned(), key.to_owned())).map_or("", String::as_str)
    }

    /// Whether a switch is on.
    fn on(&self, section: &str, key: &str) -> bool {
        ["true", "1", "yes"].contains(&self.text(section, key).to_lowercase().as_str())
    }

    fn number(&self, section: &str, key: &str) -> Result<u64> {
        let text = self.text(section, key);
        text.parse().map_err(|_| wrong(format!("[{section}] `{key} = {text}` is no whole number")))
    }

    fn bytes(&self, section: &str, key: &str) -> Result<Bytes> {
        let text = self.text(section, key);
        let bytes = size(text).filter(|bytes| bytes.get() > 0);
        bytes.ok_or_else(|| wrong(format!("[{section}] `{key} = {text}` is no size")))
    }

    fn check(&self, name: &str) -> Result<()> {
        for ((section, key), value) in &self.values {
            let api = value.split_whitespace().next().unwrap_or_default();
            if key.eq_ignore_ascii_case("api") && !["", "POSIX"].contains(&api) {
                return Err(wrong(format!(
                    "`{name}` [{section}] {key} = {value}: only POSIX can be measured"
                ))
                .hint("mount the storage and use `api = POSIX`"));
            }
        }
        for phase in ["ior-hard-write", "ior-hard-read"] {
            let api = self.api(phase, "ior-hard");
            if api.contains("odirect") && self.runs(phase) {
                return Err(wrong(format!(
                    "`{name}`: `{api}` for {phase}, whose calls of 47008 bytes are no multiple of 512"
                ))
                .hint("set `API = POSIX` in [ior-hard], and in [mdtest-hard]: their sizes do not go with O_DIRECT"));
            }
        }
        let refused = [
            (self.on("global", "io-buffers-on-gpu"), "io-buffers-on-gpu", "buffers are in memory"),
            (!self.text("debug", "pause-dir").is_empty(), "pause-dir", "phases follow each other"),
            (
                PHASE_SECTIONS.into_iter().chain(["ior-hard"]).any(|section| self.on(section, "collective")),
                "collective",
                "collective I/O is MPI-IO's",
            ),
            (
                ["find", "find-easy", "find-hard"]
                    .into_iter()
                    .any(|section| !self.text(section, "external-script").is_empty()),
                "external-script",
                "a file that somebody else wrote must not run commands; the built-in find is parallel",
            ),
        ];
        if let Some((_, key, why)) = refused.into_iter().find(|(set, ..)| *set) {
            return Err(wrong(format!("`{name}`: `{key}` is not supported: {why}")).hint("leave it out"));
        }
        for phase in ["find", "find-easy", "find-hard"] {
            self.find_ranks(phase)?;
        }
        self.bytes("ior-easy", "transferSize")?;
        self.bytes("ior-easy", "blockSize")?;
        for (section, key) in [
            ("ior-hard", "segmentCount"),
            ("mdtest-easy", "n"),
            ("mdtest-hard", "n"),
            ("debug", "stonewall-time"),
        ] {
            if self.number(section, key)? == 0 {
                return Err(wrong(format!("`{name}` [{section}] `{key} = 0` leaves nothing to do")));
            }
        }
        Ok(())
    }

    /// `datadir` and `resultdir`, with the time of the start behind them where that is asked for.
    pub fn directories(&self, timestamp: &str) -> (PathBuf, PathBuf) {
        let of = |key: &str, stamped: &str| {
            let directory = PathBuf::from(self.text("global", key));
            if self.on("global", stamped) { directory.join(timestamp) } else { directory }
        };
        (of("datadir", "timestamp-datadir"), of("resultdir", "timestamp-resultdir"))
    }

    /// Seconds of each write phase; `scc` makes it 30 where nothing else is said.
    pub fn stonewall(&self) -> Duration {
        let usual = KEYS.iter().find(|key| key.1 == "stonewall-time").map_or("", |key| key.2);
        let scc = self.on("global", "scc") && self.text("debug", "stonewall-time") == usual;
        Duration::from_secs(if scc { 30 } else { self.number("debug", "stonewall-time").unwrap_or(300) })
    }

    /// What the rules ask for.
    pub fn asked_stonewall(&self) -> Duration {
        Duration::from_secs(if self.on("global", "scc") { 30 } else { 300 })
    }

    /// Sets the stonewall from the command line.
    pub fn set_stonewall(&mut self, seconds: u64) {
        self.values.insert(("debug".to_owned(), "stonewall-time".to_owned()), seconds.to_string());
    }

    /// Whether a phase runs: its own section and that of its kind say so.
    pub fn runs(&self, phase: &str) -> bool {
        let off = |section: &str| {
            let text = self.text(section, "run");
            !text.is_empty() && !self.on(section, "run")
        };
        let kind = ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"];
        let kind = kind.into_iter().find(|kind| phase.starts_with(kind));
        !off(phase) && !kind.is_some_and(off)
    }

    /// The interface of a phase and the options behind it: as its own section says, that of its kind, or the first one.
    pub fn api(&self, phase: &str, kind: &str) -> &str {
        let own =
            [phase, kind, "global"].into_iter().flat_map(|section| [(section, "API"), (section, "api")]);
        own.map(|(section, key)| self.text(section, key)).find(|api| !api.is_empty()).unwrap_or_default()
    }

    /// How many ranks take part in a find; all where it does not say.
    pub fn find_ranks(&self, phase: &str) -> Result<Option<u32>> {
        if self.text(phase, "nproc").is_empty() {
            return Ok(None);
        }
        let ranks = self.number(phase, "nproc")?;
        u32::try_from(ranks)
            .ok()
            .filter(|ranks| *ranks > 0)
            .map(Some)
            .ok_or_else(|| wrong(format!("[{phase}] `nproc = {ranks}` is no number of processes")))
    }

    /// What data of ior is like.
    pub fn packet(&self) -> &str {
        self.text("global", "dataPacketType")
    }

    /// Whether md-workbench's phases are left out, as they must be in the extended mode.
    pub fn without_md_workbench(&self) -> bool {
        !self.text("mdworkbench", "run").is_empty() && !self.on("mdworkbench", "run")
    }

    /// Whether pages are dropped before phases that read.
    pub fn drop_caches(&self) -> bool {
        self.on("global", "drop-caches")
    }

    /// Transfer size, most bytes of a process, a file for each, a directory for each.
    pub fn ior_easy(&self) -> Result<(Bytes, Bytes, bool, bool)> {
        let on = |key: &str| self.on("ior-easy", key);
        Ok((
            self.bytes("ior-easy", "transferSize")?,
            self.bytes("ior-easy", "blockSize")?,
            on("filePerProc"),
            on("uniqueDir"),
        ))
    }

    /// Most segments of a process.
    pub fn ior_hard(&self) -> Result<u64> {
        self.number("ior-hard", "segmentCount")
    }

    /// Most items of a process in `mdtest-easy` or `mdtest-hard`.
    pub fn items(&self, section: &str) -> Result<u64> {
        self.number(section, "n")
    }

    /// Items in each directory of mdtest-hard.
    pub fn files_per_directory(&self) -> Result<Option<u64>> {
        if self.text("mdtest-hard", "files-per-dir").is_empty() {
            return Ok(None);
        }
        self.number("mdtest-hard", "files-per-dir").map(Some)
    }

    /// The ini file that says all of it.
    pub fn text_of_all(&self) -> String {
        let mut text = String::new();
        let mut section = "";
        for ((of, key), value) in &self.values {
            if of != section {
                let _ = writeln!(text, "{}[{of}]", if section.is_empty() { "" } else { "\n" });
                section = of;
            }
            let _ = writeln!(text, "{key} = {value}");
        }
        text
    }
}

/// All keys with their defaults, as an ini file.
pub fn list() -> String {
    let mut text = String::new();
    let mut section = "";
    for (of, key, value, what) in KEYS {
        if of != section {
            let _ = writeln!(text, "{}[{of}]", if section.is_empty() { "" } else { "\n" });
            section = of;
        }
        let _ = writeln!(text, "# {what}\n{key} = {value}");
    }
    text
}

fn check_section(place: &str, section: &str) -> Result<()> {
    let known = KEYS.iter().map(|key| key.0).chain(PHASE_SECTIONS).chain(MD_WORKBENCH).chain(["timestamp"]);
    if known.clone().any(|known| known == section) {
        return Ok(());
    }
    Err(wrong(format!("{place}: there is no section [{section}]")).hint(near(section, known)))
}

fn check_key(place: &str, section: &str, key: &str) -> Result<()> {
    let common = |key: &str| PHASE_SECTIONS.contains(&section) && ["API", "run", "verbosity"].contains(&key);
    let hard = section.starts_with("ior-hard") && key == "collective";
    let find = section.starts_with("find") && FIND.contains(&key);
    let workbench = MD_WORKBENCH.contains(&section);
    let md = section.starts_with("mdtest") && ["API", "run", "verbosity"].contains(&key);
    let own = KEYS.iter().filter(|known| known.0 == section).map(|known| known.1);
    if own.clone().any(|known| known == key) || common(key) || hard || find || md || workbench {
        return Ok(());
    }
    let names = own.chain(FIND.into_iter().filter(|_| section.starts_with("find"))).chain(["API", "run"]);
    Err(wrong(format!("{place}: [{section}] has no key `{key}`")).hint(near(key, names)))
}

fn near<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    spec::nearest(word, known).map_or_else(
        || "`forebay io500 --list` shows what there is".to_owned(),
        |near| format!("did you mean `{near}`?"),
    )
}

fn wrong(message: String) -> Fault {
    Fault::new(Kind::Spec, message).hint("`forebay io500 --list` shows all keys with their defaults")
}
