//! One file per command: each turns its flags into calls of the rooms below, and their answers into output.

mod catalog;
mod clean;
mod completions;
mod ending;
mod files;
mod fleet;
mod hosts;
mod import;
mod init;
mod io500;
mod ior;
mod iotest;
mod man;
mod mdtest;
mod measure;
mod plan;
mod prove;
mod run;
mod runs;
mod searching;
mod size;
mod spec;
mod sweep;
mod sync;
mod vdbench;
mod watching;

use bench::Workload;
use bench::crew::Crew;
use console::Printer;

use crate::cli::{CatalogAction, Command, HostsAction, RunsAction, SpecAction};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::signals;
pub use fleet::{farewell, is_silent};

/// What every command gets.
pub struct Context<'c> {
    /// The way out.
    pub printer: Printer,
    /// What flags and environment decide for all commands.
    pub settings: Settings,
    /// The processes that measure, if a command measures over several; [`fleet::over`] sets it.
    pub crew: Option<&'c Crew<'c>>,
    /// Whether somebody said how many ranks the processes have.
    pub ranks_said: bool,
    /// So many processes may be lost on the way.
    pub allow_lost: u32,
}

impl Context<'_> {
    /// Of one process.
    pub fn new(printer: Printer, settings: Settings) -> Self {
        Self { printer, settings, crew: None, ranks_said: false, allow_lost: 0 }
    }

    /// Ranks of a test that would have `own` on one host: as many as somebody said, else so many on every host.
    pub fn ranks(&self, own: u32) -> u32 {
        match self.crew.filter(|crew| crew.is_several()) {
            None => own,
            Some(crew) if self.ranks_said => crew.ranks(),
            Some(crew) => own * crew.seats().iter().filter(|seats| **seats > 0).count() as u32,
        }
    }

    /// Gives a workload for one host the ranks it has over all of them. Where hosts have whole multiples of what it says,
    /// each does all of its jobs.
    pub fn spread(&self, workload: &mut Workload) {
        let own = workload.ranks;
        workload.ranks = self.ranks(own);
        let Some(crew) = self.crew.filter(|crew| crew.is_several()) else { return };
        let whole = |seats: &u32| !self.ranks_said || seats.is_multiple_of(own);
        if crew.seats().iter().all(whole) {
            workload.group_jobs(own);
        }
    }

    /// Ranks of the first host, where there are several hosts: items of another host are so many ranks further.
    pub fn ranks_on_first_host(&self) -> Option<u32> {
        let crew = self.crew.filter(|crew| crew.is_several())?;
        let host = &crew.members().first()?.host;
        let seats = crew.members().iter().zip(crew.seats());
        let there: u32 = seats.filter(|(member, _)| member.host == *host).map(|(_, seats)| *seats).sum();
        (there < crew.ranks()).then_some(there)
    }

    /// Hosts that have ranks.
    pub fn hosts(&self) -> u32 {
        let Some(crew) = self.crew.filter(|crew| crew.is_several()) else { return 1 };
        let seated = crew.members().iter().zip(crew.seats()).filter(|(_, seats)| **seats > 0);
        let mut hosts: Vec<&str> = seated.map(|(member, _)| member.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len().max(1) as u32
    }

    /// Physical cores of all hosts that have ranks; `own` where this process is alone.
    pub fn pcores(&self, own: u32) -> u32 {
        let Some(crew) = self.crew.filter(|crew| crew.is_several()) else { return own };
        let mut hosts: Vec<(&str, &str, u32)> = crew
            .members()
            .iter()
            .zip(crew.seats())
            .filter(|(_, seats)| **seats > 0)
            .map(|(member, _)| (member.host.as_str(), member.boot_id.as_str(), member.pcores))
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.iter().map(|(.., pcores)| pcores).sum::<u32>().max(1)
    }
}

/// What every command returns.
pub type Result = std::result::Result<Outcome, Failure>;

