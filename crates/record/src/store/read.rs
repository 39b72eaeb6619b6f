//! From a file to a document, with a clear word about what is wrong with it.

use std::io::Read as _;
use std::path::Path;

use fault::{Fault, Kind, Result};
use rustix::fs::{CWD, Mode, OFlags};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::summary::{Outline, Summary};
use crate::run::{RunRecord, VERSION};

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The whole document in `path`.
pub(super) fn record(path: &Path) -> Result<RunRecord> {
    parse(&text(path, OFlags::empty())?, path)
}

/// What a list shows of the document in `path`; `None` if the file went away while we were listing.
pub(super) fn summary(id: String, path: &Path) -> Option<Summary> {
    // Never through a link and never waiting on a pipe: a list looks at every name it finds.
    let outline =
        text(path, OFlags::NOFOLLOW | OFlags::NONBLOCK).and_then(|text| parse::<Outline>(&text, path));
    match outline {
        Ok(outline) => Some(outline.summary(id, crate::process::is_gone)),
        Err(fault) if fault.kind() == Kind::NotFound => None,
        Err(fault) => Some(Summary::damaged(id, fault.message())),
    }
}

fn text(path: &Path, flags: OFlags) -> Result<Vec<u8>> {
    let file = rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty())
        .map_err(|error| Fault::os("open", path, error))?;
    let mut text = Vec::new();
    std::fs::File::from(file).read_to_end(&mut text).map_err(|error| Fault::os("read", path, error))?;
    Ok(text)
}

fn parse<T: DeserializeOwned>(text: &[u8], path: &Path) -> Result<T> {
    let damaged = |error: serde_json::Error| {
        let what = if error.is_eof() { "ends in the middle" } else { "is not a run record" };
        Fault::new(Kind::Corrupt, format!("`{}` {what}: {error}", path.display()))
            .hint("restore it from a copy, or remove it with `forebay runs rm`")
            .caused_by(error)
    };
    let Versioned { version } = serde_json::from_slice(text).map_err(damaged)?;
    if version > VERSION {
        return Err(Fault::new(
            Kind::Corrupt,
            format!(
                "`{}` is a run record of version {version}; this forebay reads up to version {VERSION}",
                path.display()
            ),
        )
        .hint("upgrade forebay, or read the record with the version that wrote it"));
    }
    serde_json::from_slice(text).map_err(damaged)
}
