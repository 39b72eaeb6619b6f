//! One process of a run: does what the root orders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fault::{Fault, Kind, Result};
use fleet::Link;
use host::{Environment, System};

use super::introduction::Introduction;
use super::order::{Answer, Created, Order, PhaseOrder, Seat, Seating, Sight};
use crate::engine::{Chosen, EngineKind, Pool, Share, choose, uring_available};
use crate::ground::{Ground, Grounds, Site};
use crate::layout;
use crate::runner::memory::HeldMemory;
use crate::runner::part::{Part, PartResult};
use crate::runner::probes::Probes;
use crate::runner::watch::Observer;
use crate::runner::{preflight, room};
use crate::workload::{Activity, Job, Tree, Workload};
use units::Bytes;

/// A directory that another host has just made may take this long to show: network file systems remember for some seconds
/// what was not there.
const SHOWS_WITHIN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One process of a run.
#[derive(Debug)]
pub struct Station {
    process: u32,
    own: Introduction,
    test: Option<Test>,
}

/// Its part in a test.
#[derive(Debug)]
struct Test {
    workload: Workload,
    targets: Vec<PathBuf>,
    seat: Seat,
    leads: bool,
    /// The machine and the storage of the first target.
    environment: Environment,
    /// What must stay available in the targets.
    reserve: Bytes,
    pin: Vec<u32>,
    probes: Option<Probes>,
    held: Option<HeldMemory>,
    shown: Option<Grounds>,
    standing: Option<Standing>,
}

/// Its part in a repetition.
#[derive(Debug)]
struct Standing {
    grounds: Grounds,
    shares: Vec<Share>,
    pool: Option<Pool>,
}

impl Station {
    /// Process number `process`.
    pub fn new(process: u32, own: Introduction) -> Self {
        Self { process, own, test: None }
    }

    /// Does anything but a phase.
    pub fn perform(&mut self, order: Order) -> Answer {
        self.attempt(order).unwrap_or_else(|fault| Answer::Failed((&fault).into()))
    }

    /// The same, with the failure as it is.
    pub fn attempt(&mut self, order: Order) -> Result<Answer> {
        match order {
            Order::Introduce => return Ok(Answer::Introduction(self.own.clone())),
            Order::Look(seating) => return self.look(*seating),
            Order::Show { run } => return self.lead(|test| test.show(&run)),
            Order::Find { sites } => self.follow(|_| find(&sites))?,
            Order::Hide => return self.lead(Test::hide),
            Order::Begin => return self.test()?.begin(),
            Order::Choose { run } => return self.lead(|test| test.choose(&run)),
            Order::Create { id, repetition } => return self.lead(|test| test.create(&id, repetition)),
            Order::Join { sites, repetition } => self.follow(|test| test.join(&sites, repetition))?,
            Order::Leave { remover } if remover != self.process => self.test()?.standing = None,
            Order::Remove { remover, keep } if remover == self.process => self.test()?.remove(keep)?,
            Order::End => self.test = None,
            Order::Phase(_) | Order::Leave { .. } | Order::Remove { .. } | Order::Dismiss => {}
        }
        Ok(Answer::Done)
    }

    fn test(&mut self) -> Result<&mut Test> {
        self.test.as_mut().ok_or_else(|| Fault::new(Kind::Bug, "an order came before its test"))
    }

    /// What only the lead does.
    fn lead(&mut self, work: impl FnOnce(&mut Test) -> Result<Answer>) -> Result<Answer> {
        let test = self.test()?;
        if test.leads { work(test) } else { Ok(Answer::Done) }
    }

    /// What those do that host ranks, but for the lead.
    fn follow(&mut self, work: impl FnOnce(&mut Test) -> Result<()>) -> Result<()> {
        let test = self.test()?;
        if test.leads || test.seat.block().count == 0 { Ok(()) } else { work(test) }
    }