/// Reads what the person wrote before any host is asked for anything. Of the processes that a launcher started, the one that
/// speaks does it: the others may not even see the file.
fn first(read: impl FnOnce() -> std::result::Result<(), Failure>) -> std::result::Result<(), Failure> {
    if is_silent() { Ok(()) } else { read() }
}

/// Runs one command.
pub fn run(context: &Context<'_>, command: Command) -> Result {
    if matches!(
        command,
        Command::Prove(_)
            | Command::Iotest(_)
            | Command::Run(_)
            | Command::Ior(_)
            | Command::Vdbench(_)
            | Command::Sweep(_)
            | Command::Clean(_)
            | Command::Agent(_)
            | Command::Hosts(_)
            | Command::Mdtest(_)
            | Command::Io500(_)
    ) {
        signals::install(&context.printer)?;
    }
    match command {
        Command::Plan(arguments) => plan::run(context, &arguments),
        Command::Size(arguments) => size::run(context, &arguments),
        Command::Catalog(arguments) => match arguments.action {
            CatalogAction::List(arguments) => catalog::list(context, &arguments),
            CatalogAction::Show(arguments) => catalog::show(context, &arguments),
            CatalogAction::Check(arguments) => catalog::check(context, &arguments),
            CatalogAction::Diff(arguments) => catalog::diff(context, &arguments),
            CatalogAction::Refresh(arguments) => catalog::refresh(context, &arguments),
            CatalogAction::Calibrate(arguments) => catalog::calibrate(context, &arguments),
        },
        Command::Prove(arguments) => {
            first(|| Ok(::spec::load(&arguments.spec).map(drop)?))?;
            fleet::over(context, &arguments.fleet, |context| prove::run(context, &arguments))
        }
        Command::Iotest(arguments) => {
            fleet::over(context, &arguments.fleet, |context| iotest::run(context, &arguments))
        }
        Command::Run(arguments) => {
            first(|| Ok(run::load(&arguments).map(drop)?))?;
            fleet::over(context, &arguments.fleet, |context| run::run(context, &arguments))
        }
        Command::Ior(arguments) => {
            fleet::over(context, &arguments.fleet, |context| ior::run(context, &arguments))
        }
        Command::Agent(arguments) => fleet::agent(context, &arguments),
        Command::Hosts(arguments) => match arguments.action {
            HostsAction::Check(arguments) => hosts::check(context, &arguments),
        },
        Command::Io500(arguments) => {
            first(|| Ok(arguments.config.iter().try_for_each(|path| io500::load(path).map(drop))?))?;
            fleet::over(context, &arguments.fleet, |context| io500::run(context, &arguments))
        }
        Command::Mdtest(arguments) => {
            fleet::over(context, &arguments.fleet, |context| mdtest::run(context, &arguments))
        }
        Command::Import(arguments) => import::run(context, &arguments),
        Command::Sweep(arguments) => sweep::run(context, &arguments),
        Command::Vdbench(arguments) => vdbench::run(context, &arguments),
        Command::Clean(arguments) => clean::run(context, &arguments),
        Command::Sync(arguments) => sync::run(context, &arguments),
        Command::Init(arguments) => init::run(context, &arguments),
        Command::Spec(arguments) => match arguments.action {
            SpecAction::Check(arguments) => spec::check(context, &arguments),
            SpecAction::Schema => spec::schema(context),
        },
        Command::Runs(arguments) => match arguments.action {
            RunsAction::List(arguments) => runs::list(context, &arguments),
            RunsAction::Show(arguments) => runs::show(context, &arguments),
            RunsAction::Export(arguments) => runs::export(context, &arguments),
            RunsAction::Compare(arguments) => runs::compare(context, &arguments),
            RunsAction::Report(arguments) => runs::report(context, &arguments),
            RunsAction::Rm(arguments) => runs::remove(context, &arguments),
        },
        Command::Completions(arguments) => completions::run(context, &arguments),
        Command::Man(arguments) => man::run(context, &arguments),
    }
}
