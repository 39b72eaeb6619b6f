use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use console::Printer;
use fault::{Fault, Kind};
use sync::movers::Meeting;
use sync::{By, Conflict, Deletes, Delta, Extended, Filter, Following, Layout, Options, Verify};

use crate::cli::{
    Choosing, ConflictRule, DeltaRule, LayoutRule, Sync, SyncJudging, SyncWatching, VerifyLevel, WatchBy,
};
use crate::commands::fleet::reach;

/// Shorter ones are lost on a busy host.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The options that the flags ask for.
pub fn of(printer: &Printer, arguments: &Sync) -> fault::Result<Options> {
    let (removing, judging) = (&arguments.removing, &arguments.judging);
    Ok(Options {
        // clap sees to it that both are there.
        source: arguments.source.clone().unwrap_or_default(),
        destination: arguments.destination.clone().unwrap_or_default(),
        at: None,
        state: arguments.state.clone().filter(|state| !is_meeting(state)),
        workers: arguments.workers.map(usize::from),
        dry_run: arguments.dry_run,
        delete: removing.delete.then_some(Deletes { most: removing.max_delete, trash: removing.trash }),
        filter: filter(&arguments.choosing)?,
        update: judging.update,
        conflict: match judging.conflict {
            ConflictRule::Source => Conflict::Source,
            ConflictRule::Newer => Conflict::Newer,
            ConflictRule::KeepBoth => Conflict::KeepBoth,
            ConflictRule::Fail => Conflict::Fail,
        },
        verify: match judging.verify {
            VerifyLevel::None => Verify::None,
            VerifyLevel::Transferred => Verify::Transferred,
            VerifyLevel::Sampled => Verify::Sampled,
            VerifyLevel::All => Verify::All,
        },
        limit: judging.bwlimit.as_deref().map(str::parse).transpose()?,
        extended: Extended { acls: !arguments.choosing.no_acls, others: !arguments.choosing.no_xattrs },
        special_files: arguments.choosing.special_files,
        cross_mounts: arguments.choosing.cross_mounts,
        check_destination: judging.check_destination,
        allow_empty_source: removing.allow_empty_source,
        allow_new_source: removing.allow_new_source,
        in_place_from: judging.in_place_from.map(units::Bytes::get),
        delta: match judging.delta {
            DeltaRule::Auto => Delta::Auto,
            DeltaRule::Fixed => Delta::Fixed,
            DeltaRule::Content => Delta::Content,
            DeltaRule::Off => Delta::Off,
        },
        layout: judging.layout.map(|layout| match layout {
            LayoutRule::Files => Layout::Files,
            LayoutRule::Chunks => Layout::Chunks,
        }),
        prune: removing.prune,
        manifest: judging.manifest,
        reach: reach(printer, &arguments.reaching)?,
        large_from: None,
    })
}

/// Where movers meet, if there are several.
pub fn meeting(arguments: &Sync) -> fault::Result<Option<Meeting>> {
    let Some(state) = arguments.state.as_deref().filter(|state| is_meeting(state)) else { return Ok(None) };
    if arguments.watching.watch {
        return Err(Fault::new(Kind::Usage, "several movers can't do a watch")
            .hint("leave --watch out, and sync from time to time; or leave --state out"));
    }
    if arguments.lease < SHORTEST_LEASE {
        let text = format!("a lease of {} is too short", units::format_duration(arguments.lease));
        return Err(Fault::new(Kind::Usage, text).hint("at least 1s: it is renewed three times as often"));
    }
    let (url, alike) = (state.to_string_lossy().into_owned(), alike(arguments));
    Ok(Some(Meeting { url, lease: arguments.lease, alike }))
}

/// What all who work on a job must have in common; how much of it each does in a second is its own.
pub fn alike(arguments: &Sync) -> String {
    let judging = SyncJudging { bwlimit: None, ..arguments.judging.clone() };
    format!("{:?} {:?} {judging:?}", arguments.removing, arguments.choosing)
}

fn is_meeting(state: &Path) -> bool {
    state.to_str().is_some_and(Meeting::is_one)
}

/// How the source is followed, if it is.
pub fn following(arguments: &SyncWatching) -> fault::Result<Option<Following>> {
    let by = match arguments.watch_by {
        WatchBy::Changelog => By::Changelog,
        WatchBy::Best if !arguments.changelog.is_empty() => By::Changelog,
        WatchBy::Best => By::Best,
        WatchBy::Fanotify => By::Fanotify,
        WatchBy::Inotify => By::Inotify,
        WatchBy::Rescan => By::Rescan,
    };
    let rescan = Some(arguments.rescan).filter(|every| !every.is_zero());
    let changelogs = arguments.changelog.iter().map(|text| text.parse()).collect::<fault::Result<_>>()?;
    Ok(arguments.watch.then_some(Following { by, rescan, changelogs }))
}

fn filter(choosing: &Choosing) -> fault::Result<Filter> {
    let mut filter = Filter::default();
    filter.set_patterns(&choosing.exclude, &choosing.include)?;
    choosing.ignore_file.iter().for_each(|name| filter.add_pattern_file(name.as_bytes()));
    if let Some(path) = &choosing.files_from {
        filter.set_list(&read_list(path)?, path)?;
    }
    filter.size = (choosing.min_size.map(units::Bytes::get), choosing.max_size.map(units::Bytes::get));
    filter.set_ages(choosing.newer_than, choosing.older_than);
    filter.owners.clone_from(&choosing.owner);
    Ok(filter)
}

fn read_list(path: &Path) -> fault::Result<Vec<u8>> {
    let mut list = Vec::new();
    let read = if path.as_os_str().as_bytes() == b"-" {
        std::io::stdin().read_to_end(&mut list)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut list))
    };
    read.map_err(|error| Fault::os("read", path, error))?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// As typed behind `forebay sync /a /b`.
    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        sync: Sync,
    }

    fn typed(words: &[&str]) -> String {
        alike(&Typed::parse_from(["sync", "/a", "/b"].iter().chain(words)).sync)
    }

    #[test]
    fn movers_may_differ_in_their_speed_and_in_nothing_that_decides() {
        assert_eq!(typed(&[]), typed(&["--bwlimit", "20MB/s"]));
        for words in [&["--delete"][..], &["--update"], &["--exclude", "x"], &["--verify", "all"]] {
            assert_ne!(typed(&[]), typed(words), "{words:?}");
        }
    }
}