    fn look(&mut self, seating: Seating) -> Result<Answer> {
        let Seating { workload, targets, seats, lead, expect_file_system, fill_beyond } = seating;
        let seat = *seats
            .get(self.process as usize)
            .ok_or_else(|| Fault::new(Kind::Bug, "a process of the run has no seat"))?;
        let system = System::here();
        let mut sight = Sight { uring: uring_available(), ..Sight::default() };
        // Who hosts no ranks need not have the targets.
        if seat.block().count > 0 {
            for target in &targets {
                let mut environment = system.environment(Some(target))?;
                let expected = expect_file_system.as_deref();
                preflight::check(target, &environment, &workload, expected, fill_beyond)?;
                layout::check_striping(&workload, &environment, target)?;
                environment.hostname.clone_from(&self.own.host);
                sight.environments.push(environment);
                sight.file_systems.push(file_system_id(target));
            }
        }
        let mut pin = if workload.pin { system.pin_order() } else { Vec::new() };
        if !pin.is_empty() {
            let first = seat.before_on_host as usize % pin.len();
            pin.rotate_left(first);
        }
        self.test = Some(Test {
            leads: lead == self.process,
            environment: sight.environments.first().cloned().unwrap_or_default(),
            reserve: room::reserve(&sight.environments, workload.space(), fill_beyond),
            workload,
            targets,
            seat,
            pin,
            probes: None,
            held: None,
            shown: None,
            standing: None,
        });
        Ok(Answer::Sight(Box::new(sight)))
    }

    /// Runs this process's part of a phase.
    ///
    /// # Errors
    ///
    /// When the link can't go on.
    pub fn phase(
        &mut self,
        order: &PhaseOrder,
        link: &dyn Link,
        observer: &mut dyn Observer,
    ) -> Result<PartResult> {
        let host = self.own.host.clone();
        let nowhere = || Fault::new(Kind::Bug, "a phase came before its repetition");
        let test = self.test()?;
        let none = Grounds::nowhere();
        let no_probes = Probes::none();
        let (grounds, shares, pool) = match &mut test.standing {
            Some(Standing { grounds, shares, pool }) => {
                if let Some(pool) = pool {
                    pool.begin(order.phase.jobs.len());
                }
                (&*grounds, &shares[..], pool.as_ref())
            }
            None if test.seat.block().count == 0 => (&none, &[][..], None),
            None => return Err(nowhere()),
        };
        shares.iter().zip(&order.shares).for_each(|(share, state)| share.restore(*state));
        let part = Part {
            workload: &test.workload,
            phase: &order.phase,
            engines: &order.engines,
            grounds,
            probes: test.probes.as_ref().unwrap_or(&no_probes),
            shares,
            pool,
            host: &host,
            block: test.seat.block(),
            pin: &test.pin,
            leads: test.leads,
            environment: &test.environment,
            reserve: test.reserve,
            link,
        };
        part.run(observer)
    }
}

impl Test {
    fn targets(&self) -> Vec<&Path> {
        self.targets.iter().map(PathBuf::as_path).collect()
    }

    fn show(&mut self, run: &str) -> Result<Answer> {
        let grounds = Grounds::fresh(&self.targets(), &format!("{run}-shared"), &Tree::default())?;
        let sites = grounds.sites();
        self.shown = Some(grounds);
        Ok(Answer::Created(Created { sites: sites?, ..Created::default() }))
    }

    fn hide(&mut self) -> Result<Answer> {
        let shown = self.shown.take().map_or_else(Vec::new, Grounds::into_all);
        shown.into_iter().try_for_each(|ground| ground.remove(false)).map(|()| Answer::Done)
    }

