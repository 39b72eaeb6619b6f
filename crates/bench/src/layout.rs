//! How data files are spread over servers: asked for before the first is made, and looked at after they were written.

use std::path::{Path, PathBuf};
use std::process::Command;

use fault::{Fault, Kind, Result};
use host::{Environment, layout_of};
use record::{LayoutCount, LayoutOfFile, LayoutPart, StorageLayout};
use units::Bytes;

use crate::engine::data_owner;
use crate::ground::Grounds;
use crate::workload::{Striping, Workload};

/// Files that are looked at, evenly chosen: each is one call of `lfs`.
const LOOKED_AT: u32 = 256;
/// Paths per call of `lfs setstripe`.
const PATHS_PER_CALL: usize = 100;
/// Layouts that are told apart.
const MOST_LAYOUTS: usize = 8;

/// Refuses to stripe files where nothing can be striped.
pub fn check_striping(workload: &Workload, environment: &Environment, target: &Path) -> Result<()> {
    let Some(mount) = environment.target.as_ref().filter(|_| workload.files.striping.is_some()) else {
        return Ok(());
    };
    if mount.file_system == "lustre" {
        return Ok(());
    }
    let message = format!("`{}` is on {}, and only Lustre has stripes", target.display(), mount.file_system);
    Err(Fault::new(Kind::Unsupported, message)
        .hint("leave out the striping (`files.striping`, `--posix.lustre.*`), or name a directory on Lustre (`df -T`)"))
}

/// Applies the striping to the run directories; files under names that somebody chose get it one by one.
pub fn stripe(grounds: &Grounds, workload: &Workload) -> Result<()> {
    let Some(striping) = &workload.files.striping else { return Ok(()) };
    let files = &workload.files;
    let paths: Vec<PathBuf> = if files.named.is_some() {
        let new = (0..files.file_count(workload.ranks)).map(|number| path(grounds, workload, number));
        new.filter(|path| !path.exists()).collect()
    } else {
        grounds.all().iter().map(|ground| ground.path().to_owned()).collect()
    };
    paths.chunks(PATHS_PER_CALL).try_for_each(|paths| set_stripe(striping, paths))
}

fn set_stripe(striping: &Striping, paths: &[PathBuf]) -> Result<()> {
    let output = Command::new("lfs").arg("setstripe").args(striping.options()).args(paths).output();
    let output = output.map_err(|error| {
        Fault::new(Kind::NotFound, format!("cannot run `lfs`: {}", fault::plain(&error)))
            .hint("install the Lustre client's tools on this host, or leave out `files.striping`")
            .caused_by(error)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message = format!(
        "`lfs setstripe {}` failed: {}",
        striping.options().join(" "),
        said.lines().next().unwrap_or("it does not say why").trim()
    );
    Err(Fault::new(Kind::Unsupported, message)
        .hint("look at the pools and OSTs there are (`lfs df`, `lfs pool_list`)"))
}

fn path(grounds: &Grounds, workload: &Workload, number: u32) -> PathBuf {
    let files = &workload.files;
    grounds.of(data_owner(files, number)).path().join(grounds.names().data(files, number))
}

/// Where the data files lie; `None` where the file system does not tell, or there are none.
pub fn look(grounds: &Grounds, workload: &Workload, environment: &Environment) -> Option<StorageLayout> {
    let mount = environment.target.as_ref()?;
    let kind = match mount.file_system.as_str() {
        "lustre" => "lustre",
        "fuse.glusterfs" => "glusterfs",
        _ => return None,
    };
    let count = workload.files.file_count(workload.ranks);
    let mut layout =
        StorageLayout { kind: kind.to_owned(), files_in_all: u64::from(count), ..StorageLayout::default() };
    for number in (0..count).step_by(count.div_ceil(LOOKED_AT).max(1) as usize) {
        let path = path(grounds, workload, number);
        let Some(size) = std::fs::metadata(&path).ok().map(|metadata| metadata.len()) else { continue };
        let Some(found) = layout_of(&mount.file_system, &path) else { continue };
        let name = grounds.names().data(&workload.files, number);
        add(&mut layout, &name, &found, size);
    }
    layout.layouts.sort_by_key(|count| std::cmp::Reverse(count.files));
    layout.layouts.truncate(MOST_LAYOUTS);
    layout.parts.sort_by(|one, other| one.name.cmp(&other.name));
    (layout.files > 0).then_some(layout)
}

fn add(layout: &mut StorageLayout, file: &str, found: &host::FileLayout, size: u64) {
    layout.files += 1;
    let words = found.words();
    match layout.layouts.iter_mut().find(|count| count.layout == words) {
        Some(count) => count.files += 1,
        None => layout.layouts.push(LayoutCount { layout: words, files: 1 }),
    }
    let on: Vec<(String, Bytes)> =
        found.bytes_per_target(size).into_iter().map(|(name, bytes)| (name, Bytes::new(bytes))).collect();
    layout.each.push(LayoutOfFile { file: file.to_owned(), layout: found.words(), on: on.clone() });
    for (name, bytes) in on {
        match layout.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => {
                part.bytes = part.bytes + bytes;
                part.files += 1;
            }
            None => layout.parts.push(LayoutPart { name, bytes, files: 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_up_per_target() {
        let of = |target: &str| {
            let path = format!("(<DISTRIBUTE:v> <POSIX(/b):{target}:/b/f>)");
            host::FileLayout::of_gluster(&path).unwrap()
        };
        let mut layout = StorageLayout::default();
        for (target, size) in [("a", 5), ("b", 7), ("a", 11)] {
            add(&mut layout, "f", &of(target), size);
        }
        let parts: Vec<_> = layout.parts.iter().map(|p| (p.name.as_str(), p.bytes.get(), p.files)).collect();
        assert_eq!(parts, [("a:/b", 16, 2), ("b:/b", 7, 1)]);
        assert_eq!(layout.layouts, [LayoutCount { layout: "1 brick".into(), files: 3 }]);
    }
}
