//! A run over several processes: the root orders, all do it, the root gathers what came of it.
//!
//! The root makes a [`Crew`] and hands it to its sessions ([`Session::over`](crate::Session::over)); every other process
//! [`serve`]s. All of them hold the same [`Link`]. A run of one process is a crew of one.
//!
//! ```text
//! root                                     others
//! Crew::muster(&link, here)?               crew::serve(&link, here)?
//! Session::new(..).over(&crew).run(..)       ... does what is ordered ...
//! crew.dismiss()?                          returns
//! ```

mod agreement;
mod introduction;
mod order;
mod station;
pub(crate) mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fault::{Fault, Kind, Result};
use fleet::{Alone, Link, Lost, Placement};

pub(crate) use agreement::{check_same_version, refuse_other_storage};
pub use introduction::Introduction;
pub(crate) use order::{Answer, Created, Order, PhaseOrder, Seat, Seating, Sight};
use station::Station;

use crate::interrupt;
use crate::runner::live::Post;
use crate::runner::part::PartResult;
use crate::runner::watch::Observer;

/// The reason to stop ([`Link::stop`]) that a signal gives: what was measured is kept, and nothing has failed.
pub const INTERRUPTED: u8 = 1;

static ALONE: Alone = Alone;

/// The processes of a run, as the root sees them.
pub struct Crew<'l> {
    link: &'l dyn Link,
    members: Vec<Introduction>,
    seats: Vec<u32>,
    station: Mutex<Station>,
    dismissed: AtomicBool,
}

impl std::fmt::Debug for Crew<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew")
            .field("members", &self.members)
            .field("seats", &self.seats)
            .finish_non_exhaustive()
    }
}

impl Crew<'static> {
    /// This process and no other.
    pub fn alone() -> Self {
        let own = Introduction::here();
        Self::of(&ALONE, own.clone(), vec![own])
    }
}

impl<'l> Crew<'l> {
    fn of(link: &'l dyn Link, own: Introduction, members: Vec<Introduction>) -> Self {
        let station = Mutex::new(Station::new(link.process(), own));
        Self { link, seats: link.seats(), members, station, dismissed: AtomicBool::new(false) }
    }

    /// Asks every process who it is. Called by the root, while the others [`serve`].
    ///
    /// # Errors
    ///
    /// When the link can't go on, when processes are gone already, or when they are of different versions.
    pub fn muster(link: &'l dyn Link, own: Introduction) -> Result<Self> {
        let mut crew = Self::of(link, own.clone(), vec![own; link.processes() as usize]);
        let answers = crew.order(Order::Introduce)?;
        for (process, answer) in answers.into_iter().enumerate() {
            match answer {
                Some(Answer::Introduction(introduction)) => crew.members[process] = introduction,
                Some(_) => return Err(out_of_step()),
                None => return Err(gone(&link.lost())),
            }
        }
        check_same_version(&crew.members)?;
        Ok(crew)
    }

    /// Who they are, in the order of the processes.
    pub fn members(&self) -> &[Introduction] {
        &self.members
    }

    /// How many ranks each process is to host.
    pub fn seats(&self) -> &[u32] {
        &self.seats
    }

    /// Ranks of a run that fills all seats.
    pub fn ranks(&self) -> u32 {
        self.seats.iter().sum()
    }

    /// Where `ranks` ranks would be.
    pub fn placement(&self, ranks: u32) -> Placement {
        let hosts: Vec<(String, &str)> =
            self.members.iter().map(|member| (member.host.clone(), member.boot_id.as_str())).collect();
        if self.members.len() == 1 {
            return Placement::alone(&self.members[0].host, ranks);
        }
        Placement::new(ranks, &self.seats, &hosts)
    }

    /// Whether there is more than this process.
    pub fn is_several(&self) -> bool {
        self.members.len() > 1
    }

