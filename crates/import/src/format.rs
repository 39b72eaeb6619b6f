//! Which tool has written a file, as its content shows.

use fault::{Fault, Kind, Result};

use crate::page::Page;

/// A program whose results can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// SAS's `rhel_iotest.sh` and `iotest.sh`.
    RhelIotest,
    /// IOR.
    Ior,
    /// mdtest.
    Mdtest,
    /// vdbench.
    Vdbench,
    /// IO500.
    Io500,
    /// fio.
    Fio,
    /// elbencho.
    Elbencho,
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.results` or `.log` of rhel_iotest.
    RhelIotest,
    /// IOR's tables.
    IorText,
    /// IOR with `summaryFormat=CSV`.
    IorCsv,
    /// IOR with `summaryFormat=JSON`.
    IorJson,
    /// mdtest's summary.
    Mdtest,
    /// vdbench's `flatfile.html`.
    VdbenchFlat,
    /// vdbench's `summary.html`, `totals.html` or terminal.
    VdbenchText,
    /// IO500's `result_summary.txt`.
    Io500Summary,
    /// IO500's `result.txt`.
    Io500Result,
    /// fio with `--output-format=json` or `json+`.
    FioJson,
    /// elbencho's `--csvfile`.
    ElbenchoCsv,
    /// elbencho's table.
    ElbenchoText,
}

/// Sections of which IO500's results have one at least, whichever phases are switched off.
const WRITES: [&str; 4] =
    ["[ior-easy-write]", "[ior-hard-write]", "[mdtest-easy-write]", "[mdtest-hard-write]"];

impl Format {
    /// All formats, those with the clearest marks first.
    const ALL: [Self; 12] = [
        Self::FioJson,
        Self::IorJson,
        Self::IorCsv,
        Self::ElbenchoCsv,
        Self::ElbenchoText,
        Self::VdbenchFlat,
        Self::VdbenchText,
        Self::Io500Summary,
        Self::Io500Result,
        Self::Mdtest,
        Self::IorText,
        Self::RhelIotest,
    ];

    /// Its name in records: `ior-json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RhelIotest => "rhel-iotest",
            Self::IorText => "ior-text",
            Self::IorCsv => "ior-csv",
            Self::IorJson => "ior-json",
            Self::Mdtest => "mdtest-text",
            Self::VdbenchFlat => "vdbench-flatfile",
            Self::VdbenchText => "vdbench-text",
            Self::Io500Summary => "io500-summary",
            Self::Io500Result => "io500-result",
            Self::FioJson => "fio-json",
            Self::ElbenchoCsv => "elbencho-csv",
            Self::ElbenchoText => "elbencho-text",
        }
    }

    /// Who writes it.
    pub const fn tool(self) -> Tool {
        match self {
            Self::RhelIotest => Tool::RhelIotest,
            Self::IorText | Self::IorCsv | Self::IorJson => Tool::Ior,
            Self::Mdtest => Tool::Mdtest,
            Self::VdbenchFlat | Self::VdbenchText => Tool::Vdbench,
            Self::Io500Summary | Self::Io500Result => Tool::Io500,
            Self::FioJson => Tool::Fio,
            Self::ElbenchoCsv | Self::ElbenchoText => Tool::Elbencho,
        }
    }

    /// A line of this kind of file that no other kind has.
    const fn mark(self) -> &'static str {
        match self {
            Self::RhelIotest => "`read throughput rate: N megabytes/second per physical core`",
            Self::IorText => "the heading `access bw(MiB/s) ...`",
            Self::IorCsv => "the heading `access,bw(MiB/s),...`",
            Self::IorJson => "`\"tests\"` with `\"bwMiB\"`",
            Self::Mdtest => "`SUMMARY rate` with a table of operations",
            Self::VdbenchFlat => "the heading `tod timestamp Run Interval ...`",
            Self::VdbenchText => "the heading `interval i/o MB/sec ...`",
            Self::Io500Summary => "`[RESULT] PHASE N GiB/s : time N seconds`",
            Self::Io500Result => "sections such as `[ior-easy-write]` with a `score`",
            Self::FioJson => "`\"fio version\"`",
            Self::ElbenchoCsv => "the heading `ISO date,label,path type,...`",
            Self::ElbenchoText => "the heading `OPERATION RESULT TYPE ...`",
        }
    }

    fn fits(self, page: &Page) -> bool {
        let line = |test: &dyn Fn(&str) -> bool| page.lines().any(|(_, line)| test(line));
        match self {
            Self::RhelIotest => line(&|l| l.contains("throughput rate") && l.contains("megabytes")),
            Self::IorText => line(&|l| l.starts_with("access ") && l.contains("bw(MiB/s)")),
            Self::IorCsv => line(&|l| l.starts_with("access,bw(MiB/s)")),
            Self::IorJson => line(&|l| l.contains("\"tests\"")) && line(&|l| l.contains("\"bwMiB\"")),
            Self::Mdtest => line(&|l| l.starts_with("SUMMARY")) && line(&|l| l.contains(" creation")),
            Self::VdbenchFlat => line(&|l| {
                let mut words = l.split_whitespace();
                words.next() == Some("tod") && words.any(|word| word == "Interval")
            }),
            Self::VdbenchText => line(&|l| {
                l.to_lowercase().contains("interval")
                    && (l.contains("i/o   MB/sec") || l.contains("ReqstdOps"))
            }),
            Self::Io500Summary => line(&|l| l.trim_start().starts_with("[RESULT]")),
            Self::Io500Result => {
                line(&|l| WRITES.contains(&l.trim())) && line(&|l| l.trim_start().starts_with("score"))
            }
            Self::FioJson => line(&|l| l.contains("\"fio version\"")),
            Self::ElbenchoCsv => line(&|l| l.contains("ISO date,") && l.contains(",operation,")),
            Self::ElbenchoText => line(&|l| l.starts_with("OPERATION ") && l.contains("RESULT TYPE")),
        }
    }
}

/// The kind of file `page` is, of `tool` if that is given.
pub fn detect(page: &Page, tool: Option<Tool>) -> Result<Format> {
    let mut possible = Format::ALL.into_iter().filter(|format| tool.is_none_or(|tool| format.tool() == tool));
    if let Some(format) = possible.clone().find(|format| format.fits(page)) {
        return Ok(format);
    }
    let file = page.file().display();
    if tool.is_none() {
        return Err(Fault::new(Kind::Unsupported, format!("`{file}` holds no results of a tool we know"))
            .hint("results of rhel_iotest, IOR, mdtest, vdbench, IO500, fio (JSON) and elbencho can be read; `--from TOOL` says what is missing"));
    }
    let marks: Vec<&str> = possible.by_ref().map(Format::mark).collect();
    Err(Fault::new(Kind::Corrupt, format!("`{file}`: expected {}, found no such line", marks.join(" or ")))
        .hint("check that the file is whole and of this tool; without `--from` the content decides"))
}
