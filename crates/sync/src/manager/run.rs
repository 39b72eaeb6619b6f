//! One run of a job: a sync of each of its sources to its place.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use fault::{Fault, Kind};
use store::Extended;
use units::Bytes;

use super::file::{Job, Source};
use super::progress::Gauge;
use crate::event::{Event, Watcher};
use crate::filter::Filter;
use crate::job::lock;
use crate::objects::is_elsewhere;
use crate::options::{Deletes, Options};
use crate::record::{End, Record};
use crate::watch::{Following, watch};

/// How often a watch looks at everything again, if its job doesn't say.
const RESCAN: std::time::Duration = std::time::Duration::from_hours(1);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunEnd {
    /// Every destination is as its source was.
    Complete,
    /// Some entries failed or were unstable.
    Partial,
    /// It was stopped, and goes on where it was.
    Stopped,
    /// It could not go on.
    Failed,
}

/// What a run did.
#[derive(Debug)]
pub struct Done {
    pub end: RunEnd,
    /// In one line.
    pub words: String,
    /// Trying again may help.
    pub may_retry: bool,
    pub records: Vec<Record>,
}

/// A run while it goes on: whoever looks at it, or wants it to stop.
#[derive(Debug)]
pub struct Going {
    stop: AtomicBool,
    /// One for each source.
    pub gauges: Vec<Gauge>,
}

/// Hears what a run tells.
pub trait Listener: Sync {
    /// Something happened at one of the sources.
    fn event(&self, event: &Event<'_>);
}

impl Going {
    /// Of a run that is about to begin.
    pub fn new(job: &Job) -> Self {
        Self { stop: AtomicBool::new(false), gauges: job.source.iter().map(|_| Gauge::default()).collect() }
    }