    /// What joins the processes.
    pub(crate) fn link(&self) -> &'l dyn Link {
        self.link
    }

    fn station(&self) -> MutexGuard<'_, Station> {
        self.station.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has everybody do something, and gathers what each says: `None` of those that are gone, never a failure.
    ///
    /// # Errors
    ///
    /// What failed, with the hosts it failed on; or that the link can't go on.
    pub(crate) fn order(&self, order: Order) -> Result<Vec<Option<Answer>>> {
        if !self.is_several() {
            return Ok(vec![Some(self.station().attempt(order)?)]);
        }
        self.link.broadcast(wire::pack(&order)?)?;
        let own = self.station().perform(order);
        let gathered = self.link.gather(wire::pack(&own)?)?;
        let read = |bytes: Option<Vec<u8>>| bytes.map(|bytes| wire::unpack(&bytes)).transpose();
        self.sort(gathered.into_iter().map(read).collect::<Result<_>>()?)
    }

    /// Failures apart from answers.
    fn sort(&self, answers: Vec<Option<Answer>>) -> Result<Vec<Option<Answer>>> {
        let failed = |(process, answer): (usize, &Option<Answer>)| match answer {
            Some(Answer::Failed(wire)) => Some((process, Fault::from(wire.clone()))),
            _ => None,
        };
        let failures: Vec<(usize, Fault)> = answers.iter().enumerate().filter_map(failed).collect();
        self.together(failures).map_or(Ok(answers), Err)
    }

    /// One failure that names everything that failed, and where.
    pub(crate) fn together(&self, mut failures: Vec<(usize, Fault)>) -> Option<Fault> {
        if !self.is_several() {
            return failures.pop().map(|(_, fault)| fault);
        }
        // What came of it elsewhere is no news.
        let consequence = |fault: &Fault| fault.kind() == Kind::Interrupted;
        if failures.iter().any(|(_, fault)| !consequence(fault)) {
            failures.retain(|(_, fault)| !consequence(fault));
        }
        let (_, first) = failures.first()?;
        let mut different: Vec<(&str, Vec<String>)> = Vec::new();
        for (process, fault) in &failures {
            let name = self.name(*process);
            match different.iter_mut().find(|(message, _)| *message == fault.message()) {
                Some((_, names)) => names.push(name),
                None => different.push((fault.message(), vec![name])),
            }
        }
        let more = different.len().saturating_sub(FAILURES_NAMED);
        let mut parts: Vec<String> = different
            .iter()
            .take(FAILURES_NAMED)
            .map(|(message, names)| format!("on {}: {message}", listed(names)))
            .collect();
        if more > 0 {
            parts.push(format!("and {more} more"));
        }
        let fault = Fault::new(first.kind(), parts.join("; "));
        Some(match first.hint_text() {
            Some(hint) => fault.hint(hint),
            None => fault,
        })
    }

    /// A process in words: its host, and which of several there.
    pub(crate) fn name(&self, process: usize) -> String {
        let member = &self.members[process];
        let on_host =
            self.members.iter().filter(|m| (&m.host, &m.boot_id) == (&member.host, &member.boot_id));
        if on_host.count() > 1 { format!("{} (process {process})", member.host) } else { member.host.clone() }
    }

    /// Has everybody run a phase; what each brings home, `None` of those that are gone.
    ///
    /// # Errors
    ///
    /// When the link can't go on.
    pub(crate) fn phase(
        &self,
        order: PhaseOrder,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Option<PartResult>>> {
        if !self.is_several() {
            return Ok(vec![Some(self.station().phase(&order, self.link, observer)?)]);
        }
        let order = Order::Phase(Box::new(order));
        self.link.broadcast(wire::pack(&order)?)?;
        let Order::Phase(order) = order else { return Err(out_of_step()) };
        let own = self.station().phase(&order, self.link, observer)?;
        let gathered = self.link.gather(Vec::new())?;
        self.link.resume();
        let mut own = Some(own);
        let mut parts = Vec::with_capacity(gathered.len());
        for (process, bytes) in gathered.into_iter().enumerate() {
            parts.push(match bytes {
                Some(_) if process == self.link.process() as usize => own.take(),
                Some(bytes) => Some(PartResult::from_bytes(&bytes)?),
                None => None,
            });
        }
        Ok(parts)
    }

    /// Processes that are gone.
    pub(crate) fn lost(&self) -> Vec<Lost> {
        self.link.lost()
    }

    /// Refuses to go on when more processes are gone than may be.
    pub(crate) fn check_lost(&self, allowed: u32) -> Result<()> {
        let lost = self.lost();
        if lost.len() as u64 > u64::from(allowed) { Err(gone(&lost)) } else { Ok(()) }
    }

    /// Whether a process is still there.
    pub(crate) fn has(&self, process: usize) -> bool {
        self.lost().iter().all(|lost| lost.process as usize != process)
    }

    /// Lets everybody go home: [`serve`] returns there.
    ///
    /// # Errors
    ///
    /// When the link can't go on.
    pub fn dismiss(&self) -> Result<()> {
        if self.dismissed.swap(true, Ordering::AcqRel) || !self.is_several() {
            return Ok(());
        }
        self.link.broadcast(wire::pack(&Order::Dismiss)?).map(drop)
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        // A root that failed must not leave the others waiting.
        let _ = self.dismiss();
    }
}

