//! Following a source: after a sync of all, only what changed is looked at, again and again.
//!
//! A [`Follower`] hears of changes: the kernel's, or a file system's own. Its thread leaves them in an [`Inbox`] at once, so
//! that no queue runs over while files are copied. Each round takes all that is there and brings it over by the same way as
//! a sync of all: judged, copied, made durable, written down. Where changes were lost everything is looked at again.

mod changelog;
mod failures;
mod fanotify;
mod follower;
mod inbox;
mod inotify;
mod mounts;
mod status;

use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::FileSystem;

use self::changelog::Changelog;
pub use self::changelog::Reader;
use self::failures::Failures;
use self::fanotify::Fanotify;
use self::follower::{Deaf, Follower, Told};
use self::inbox::Inbox;
use self::inotify::Inotify;
pub use self::status::Status;
use crate::counters::Counters;
use crate::event::{Event, Stage, Watcher};
use crate::options::Options;
use crate::record::{End, Entries, Record, Sizes, VERSION, Watched};
use crate::scope::{Changes, Scope};
use crate::session::{Round, Session};

/// How long changes are gathered before a round takes them.
const GATHER: Duration = Duration::from_millis(300);
/// How often the loop looks around.
const TICK: Duration = Duration::from_millis(100);
/// When what could not be done is tried again: after the first, doubling up to the last.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// How a source is followed.
#[derive(Debug, Clone, Default)]
pub struct Following {
    /// What tells of changes.
    pub by: By,
    /// How often everything is looked at all the same; never by default.
    pub rescan: Option<Duration>,
    /// The changelogs to read, where they tell.
    pub changelogs: Vec<Reader>,
}

/// What tells of changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The best that the kernel, the file system and our rights allow.
    #[default]
    Best,
    /// One mark for the file system: needs root.
    Fanotify,
    /// A watch for each directory.
    Inotify,
    /// The changelogs of Lustre, one for each MDT.
    Changelog,
    /// Nothing: everything is looked at every so often.
    Rescan,
}

/// Makes the destination like the source, and keeps it so until `watcher` says stop. An error is returned where the
/// watch as a whole can't go on.
pub fn watch(
    options: &Options,
    following: &Following,
    watcher: &dyn Watcher,
    counters: &Counters,
    status: &Status,
) -> fault::Result<Record> {
    if options.dry_run {
        return Err(Fault::new(Kind::Usage, "a watch can't be a dry run").hint("leave one of both away"));
    }
    crate::objects::check_layout(options)?;
    if crate::objects::has_location(options) {
        return Err(Fault::new(Kind::Usage, "only two trees of this host can be watched")
            .hint("sync again from time to time, without --watch"));
    }
    let started = (Instant::now(), jiff::Zoned::now());
    let failures = Failures::new(watcher);
    let mut session = Session::open(options, &failures)?;
    let mut told = Told::default();
    // Before the first sync: nothing that changes while it goes on may be missed.
    let mut follower = start(&session, following, &mut told)?;
    status.follow(follower.by());
    let inbox = Inbox::default();
    told.notes.iter().for_each(|note| watcher.event(&Event::Note(note)));
    let ended = std::thread::scope(|scope| {
        let listening = std::thread::Builder::new()
            .name("follower".to_owned())
            .spawn_scoped(scope, || inbox.listen(&mut *follower));
        listening.map_err(|error| Fault::new(Kind::Io, format!("cannot start a thread: {error}")))?;
        let mut pursuit = Pursuit {
            session: &mut session,
            failures: &failures,
            counters,
            status,
            inbox: &inbox,
            again: Again::default(),
            rescan: following.rescan,
            looked: Instant::now(),
        };
        let ended = pursuit.go_on();
        inbox.close();
        ended
    });
    let waiting = inbox.waiting().1 as u64;
    let (failed, unstable, list) = failures.take();
    let record = Record {
        version: VERSION,
        state: End::Stopped,
        source: session.roots.paths.0.display().to_string(),
        destination: session.roots.paths.1.display().to_string(),
        dry_run: false,
        started: started.1.timestamp().to_string(),
        elapsed_ns: u64::try_from(started.0.elapsed().as_nanos()).unwrap_or(u64::MAX),
        entries: Entries { unstable, failed, ..Entries::of(counters) },
        bytes: Sizes::of(counters),
        failures: list,
        watched: Some(Watched {
            by: status.by().to_owned(),
            rounds: status.rounds(),
            rescans: status.rescans(),
            gaps: status.gaps(),
            waiting,
        }),
    };
    session.keep(&record)?;
    ended.map(|()| record)
}

