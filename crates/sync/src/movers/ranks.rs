//! One job, done by the processes that `mpirun`, `mpiexec` or `srun` started.
//!
//! The first rank has the queue, in a file of its state, and the others ask it. Nobody joins later, and nobody is waited for:
//! a rank that dies ends the run, and the next run goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fault::{Fault, Kind};
use fleet::{GONE, Link as _, Lost, Node};
use serde::{Deserialize, Serialize};

use super::answer::answer;
use super::call::{pack, unpack};
use super::distant::Distant;
use super::merge;
use super::mover::{Mover, check};
use super::queue::{Joined, Queue};
use super::scratch::Scratch;
use super::sqlite::Sqlite;
use super::tables::Tables;
use super::told::Told;
use crate::counters::Counters;
use crate::event::{Event, Watcher};
use crate::guard::guard;
use crate::index::Knowledge;
use crate::options::Options;
use crate::record::{End, Record};
use crate::roots::{Roots, check_place_of_state, lock_destination, open_roots, share_destination};
use crate::state::{Identity, State, default_place, key_of};

/// A rank can't go on: the others stop, too. Reasons above are numbers of signals.
const FAILED: u8 = 0;
/// Nothing is leased: a rank has what it took until the run is over.
const LEASE: Duration = Duration::from_hours(10_000);
/// How often the first rank looks whether the run is over.
const LOOK: Duration = Duration::from_millis(100);

/// The processes of a run.
#[derive(Clone, Copy)]
pub struct Ranks<'a> {
    /// What joins them.
    pub node: &'a Node,
    /// The signal that asked this process to stop, if one did.
    pub signal: fn() -> Option<i32>,
}

/// What all ranks must know of the round.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Round {
    number: i64,
    probe: String,
    key: String,
}

impl Ranks<'_> {
    /// Whether this is the one that speaks.
    pub fn is_first(&self) -> bool {
        self.node.process() == 0
    }

    /// What all come to: the first failure, in the same words for everyone; else everyone's own.
    pub fn agree<T>(&self, own: fault::Result<T>) -> fault::Result<T> {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let brought = self.node.gather(pack(&(host, own.as_ref().err().map(Told::of)), &[])?)?;
        let verdict = if self.is_first() { first_failure(&brought)? } else { None };
        let told: Option<Told> = unpack(&self.node.broadcast(pack(&verdict, &[])?)?)?.0;
        match told {
            Some(told) => Err(told.into_fault()),
            None => own,
        }
    }

    /// The signal by which the run was stopped, wherever it came.
    pub fn stopped_by(&self) -> Option<i32> {
        (self.signal)()
            .or_else(|| self.node.stopped().filter(|reason| ![FAILED, GONE].contains(reason)).map(i32::from))
    }
}

fn first_failure(brought: &[Option<Vec<u8>>]) -> fault::Result<Option<Told>> {
    for (number, bytes) in brought.iter().enumerate() {
        let Some(bytes) = bytes else {
            let gone = Fault::new(Kind::Io, format!("rank {number} is gone"));
            return Ok(Some(Told::of(&gone)));
        };
        let (host, told): (String, Option<Told>) = unpack(bytes)?.0;
        if let Some(told) = told {
            return Ok(Some(if number == 0 { told } else { told.by(&format!("rank {number} on {host}")) }));
        }
    }
    Ok(None)
}

/// Does a job together with the other ranks, who were given the same. The first one's record is that of the whole job.
pub fn move_ranks(
    options: &Options,
    alike: &str,
    ranks: Ranks<'_>,
    watcher: &dyn Watcher,
    counters: &Counters,
) -> fault::Result<Record> {
    let among = Among { ranks, inner: watcher };
    let roots = open_all(options, ranks)?;
    let _busy = ranks.agree(share_destination(&roots.destination))?;
    let mut home = ranks.agree(Home::open(options, ranks, &roots, watcher))?;
    let key = key_of(&roots.paths.0, &roots.paths.1);
    let scratch = ranks.agree(scratch_of(options))?;
    let digest = chunk::Id::of(alike.as_bytes()).to_string();
    let mut mover =
        Mover { options, lease: LEASE, digest, watcher: &among, counters, roots: &roots, key, scratch };
    let begun = ranks.agree(home.as_mut().map_or(Ok(Round::default()), |home| home.begin(&mover)));
    let own = begun.and_then(|round| {
        let round: Round = unpack(&ranks.node.broadcast(pack(&round, &[])?)?)?.0;
        mover.key.clone_from(&round.key);
        let same = if ranks.is_first() { Ok(()) } else { mover.compare(&round.probe) };
        ranks.agree(same)?;
        work(&mover, ranks, &mut home, round.number)
    });
    if let Some(home) = &home {
        mover.remove_probe();
        if own.as_ref().is_ok_and(|record| record.state == End::Complete) {
            home.remember(false, &roots)?;
        }
    }
    own
}

/// The first rank makes the destination, if it is not there; all others must find it.
fn open_all(options: &Options, ranks: Ranks<'_>) -> fault::Result<Roots> {
    let may_begin = check(options, "ranks of a launcher");
    if ranks.is_first() {
        let opened = ranks.agree(may_begin.and_then(|()| open_roots(options)).and_then(alone));
        return opened.and_then(|roots| ranks.agree(Ok(roots)));
    }
    ranks.agree(may_begin)?;
    let there = options.destination.try_exists().unwrap_or(false);
    ranks.agree(if there { open_roots(options) } else { Err(missing(options)) })
}

fn missing(options: &Options) -> Fault {
    let text = format!("`{}` is not there", options.destination.display());
    Fault::new(Kind::Refused, text).hint("is it mounted on this host, at the same path?")
}