    fn begin(&mut self) -> Result<Answer> {
        if self.seat.block().count == 0 {
            return Ok(Answer::Done);
        }
        let mut adds_up = true;
        if let [first, others @ ..] = &self.targets[..] {
            let probes = Probes::of(first, others)?;
            adds_up = probes.add_up();
            self.probes = Some(probes);
        }
        let amount = self.workload.hold_memory.filter(|_| self.seat.holds);
        self.held = amount.map(|amount| HeldMemory::hold(amount, &self.environment.memory)).transpose()?;
        let told = self.held.as_ref().map(|held| (held.told(), held.to_string()));
        Ok(Answer::Begun(told, adds_up))
    }

    /// The engine of every job of every phase.
    fn choose(&mut self, run: &str) -> Result<Answer> {
        let (workload, target) = (&self.workload, &self.targets[0]);
        let choose = |job: &Job| match &job.activity {
            Activity::Transfer(transfer) => choose(workload.engine, transfer, target, run),
            Activity::Entries(_) => Ok(Chosen {
                kind: EngineKind::Psync,
                reason: "operations on entries are system calls".to_owned(),
            }),
        };
        let phases = workload.phases.iter();
        let engines = phases.map(|phase| phase.jobs.iter().map(choose).collect()).collect::<Result<_>>()?;
        Ok(Answer::Engines(engines))
    }

    fn create(&mut self, id: &str, repetition: u32) -> Result<Answer> {
        let grounds = Grounds::create(&self.targets(), id, &self.workload, repetition)?;
        let created = grounds.sites().map(|sites| Created {
            sites,
            notices: grounds.notices(),
            found: grounds.found(&self.workload.files, self.workload.ranks),
        });
        let striped = layout::stripe(&grounds, &self.workload);
        self.stand(grounds);
        striped?;
        created.map(Answer::Created)
    }

    fn join(&mut self, sites: &[Site], repetition: u32) -> Result<()> {
        // One after the other, so that each has its time to show.
        sites.iter().try_for_each(|site| joined(site).map(drop))?;
        let grounds = Grounds::join(sites, &self.workload, repetition)?;
        self.stand(grounds);
        Ok(())
    }

    fn stand(&mut self, grounds: Grounds) {
        let workload = &self.workload;
        let shares = (0..workload.ranks).map(|_| Share::default()).collect();
        let pool = workload.selects().then(|| Pool::new(&workload.files.tree, self.seat.block()));
        self.standing = Some(Standing { grounds, shares, pool });
    }

    fn remove(&mut self, keep: bool) -> Result<()> {
        let Some(Standing { grounds, .. }) = self.standing.take() else { return Ok(()) };
        if keep && self.workload.files.named.is_none() {
            return Ok(());
        }
        // Whatever happens in one target, the others are emptied.
        let removed: Vec<Result<()>> =
            grounds.into_all().into_iter().map(|ground| remove_one(ground, keep)).collect();
        removed.into_iter().collect()
    }
}

fn remove_one(ground: Ground, keep: bool) -> Result<()> {
    let target = ground.target().to_owned();
    ground.remove(keep).map_err(|fault| {
        let then = format!("`forebay clean {}` removes what is left", target.display());
        let hint = fault.hint_text().map_or_else(|| then.clone(), |first| format!("{first}; then {then}"));
        fault.hint(hint)
    })
}

/// Goes where another process stands, as soon as it can be seen from here.
fn joined(site: &Site) -> Result<Ground> {
    let started = std::time::Instant::now();
    loop {
        match Ground::join(site) {
            Err(fault) if fault.kind() == Kind::NotFound && started.elapsed() < SHOWS_WITHIN => {
                std::thread::sleep(LOOK_AGAIN);
            }
            outcome => return outcome,
        }
    }
}

/// `f_fsid` of `statfs`; 0 where the file system has none.
fn file_system_id(target: &Path) -> u64 {
    rustix::fs::statvfs(target).map_or(0, |stat| stat.f_fsid)
}

/// Looks for what the lead has made. Where it can't be seen, this is another file system.
fn find(sites: &[Site]) -> Result<()> {
    sites.iter().try_for_each(|site| joined(site).map(drop))
}