/// The follower that was asked for, or the best there is.
fn start(session: &Session<'_>, following: &Following, told: &mut Told) -> fault::Result<Box<dyn Follower>> {
    let (source, cross) = (session.roots.paths.0.as_path(), session.options.cross_mounts);
    let system = FileSystem::of(session.roots.source.fd())
        .map_err(|error| Fault::os("look at the file system of", source, error))?;
    if !system.is_local() && !matches!(following.by, By::Rescan | By::Changelog) {
        told.notes.push(format!(
            "`{}` is shared: what other hosts change in it is seen when everything is looked at again (--rescan)",
            source.display()
        ));
    }
    match following.by {
        By::Fanotify => Ok(Box::new(Fanotify::start(source, cross)?)),
        By::Inotify => Ok(Box::new(Inotify::start(source, cross, told)?)),
        By::Changelog => {
            if !system.is_lustre() {
                let text = format!("`{}` does not lie on Lustre, and has no changelog", source.display());
                return Err(Fault::new(Kind::Usage, text).hint("watch with --watch-by best"));
            }
            Ok(Box::new(Changelog::start(source, &following.changelogs)?))
        }
        By::Rescan => Ok(Box::new(Deaf)),
        By::Best => match Fanotify::start(source, cross) {
            Ok(fanotify) => Ok(Box::new(fanotify)),
            Err(_) => Ok(Box::new(Inotify::start(source, cross, told)?)),
        },
    }
}

/// What could not be done, and when it is tried again.
#[derive(Debug, Default)]
struct Again {
    changes: Changes,
    due: Option<Instant>,
    delay: Duration,
}

impl Again {
    /// Takes what is due.
    fn take(&mut self) -> Option<Changes> {
        let due = self.due.is_some_and(|due| Instant::now() >= due);
        due.then(|| {
            self.due = None;
            std::mem::take(&mut self.changes)
        })
    }

    /// Adds what a round could not do; `all` where the round had tried everything again.
    fn add(&mut self, changes: Changes, all: bool) {
        self.changes.merge(changes);
        if self.changes.is_empty() {
            if all {
                self.delay = PATIENCE.0;
            }
            self.due = None;
        } else if self.due.is_none() {
            self.delay = self.delay.clamp(PATIENCE.0, PATIENCE.1);
            self.due = Some(Instant::now() + self.delay);
            self.delay *= 2;
        }
    }
}

/// A watch while it goes on.
struct Pursuit<'a, 'b> {
    session: &'a mut Session<'b>,
    failures: &'a Failures<'a>,
    counters: &'a Counters,
    status: &'a Status,
    inbox: &'a Inbox,
    again: Again,
    rescan: Option<Duration>,
    /// When everything was looked at last.
    looked: Instant,
}

impl Pursuit<'_, '_> {
    fn go_on(&mut self) -> fault::Result<()> {
        self.look_at_all()?;
        while !self.failures.stopping() {
            self.failures.event(&Event::Stage(Stage::Watch));
            self.inbox.wait(TICK)?;
            let (since, waiting) = self.inbox.waiting();
            self.status.heard((since, waiting));
            let is_ripe = since.is_some_and(|since| since.elapsed() >= GATHER);
            if self.rescan.is_some_and(|every| self.looked.elapsed() >= every) {
                self.status.round(true);
                self.look_at_all()?;
            } else if is_ripe {
                self.take_mail()?;
            } else if let Some(changes) = self.again.take() {
                self.look_at(changes, true)?;
            } else if waiting > 0 {
                std::thread::sleep(TICK);
            }
        }
        Ok(())
    }

    /// Everything, whatever was heard.
    fn look_at_all(&mut self) -> fault::Result<()> {
        let mail = self.inbox.take();
        self.tell(&mail.told);
        self.status.at_work(mail.since);
        self.looked = Instant::now();
        self.again = Again::default();
        self.round(&Scope::All, true)?;
        self.inbox.committed(mail.takes);
        Ok(())
    }

    fn take_mail(&mut self) -> fault::Result<()> {
        let mut mail = self.inbox.take();
        self.tell(&mail.told);
        self.status.at_work(mail.since);
        let late = self.again.take();
        let is_late = late.is_some();
        late.into_iter().for_each(|late| mail.told.changes.merge(late));
        self.look_at(mail.told.changes, is_late)?;
        self.inbox.committed(mail.takes);
        Ok(())
    }

    /// `again` where it has all that could not be done before.
    fn look_at(&mut self, changes: Changes, again: bool) -> fault::Result<()> {
        let all = changes.is_everything();
        self.status.round(all);
        if all {
            self.looked = Instant::now();
        }
        self.round(&if all { Scope::All } else { Scope::Some(changes) }, all || again)
    }

    fn round(&mut self, scope: &Scope, again: bool) -> fault::Result<()> {
        self.session.is_still_there()?;
        self.failures.begin();
        let round = match self.session.round(scope, self.failures, self.counters) {
            // Too much would be deleted: the rest is done, and this waits for a person.
            Err(fault) if fault.kind() == Kind::Refused => {
                self.failures.refuse(&fault);
                let again = match scope {
                    Scope::All => Changes::all(),
                    Scope::Some(changes) => changes.clone(),
                };
                Round { end: End::Partial, again }
            }
            done => {
                if again {
                    self.failures.allow();
                }
                done?
            }
        };
        if round.end != End::Stopped {
            self.failures.end(scope);
        }
        self.again.add(round.again, again);
        self.status.set_failing(self.failures.count());
        self.status.at_work(None);
        Ok(())
    }

    fn tell(&self, told: &Told) {
        told.notes.iter().for_each(|note| self.failures.event(&Event::Note(note)));
        if let Some(why) = &told.gap {
            self.status.gap();
            self.failures.event(&Event::Note(&format!("{why}: everything is looked at again")));
        }
    }
}
