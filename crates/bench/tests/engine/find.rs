//! A find counts what matches: by name, by size, and by what is newer than a mark.

use bench::Workload;
use bench::workload::EntryOperation::{Create, Find, Mark, Remove, Rename};
use bench::workload::{Entries, EntryOperation, FileSet, LookingFor, Phase, Tree};
use record::Outcome;
use units::Bytes;

use super::counts::check_phase;
use super::run::{disk, memory, run, workload};

fn named(name: &str, entries: Entries) -> Phase {
    Phase::entries(name, entries)
}

fn of(operation: EntryOperation) -> Entries {
    Entries::of(operation)
}

fn looking_for(name: Option<&str>, size: Option<u64>, newer: bool) -> Entries {
    let name = name.map(str::to_owned);
    Entries {
        looking_for: Some(LookingFor { name, size: size.map(Bytes::new), newer, ..LookingFor::default() }),
        ..of(Find)
    }
}

fn with_items(items: u64, phases: Vec<Phase>) -> Workload {
    let tree = Tree { branch: 2, depth: 2, items, ..Tree::default() };
    Workload { files: FileSet { tree, ..FileSet::default() }, ..workload(3, phases) }
}

/// The names of all items: `file.<rank>.<item>`.
fn items(each: u64) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |rank| (0..each).map(move |item| format!("file.{rank}.{item}")))
}

#[test]
fn what_matches_by_name_and_size_is_counted() {
    for target in [memory(), disk()] {
        let create = Entries { write_bytes: Bytes::new(3901), ..of(Create) };
        let phases = vec![
            named("make", create),
            named("all", of(Find)),
            named("by name", looking_for(Some("*01*"), None, false)),
            named("by size", looking_for(None, Some(3901), false)),
            named("by both", looking_for(Some("file.1.?"), Some(3901), false)),
            named("nothing", looking_for(Some("*"), Some(3900), false)),
        ];
        let done = run(target.path(), &with_items(120, phases)).expect();
        done.phases().try_for_each(check_phase).unwrap();
        let matched = |name: &str| done.phase(name).matched;
        // Seven directories, the first of which is no entry of any other.
        assert!(["all", "by name", "by both"].iter().all(|name| done.phase(name).operation_count() == 366));
        let expected = items(120).filter(|name| name.contains("01")).count() as u64;
        assert_eq!(
            (matched("all"), matched("by name"), matched("by size")),
            (None, Some(expected), Some(360))
        );
        assert_eq!((matched("by both"), matched("nothing"), matched("make")), (Some(10), Some(0), None));
        assert_eq!(
            done.check("by name", "found"),
            (Outcome::Pass, format!("{expected} of 366 entries matched"))
        );
        assert_eq!(done.check("nothing", "found").0, Outcome::Fail);
        assert_eq!(done.check("all", "found").0, Outcome::NotApplicable);
    }
}

/// Nothing is due to the clock: a mark ends only when later changes get later times.
#[test]
fn what_was_made_after_the_mark_is_newer() {
    for target in [memory(), disk()] {
        let again = |name: &str, entries| named(name, entries);
        let phases = vec![
            again("before", of(Create)),
            again("mark", of(Mark)),
            again("old", looking_for(Some("file.*"), None, true)),
            again("gone", of(Remove)),
            again("after", of(Create)),
            again("new", looking_for(Some("file.*"), None, true)),
            again("second mark", of(Mark)),
            again("old again", looking_for(Some("file.*"), None, true)),
            again("renamed", of(Rename)),
            again("still old", looking_for(Some("file.*.renamed"), None, true)),
        ];
        let done = run(target.path(), &with_items(50, phases)).expect();
        let matched = |name: &str| done.phase(name).matched;
        assert_eq!((matched("old"), matched("new")), (Some(0), Some(150)));
        // A rename changes the directory, not the file.
        assert_eq!((matched("old again"), matched("still old")), (Some(0), Some(0)));
        assert_eq!(done.phase("mark").operation_count(), 1);
    }
}

#[test]
fn searches_that_make_no_sense_are_refused() {
    let said = |phases| with_items(5, phases).check().unwrap_err().message().to_owned();
    let newer = || named("x", looking_for(None, None, true));
    assert_eq!(
        said(vec![newer()]),
        "phase `x` looks for what is newer than a mark that no phase before it makes"
    );
    assert!(said(vec![newer(), named("mark", of(Mark))]).contains("no phase before it"));
    assert!(with_items(5, vec![named("mark", of(Mark)), newer()]).check().is_ok());
    let stat = Entries { operation: EntryOperation::Stat, ..looking_for(Some("*"), None, false) };
    assert_eq!(said(vec![named("x", stat)]), "phase `x` is no find, and can't look for anything");
}
