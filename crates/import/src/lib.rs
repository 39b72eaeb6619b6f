//! Results that other tools have printed, as run records: text in, [`record::RunRecord`] out; nothing is read or written here.
//!
//! What a file does not say stays unknown: no environment, no ranks of which only the number is known, no latency where
//! only a mean is printed. Every record names the file, its hash and the tool, and says that nothing was checked.

mod clock;
mod document;
mod elbencho;
mod fio;
mod format;
mod found;
mod io500;
mod ior;
mod iotest;
mod json;
mod mdtest;
mod page;
mod vdbench;

use std::path::Path;

use fault::Result;
use record::RunRecord;

pub use format::{Format, Tool};

use self::page::Page;

/// Reads what `tool` (or whichever the content shows) has written to `file`, whose content is `bytes`.
///
/// A broken file is `Corrupt`, naming the line and what was expected there; content of no tool we know is `Unsupported`.
pub fn read(file: &Path, bytes: &[u8], tool: Option<Tool>) -> Result<RunRecord> {
    let text = String::from_utf8_lossy(bytes);
    let page = Page::new(file, &text);
    let format = format::detect(&page, tool)?;
    let found = match format {
        Format::RhelIotest => iotest::read(&page),
        Format::IorText => ior::text(&page),
        Format::IorCsv => ior::csv(&page),
        Format::IorJson => ior::json(&page),
        Format::Mdtest => mdtest::read(&page),
        Format::VdbenchFlat => vdbench::flat(&page),
        Format::VdbenchText => vdbench::text(&page),
        Format::Io500Summary => io500::summary(&page),
        Format::Io500Result => io500::result(&page),
        Format::FioJson => fio::read(&page),
        Format::ElbenchoCsv => elbencho::csv(&page),
        Format::ElbenchoText => elbencho::text(&page),
    }?;
    document::record(found, format, file, bytes)
}
