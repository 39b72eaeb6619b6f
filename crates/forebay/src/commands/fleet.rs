//! Over which processes a command works: this one, agents over ssh, or those that `mpirun`, `mpiexec` or `srun` started.

mod submit;

use std::sync::{Arc, Mutex, PoisonError};

use bench::crew::{Crew, Introduction, serve};
use console::Printer;
use fault::{Fault, Kind};
use fleet::launcher::{Launch, Launcher, Pmi};
use fleet::{Alone, Link, Node, Up, hosts, mpi, socket, ssh};
use serde::{Deserialize, Serialize};

use super::{Context, Result};
use crate::cli::{CompressRule, FleetOptions, RanksPerHost};
use crate::exit::Outcome;
use crate::signals;

/// Connections to a host that a sync opens by itself: one ssh is bound by one CPU.
const MOST_CONNECTIONS: usize = 4;

/// What this process leads, from the end of its work to its farewell.
static LED: Mutex<Option<Node>> = Mutex::new(None);

/// Lets the processes of a run go; all end with `code`. The last thing a command does: `mpirun` ends everyone as soon as one
/// has ended with a failure, so that what the root had to say must have been said.
pub fn farewell(code: u8) {
    let led = LED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(node) = led {
        signals::ignore();
        node.end(code);
    }
}

/// What the processes of a run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Ranks of a test.
    Measure,
    /// Say what they are, and meet.
    Check,
    /// Serve a tree to a sync on another host, as [`sync::Reach`] asks.
    Serve,
}

/// The processes of a command.
pub struct Fleet {
    node: Option<Node>,
    /// Whether somebody said how many ranks there are, by slots, `--ranks-per-host` or `-np`.
    pub ranks_said: bool,
}

/// What an agent tells of its host.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct HostFacts {
    /// Physical cores.
    pub pcores: u32,
    /// Schedulable threads.
    pub vcpus: u32,
}

impl HostFacts {
    /// This host's.
    pub fn here() -> Self {
        let system = host::System::here();
        Self { pcores: system.cpu().pcores.max(1), vcpus: system.cpu().vcpus.max(1) }
    }
}