/// No other job writes to the destination at this moment. From here on, one that wants it to itself waits for us.
fn alone(roots: Roots) -> fault::Result<Roots> {
    lock_destination(&roots.destination).map(drop)?;
    Ok(roots)
}

fn scratch_of(options: &Options) -> fault::Result<Scratch> {
    let place =
        options.state.as_ref().map_or_else(|| default_place("sync-movers"), |dir| Ok(dir.join("ranks")))?;
    Scratch::make(&place)
}

/// What the first rank has: the state of the pair, with the queue.
struct Home {
    state: State,
    queue: Tables,
    beside: Tables,
    serving: Tables,
    identities: (Identity, Identity),
}

impl Home {
    /// At the first rank: opens it, and ends what an earlier run left.
    fn open(
        options: &Options,
        ranks: Ranks<'_>,
        roots: &Roots,
        watcher: &dyn Watcher,
    ) -> fault::Result<Option<Self>> {
        if !ranks.is_first() {
            return Ok(None);
        }
        let state = State::open(options.state.as_deref(), &roots.paths.0, &roots.paths.1)?;
        check_place_of_state(&state, roots)?;
        let identities = (Identity::of(&roots.source)?, Identity::of(&roots.destination)?);
        let memory = state.memory()?;
        guard(options, watcher, roots, memory.as_ref(), identities.0, &Knowledge::default())?;
        let open = || -> fault::Result<Tables> {
            let database = Sqlite::open(&state.path("queue.db"))?;
            Ok(Tables::new(Box::new(database), key_of(&roots.paths.0, &roots.paths.1), LEASE))
        };
        let (mut queue, beside, serving) = (open()?, open()?, open()?);
        queue.abandon(memory.is_some_and(|memory| memory.destination != identities.1))?;
        let home = Self { state, queue, beside, serving, identities };
        Ok(Some(home))
    }

    /// Divides the job.
    fn begin(&mut self, mover: &Mover<'_>) -> fault::Result<Round> {
        self.remember(true, mover.roots)?;
        let key = mover.key.clone();
        match self.queue.join("", &mover.digest, true)? {
            Joined::Planner { token, round } => {
                Ok(Round { number: round, probe: mover.plan(&mut self.queue, token)?, key })
            }
            Joined::Mover { .. } => Err(Fault::new(Kind::Bug, "somebody else divides what is ours")),
        }
    }

    fn remember(&self, running: bool, roots: &Roots) -> fault::Result<()> {
        self.state.remember((&roots.paths.0, &roots.paths.1), self.identities, running)
    }
}

/// Works until the round is over, and waits for the others.
fn work(mover: &Mover<'_>, ranks: Ranks<'_>, home: &mut Option<Home>, round: i64) -> fault::Result<Record> {
    let mut round = round;
    let mut nothing = |_: &mut dyn Queue, _: &mut i64| Ok(());
    let Some(Home { queue, beside, serving, .. }) = home else {
        let (mut queue, mut beside) = (Distant(ranks.node), Distant(ranks.node));
        let own = mover.work_through(&mut queue, &mut beside, &mut round, &mut nothing);
        return conclude(ranks, own);
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(ranks.node, serving, mover.watcher, &over));
        let own = mover.work_through(queue, beside, &mut round, &mut nothing);
        let own = conclude(ranks, own);
        over.store(true, Ordering::Relaxed);
        own
    })
}

/// Answers the others until the run is over.
fn serve(node: &Node, queue: &mut dyn Queue, watcher: &dyn Watcher, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let Some(question) = node.question(LOOK) else { continue };
        let answered = answer(queue, watcher, &question.bytes);
        if answered.and_then(|answer| node.answer(&question, &answer)).is_err() {
            node.stop(FAILED);
        }
    }
}

/// Waits for all. At the first rank: what came of the run.
fn conclude(ranks: Ranks<'_>, own: fault::Result<Record>) -> fault::Result<Record> {
    if own.is_err() {
        ranks.node.stop(FAILED);
    }
    let words: Result<&Record, Told> = own.as_ref().map_err(Told::of);
    let brought = ranks.node.gather(pack(&words, &[])?)?;
    if !ranks.is_first() || own.as_ref().is_ok_and(|record| record.state != End::Stopped) {
        return own;
    }
    if let Some(lost) = ranks.node.lost().first() {
        return Err(gone(lost));
    }
    let mut sum = own?;
    for (number, bytes) in brought.iter().enumerate().skip(1) {
        let Some(bytes) = bytes else { continue };
        match unpack::<Result<Record, Told>>(bytes)?.0 {
            Ok(record) => merge::add(&mut sum, record),
            Err(told) => return Err(told.by(&format!("rank {number}")).into_fault()),
        }
    }
    sum.state = End::Stopped;
    Ok(sum)
}

fn gone(lost: &Lost) -> Fault {
    let Lost { process, host, why } = lost;
    Fault::new(Kind::Io, format!("rank {process} on {host} is gone: {why}"))
        .hint("what was done is kept; the same command goes on from there")
}

/// Hears and tells for all ranks.
struct Among<'a> {
    ranks: Ranks<'a>,
    inner: &'a dyn Watcher,
}

impl Watcher for Among<'_> {
    fn event(&self, event: &Event<'_>) {
        if self.ranks.is_first() {
            self.inner.event(event);
        } else {
            Distant(self.ranks.node).pass_on(event);
        }
    }

    fn stopping(&self) -> bool {
        if let Some(signal) = (self.ranks.signal)() {
            self.ranks.node.stop(u8::try_from(signal).unwrap_or(1));
            return true;
        }
        self.inner.stopping() || self.ranks.node.stopped().is_some()
    }
}
