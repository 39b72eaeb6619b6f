//! Where a test's files are: a `lun` is a file of exactly that name, and a tree of an fsd lies in a fresh directory below its anchor.
//!
//! A file that is not there is made, and removed again. One that is there is somebody's: it is read as it is, and written
//! only when that was asked for by name, as vdbench does without asking.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};
use units::Bytes;

use super::compile::{Test, World};
use super::files::FORMAT;
use crate::workload::{Activity, Existing, Named, Workload};

/// What is said about files beside what the parameter file says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placing {
    /// Files that are there may be written to: what is in them is lost.
    pub overwrite: bool,
    /// Leave the files that were made.
    pub keep: bool,
}

impl Test {
    /// The workload on its files, and the directory under test.
    pub fn placed(&self, placing: Placing) -> Result<(PathBuf, Workload)> {
        let mut workload = self.workload.clone();
        match &self.world {
            World::Tree { anchors, .. } => {
                let place = |anchor: &PathBuf| if anchor.is_dir() { anchor.clone() } else { parent(anchor) };
                let mut targets: Vec<PathBuf> = anchors.iter().map(place).collect();
                workload.more_targets = targets.split_off(1.min(targets.len()));
                Ok((targets.pop().unwrap_or_else(|| PathBuf::from(".")), workload))
            }
            World::Files { luns, sizes, .. } => {
                let there = luns.iter().zip(sizes);
                let there = there.map(|(lun, size)| existing(lun, *size)).collect::<Result<Vec<bool>>>()?;
                let some = there.iter().any(|there| *there);
                if let Some(missing) = there.iter().position(|there| !there).filter(|_| some) {
                    return Err(Fault::new(
                        Kind::Refused,
                        format!("lun `{}` is not there, and others of its run are", luns[missing].display()),
                    )
                    .hint("make all of them or none: those that are made are removed again, and the others stay"));
                }
                if some {
                    use_existing(&mut workload, &luns[0], placing)?;
                }
                let name = |lun: &PathBuf| {
                    lun.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
                };
                workload.files.named = Some(Named {
                    data: luns.iter().map(name).collect(),
                    exact: true,
                    existing: if some { Existing::Use } else { Existing::Refuse },
                    keep: placing.keep,
                    ..Named::default()
                });
                let directories: Vec<PathBuf> = luns.iter().map(|lun| parent(lun)).collect();
                let target = directories.first().cloned().unwrap_or_else(|| PathBuf::from("."));
                if directories.iter().any(|directory| *directory != target) {
                    workload.more_targets = directories[1..].to_vec();
                }
                Ok((target, workload))
            }
        }
    }
}

/// Files that are there are not made first, and written only if that was said.
fn use_existing(workload: &mut Workload, lun: &Path, placing: Placing) -> Result<()> {
    workload.phases.retain(|phase| phase.name != FORMAT);
    let transfers = || {
        workload.phases.iter().flat_map(|phase| &phase.jobs).filter_map(|job| match &job.activity {
            Activity::Transfer(transfer) => Some(transfer),
            Activity::Entries(_) => None,
        })
    };
    if transfers().any(|transfer| transfer.verify) {
        return Err(Fault::new(
            Kind::Refused,
            format!("what is in `{}` was not written by this run", lun.display()),
        )
        .hint("leave out `-v`, or name files that are not there yet"));
    }
    if !placing.overwrite && transfers().any(crate::workload::Transfer::writes) {
        return Err(Fault::new(
            Kind::Refused,
            format!("lun `{}` exists, and this would write over what is in it", lun.display()),
        )
        .hint("name a file that is not there yet; `--overwrite` destroys what is in these files"));
    }
    Ok(())
}

/// Whether a file is there that can be used.
fn existing(lun: &Path, size: Bytes) -> Result<bool> {
    let there = match std::fs::symlink_metadata(lun) {
        Ok(there) => there,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Fault::os("look at", lun, error)),
    };
    let refused = |what: &str, hint: &str| {
        Err(Fault::new(Kind::Refused, format!("lun `{}` is {what}", lun.display())).hint(hint))
    };
    let kind = there.file_type();
    if kind.is_block_device() || kind.is_char_device() {
        return refused(
            "a device",
            "put a file system on it and name a file there: what is on a device would be lost",
        );
    }
    if kind.is_dir() {
        return refused("a directory", "name a file in it");
    }
    if !kind.is_file() {
        return refused("no regular file", "name a file; nothing is reached through a symlink");
    }
    if there.len() < size.get() {
        let what = format!("{} long, and `size` says {size:#}", Bytes::new(there.len()));
        return refused(&what, "lower `size`, or name a file that is not there yet");
    }
    Ok(true)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