/// Runs `work` as the process that leads a run, over the processes that options and environment ask for. The others do what
/// it orders, and end as it does.
pub fn over(
    context: &Context<'_>,
    options: &FleetOptions,
    work: impl FnOnce(&Context<'_>) -> Result,
) -> Result {
    if let Some(words) = &options.slurm {
        return submit::follow(context, words);
    }
    let fleet = Fleet::open(&context.printer, options, Task::Measure)?;
    if fleet.link().process() > 0 {
        return Ok(fleet.take_part(Task::Measure, &context.printer));
    }
    let outcome = match Crew::muster(fleet.link(), Introduction::here()) {
        Ok(crew) => work(&Context {
            printer: context.printer.clone(),
            settings: context.settings.clone(),
            crew: Some(&crew),
            ranks_said: fleet.ranks_said,
            allow_lost: options.allow_lost,
        }),
        Err(fault) => Err(fault.into()),
    };
    fleet.done();
    outcome
}

/// Whether a launcher started this process.
pub fn is_launched() -> bool {
    Launch::here().is_some()
}

/// Whether a launcher started this process as another than the one that speaks.
pub fn is_silent() -> bool {
    Launch::here().is_some_and(|launch| launch.number > 0)
}

impl Fleet {
    /// Joins the processes. All failures come before anything else happens.
    pub fn open(printer: &Printer, options: &FleetOptions, task: Task) -> fault::Result<Self> {
        if let Some(list) = &options.hosts {
            return Self::over_ssh(printer, options, list, task);
        }
        match Launch::here() {
            Some(launch) => Self::launched(printer, &launch, options.allow_lost).inspect_err(|_| {
                if launch.number > 0 {
                    // mpirun ends everyone at the first failure: the one that speaks goes first.
                    std::thread::sleep(std::time::Duration::from_secs(1));
                }
            }),
            None => Ok(Self { node: None, ranks_said: false }),
        }
    }

    fn over_ssh(printer: &Printer, options: &FleetOptions, list: &str, task: Task) -> fault::Result<Self> {
        let hosts = hosts::read(list)?;
        let ssh = ssh::Options {
            ssh: ssh::split_words(&options.ssh)?,
            push: options.push,
            allow_lost: options.allow_lost,
            patience: options.host_timeout,
            fan_out: options.fan_out,
            task: serde_json::to_value(task)
                .map_err(|error| Fault::new(Kind::Bug, format!("cannot say what to do: {error}")))?,
            tell: tell(printer),
            cancelled: || bench::interrupt::requested().is_some(),
        };
        let (node, up) = ssh::lead(&hosts, &ssh)?;
        printer.say(format!("ssh: {} hosts", up.len()));
        let slots: Vec<Option<u32>> = hosts.iter().map(|host| host.slots).collect();
        let ranks_said = options.ranks_per_host.is_some() || slots.iter().any(Option::is_some);
        // This process leads; the ranks are with the agents.
        let seats = up.iter().zip(slots).map(|(up, slots)| seats(up, slots, options.ranks_per_host));
        node.seat(std::iter::once(0).chain(seats).collect());
        Ok(Self { node: Some(node), ranks_said })
    }

    fn launched(printer: &Printer, launch: &Launch, allow_lost: u32) -> fault::Result<Self> {
        let (node, words) = if let Launcher::Slurm(Pmi::None) = launch.launcher {
            let cancelled = || bench::interrupt::requested().is_some();
            let node = socket::join(launch, allow_lost, &cancelled)?;
            let words = format!("Slurm: {} processes, without MPI", launch.processes);
            (node, words)
        } else {
            let joined = mpi::join(launch, allow_lost)?;
            (joined.node, joined.words)
        };
        if launch.number == 0 {
            printer.say(words);
        }
        Ok(Self { node: Some(node), ranks_said: true })
    }

    /// What joins the processes.
    pub fn link(&self) -> &dyn Link {
        static ALONE: Alone = Alone;
        match &self.node {
            Some(node) => node,
            None => &ALONE,
        }
    }

    /// The process of a launcher, where the work is shared otherwise than by orders of the root.
    pub fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// Another process than the root, whose work is done: ends as the root says.
    pub fn follow(self) -> Outcome {
        Outcome::AsTheRoot(self.node.map_or(1, |node| node.end(1)))
    }

    /// The root's work is done; the others may go when everything has been said, by [`farewell`].
    pub fn done(self) {
        *LED.lock().unwrap_or_else(PoisonError::into_inner) = self.node;
    }

    /// Another process than the root: does what is ordered, and ends as the root says.
    pub fn take_part(self, task: Task, printer: &Printer) -> Outcome {
        let link = self.link();
        let done = match task {
            Task::Measure => serve(link, Introduction::here()),
            Task::Check => super::hosts::answer(link),
            // An agent that serves has no run to take part in.
            Task::Serve => Ok(()),
        };
        // The root knows already, or is gone; the host's log may want to.
        if let Err(fault) = done
            && fault.kind() != Kind::Interrupted
        {
            printer.fault(&fault);
        }
        self.follow()
    }
}

/// Becomes an agent that another host leads.
pub fn agent(context: &Context<'_>, arguments: &crate::cli::Agent) -> Result {
    let facts = serde_json::to_value(HostFacts::here())
        .map_err(|error| Fault::new(Kind::Bug, format!("cannot describe this host: {error}")))?;
    let agent = ssh::join(facts, arguments.pushed.as_deref(), &tell(&context.printer))?;
    let task = serde_json::from_value(agent.task)
        .map_err(|error| Fault::new(Kind::Unsupported, format!("a task of another version: {error}")))?;
    match agent.way {
        ssh::Way::Run(node) => {
            let fleet = Fleet { node: Some(node), ranks_said: false };
            Ok(fleet.take_part(task, &context.printer))
        }
        ssh::Way::Line(line) if task == Task::Serve => {
            // Whoever is served knows how it went.
            let _ = sync::serve(line);
            Ok(Outcome::Done)
        }
        ssh::Way::Line(_) => Err(Fault::new(Kind::Unsupported, "a task of another version").into()),
    }
}

/// How a sync reaches other hosts.
pub fn reach(printer: &Printer, options: &crate::cli::SyncReaching) -> fault::Result<sync::Reach> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(sync::Reach {
        ssh: ssh::split_words(&options.ssh)?,
        push: options.push,
        connections: options.connections.map_or_else(|| cpus.min(MOST_CONNECTIONS), usize::from),
        compress: match options.compress {
            CompressRule::Auto => sync::Compress::Auto,
            CompressRule::Zstd => sync::Compress::Zstd,
            CompressRule::Lz4 => sync::Compress::Lz4,
            CompressRule::Off => sync::Compress::Off,
        },
        tell: tell(printer),
        cancelled: || signals::received().is_some(),
        ..sync::Reach::default()
    })
}

/// Shows lines of agents' standard error, each after its host.
fn tell(printer: &Printer) -> ssh::Tell {
    let printer = printer.clone();
    Arc::new(move |host, line| printer.complain(format!("{host}: {line}")))
}

fn seats(up: &Up, slots: Option<u32>, wanted: Option<RanksPerHost>) -> u32 {
    let facts = || serde_json::from_value::<HostFacts>(up.facts.clone()).ok();
    match wanted {
        Some(RanksPerHost::Exactly(ranks)) => ranks,
        Some(RanksPerHost::PerPCore) => facts().map_or(1, |facts| facts.pcores),
        Some(RanksPerHost::PerVCpu) => facts().map_or(1, |facts| facts.vcpus),
        None => slots.unwrap_or(1),
    }
}
