//! The data directory of an IO500 run: made, and removed again with what IO500's names say is its own.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use bench::workload::{Instant, LookingFor};
use fault::{Fault, Kind};

/// Directories below the data directory.
const PARTS: [&str; 4] = ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"];

/// Makes the data directory and its parts.
pub fn make_all(data: &Path) -> fault::Result<()> {
    PARTS.iter().map(|part| data.join(part)).try_for_each(|part| {
        std::fs::create_dir_all(&part).map_err(|error| Fault::os("create directory", &part, error))
    })
}

/// Removes IOR's files by their names, and directories that are empty then. Whatever else is there stays, and is told.
pub fn remove_all(data: &Path, ranks: u32) -> fault::Result<()> {
    let easy = (0..ranks).map(|rank| format!("ior-easy/ior_file_easy.{rank:08}"));
    let unique = (0..ranks).map(|rank| format!("ior-easy/{rank}/ior_file_easy.{rank:08}"));
    let shared = ["ior-easy/ior_file_easy", "ior-hard/file"].map(str::to_owned);
    for name in easy.chain(unique).chain(shared) {
        let path = data.join(name);
        let regular = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        if regular {
            std::fs::remove_file(&path).map_err(|error| Fault::os("remove", &path, error))?;
        }
    }
    let own = (0..ranks).map(|rank| data.join(format!("ior-easy/{rank}")));
    let parts = PARTS.iter().map(|part| data.join(part));
    for directory in own.chain(parts).chain([data.to_owned()]) {
        // Not empty: somebody else's, or left by a run that was stopped, which `forebay clean` removes.
        let _ = std::fs::remove_dir(&directory);
    }
    Ok(())
}

/// Directories of mdtest's trees: the ranks look at what is in them.
const TREES: &str = "mdtest_tree";
/// The longest that the clock of a file system's times may stand still: some count in steps of 2 s.
const STANDS_STILL: Duration = Duration::from_secs(10);

/// This instant by the clock that gives the data's files their times. Returns when that clock has moved on, so that
/// everything made from then on is newer.
pub fn timestamp(data: &Path) -> fault::Result<Instant> {
    let path = data.join("timestampfile");
    let failed = |error| Fault::os("write", &path, error);
    let begun = std::time::Instant::now();
    let mut file = std::fs::File::create_new(&path).map_err(failed)?;
    let mut touch = || -> std::io::Result<Instant> {
        file.write_all(b".")?;
        file.sync_all()?;
        let metadata = file.metadata()?;
        Ok(Instant { seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() })
    };
    let marked = touch().map_err(failed)?;
    while touch().map_err(failed)? <= marked {
        if begun.elapsed() > STANDS_STILL {
            return Err(Fault::new(
                Kind::Io,
                format!("the times of files in `{}` stand still", data.display()),
            )
            .hint("look at the clock of the file system's server"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_file(&path).map_err(|error| Fault::os("remove", &path, error))?;
    Ok(marked)
}

/// What a look beside the trees of mdtest has seen.
#[derive(Debug, Default)]
pub struct Beside {
    /// Entries.
    pub looked_at: u64,
    /// Those of them that were looked for.
    pub found: u64,
    /// How long it took.
    pub elapsed_ns: u64,
}

/// Looks at everything in the data directory that is in no tree of mdtest's: IOR's files, and directories.
pub fn look_beside(data: &Path, sought: &LookingFor) -> fault::Result<Beside> {
    let begun = std::time::Instant::now();
    let mut beside = Beside::default();
    let mut directories = vec![data.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = |error| Fault::os("list", &directory, error);
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Of a symlink, the link itself.
            let metadata = entry.metadata().map_err(failed)?;
            let (name, path) = (entry.file_name(), entry.path());
            beside.looked_at += 1;
            let instant = Instant { seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() };
            let fits = sought.fits(name.as_bytes())
                && sought.size.is_none_or(|size| size.get() == metadata.len())
                && sought.newer_than.is_none_or(|mark| instant > mark);
            beside.found += u64::from(fits);
            if metadata.is_dir() && !name.as_bytes().starts_with(TREES.as_bytes()) {
                directories.push(path);
            }
        }
    }
    beside.elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(beside)
}