    /// Asks it to stop cleanly.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs a job, until it is done or should stop. `once` runs a watch as a sync. States of the pairs are kept below
/// `state`, or in the user's own place.
pub fn run(job: &Job, going: &Going, once: bool, state: Option<&Path>, listener: &dyn Listener) -> Done {
    let outcomes: Mutex<Vec<fault::Result<Record>>> = Mutex::default();
    let one = |source: &Source, gauge: &Gauge| {
        let done = one_source(job, source, (going, gauge), once, state, listener);
        lock(&outcomes).push(done);
    };
    let pairs = || job.source.iter().zip(&going.gauges);
    if job.watch && !once {
        std::thread::scope(|scope| {
            for (source, gauge) in pairs() {
                scope.spawn(move || {
                    one(source, gauge);
                    // A tree that is no longer followed ends the job, which begins anew.
                    going.stop();
                });
            }
        });
    } else {
        for (source, gauge) in pairs() {
            if !going.is_stopping() {
                one(source, gauge);
            }
        }
    }
    let outcomes = outcomes.into_inner().unwrap_or_default();
    sum_up(outcomes, going.is_stopping())
}

fn one_source(
    job: &Job,
    source: &Source,
    (going, gauge): (&Going, &Gauge),
    once: bool,
    state: Option<&Path>,
    listener: &dyn Listener,
) -> fault::Result<Record> {
    let options = options(job, source, state)?;
    let hears = Hears { going, gauge, listener };
    if job.watch && !once {
        let following = following(job)?;
        return watch(&options, &following, &hears, &gauge.counters, &gauge.status);
    }
    crate::run::run(&options, &hears, &gauge.counters)
}

/// What a job says about one of its sources, as a sync takes it.
fn options(job: &Job, source: &Source, state: Option<&Path>) -> fault::Result<Options> {
    let (destination, at) = destination(job, source);
    let state = state.map(|dir| dir.join("pairs").join(pair(&source.path, &destination, at.as_deref())));
    Ok(Options {
        source: source.path.clone(),
        destination,
        at,
        state,
        workers: job.workers.map(usize::from),
        dry_run: false,
        delete: job.delete.then_some(Deletes { most: job.max_delete, trash: job.trash }),
        filter: filter(job)?,
        update: job.update,
        conflict: job.conflict.unwrap_or_default(),
        verify: job.verify.unwrap_or_default(),
        limit: job.bwlimit.as_deref().map(str::parse).transpose()?,
        extended: Extended { acls: !job.no_acls, others: !job.no_xattrs },
        special_files: job.special_files,
        cross_mounts: job.cross_mounts,
        check_destination: job.check_destination,
        allow_empty_source: job.allow_empty_source,
        allow_new_source: job.allow_new_source,
        in_place_from: job.in_place_from.map(Bytes::get),
        delta: job.delta.unwrap_or_default(),
        layout: job.layout,
        prune: job.prune,
        manifest: None,
        reach: crate::far::Reach::default(),
        large_from: None,
    })
}

/// The destination of a source, and the directory below it.
fn destination(job: &Job, source: &Source) -> (PathBuf, Option<String>) {
    let place = source.place();
    if place.is_empty() {
        return (job.destination.clone(), None);
    }
    if is_elsewhere(&job.destination) {
        let url = job.destination.to_string_lossy();
        return (format!("{}/{place}", url.trim_end_matches('/')).into(), None);
    }
    (job.destination.clone(), Some(place))
}

fn pair(source: &Path, destination: &Path, at: Option<&str>) -> String {
    let text = format!("{}\0{}\0{}", source.display(), destination.display(), at.unwrap_or_default());
    chunk::Id::of(text.as_bytes()).to_string()[..16].to_owned()
}

fn filter(job: &Job) -> fault::Result<Filter> {
    let mut filter = Filter::default();
    filter.set_patterns(&job.exclude, &job.include)?;
    job.ignore_file.iter().for_each(|name| filter.add_pattern_file(name.as_bytes()));
    if let Some(path) = &job.files_from {
        let list = std::fs::read(path).map_err(|error| Fault::os("read", path, error))?;
        filter.set_list(&list, path)?;
    }
    filter.size = (job.min_size.map(Bytes::get), job.max_size.map(Bytes::get));
    filter.set_ages(job.newer_than, job.older_than);
    filter.owners.clone_from(&job.owner);
    Ok(filter)
}

fn following(job: &Job) -> fault::Result<Following> {
    let changelogs = job.changelog.iter().map(|text| text.parse()).collect::<fault::Result<Vec<_>>>()?;
    let by = match job.watch_by.unwrap_or_default() {
        crate::watch::By::Best if !changelogs.is_empty() => crate::watch::By::Changelog,
        by => by,
    };
    Ok(Following { by, rescan: Some(job.rescan.unwrap_or(RESCAN)), changelogs })
}

fn sum_up(outcomes: Vec<fault::Result<Record>>, stopped: bool) -> Done {
    let mut done = Done { end: RunEnd::Complete, words: String::new(), may_retry: true, records: Vec::new() };
    let mut failed: Option<Fault> = None;
    for outcome in outcomes {
        match outcome {
            Ok(record) => {
                done.end = done.end.max(match record.state {
                    End::Complete => RunEnd::Complete,
                    End::Partial => RunEnd::Partial,
                    End::Stopped => RunEnd::Stopped,
                });
                done.records.push(record);
            }
            Err(fault) => {
                failed.get_or_insert(fault);
            }
        }
    }
    done.words = words(&done.records);
    if let Some(fault) = failed {
        done.may_retry = !matches!(fault.kind(), Kind::Usage | Kind::Spec | Kind::Unsupported);
        done.words = match fault.hint_text() {
            Some(hint) => format!("{} (hint: {hint})", fault.message()),
            None => fault.message().to_owned(),
        };
        done.end = RunEnd::Failed;
    } else if stopped {
        done.end = RunEnd::Stopped;
    }
    done
}

/// What the syncs of a run did, in one line.
fn words(records: &[Record]) -> String {
    let sum = |of: fn(&Record) -> u64| records.iter().map(of).sum::<u64>();
    let counted = [
        (sum(|record| record.entries.copied), "copied"),
        (sum(|record| record.entries.made), "made"),
        (sum(|record| record.entries.linked), "linked"),
        (sum(|record| record.entries.updated), "attributes set"),
        (sum(|record| record.entries.deleted), "deleted"),
        (sum(|record| record.entries.unstable), "unstable"),
        (sum(|record| record.entries.failed), "failed"),
    ];
    let mut parts: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() {
        return "nothing to do".to_owned();
    }
    parts.push(format!("{} sent", Bytes::new(sum(|record| record.bytes.sent_bytes))));
    parts.join(", ")
}

struct Hears<'a> {
    going: &'a Going,
    gauge: &'a Gauge,
    listener: &'a dyn Listener,
}

impl Watcher for Hears<'_> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Stage(stage) = event {
            self.gauge.enter(*stage);
        }
        self.listener.event(event);
    }

    fn stopping(&self) -> bool {
        self.going.is_stopping()
    }
}