/// Different failures that are told word for word.
const FAILURES_NAMED: usize = 4;
/// Names that are listed one by one.
const NAMES_LISTED: usize = 3;

/// Some names and how many more.
pub(crate) fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_LISTED);
    let first = names[..names.len() - more].join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Processes that are gone, as a failure.
pub(crate) fn gone(lost: &[Lost]) -> Fault {
    let each: Vec<String> =
        lost.iter().map(|lost| format!("{} (process {}): {}", lost.host, lost.process, lost.why)).collect();
    let message = match &each[..] {
        [] => "a process of the run is gone".to_owned(),
        [one] => format!("a process of the run is gone: {one}"),
        many => format!("{} processes of the run are gone: {}", many.len(), listed(many)),
    };
    Fault::new(Kind::Io, message).hint("look at the host, and run again; `--allow-lost N` goes on without")
}

pub(crate) fn out_of_step() -> Fault {
    Fault::new(Kind::Bug, "the processes of the run are out of step")
        .hint("this is a mistake in forebay: please report it with the command line")
}

/// Does what the root orders, until it dismisses this process. Called by every process but the root.
///
/// # Errors
///
/// When the link can't go on: the root is gone.
pub fn serve(link: &dyn Link, own: Introduction) -> Result<()> {
    let mut station = Station::new(link.process(), own);
    loop {
        let bytes = match wire::unpack(&link.broadcast(Vec::new())?)? {
            Order::Dismiss => return Ok(()),
            Order::Phase(order) => {
                let bytes = station.phase(&order, link, &mut Post(link))?.to_bytes()?;
                link.gather(bytes)?;
                link.resume();
                continue;
            }
            order => wire::pack(&answer(&mut station, order))?,
        };
        link.gather(bytes)?;
    }
}

/// A signal here ends the run for all, but not its clearing up.
fn answer(station: &mut Station, order: Order) -> Answer {
    let clears_up = matches!(order, Order::Hide | Order::Leave { .. } | Order::Remove { .. } | Order::End);
    match interrupt::requested() {
        Some(_) if !clears_up => Answer::Failed((&stopped_by_signal()).into()),
        _ => station.perform(order),
    }
}

/// What a signal to this process comes to.
pub(crate) fn stopped_by_signal() -> Fault {
    let signal = match interrupt::requested() {
        Some(libc::SIGTERM) => "SIGTERM",
        Some(libc::SIGHUP) => "SIGHUP",
        _ => "Ctrl-C",
    };
    Fault::new(
        Kind::Interrupted,
        format!("stopped by {signal}; what was measured so far is kept in the record"),
    )
}
