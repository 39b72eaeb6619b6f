//! What all repetitions of a test share: who is there, and what each sees.

use fault::{Fault, Kind, Result};
use fleet::Placement;
use host::Environment;
use record::HostSeat;

use super::session::TestPlan;
use crate::crew::{Crew, Sight, listed, refuse_other_storage};
use crate::engine::{Chosen, EngineKind};
use crate::workload::{EngineChoice, Workload};

/// A test as it is about to run.
pub struct Scene<'a> {
    /// What was asked for.
    pub plan: &'a TestPlan,
    /// What is done: prepared, and placed.
    pub workload: Workload,
    /// Where ranks are.
    pub placement: Placement,
    /// What each process sees.
    pub sights: Vec<Sight>,
    /// How I/O is submitted, per phase and job.
    pub engines: Vec<Vec<Chosen>>,
    /// Whether the files are in several targets whose bytes are not all counted at the same place.
    pub uncounted_targets: bool,
}

static NOWHERE: std::sync::LazyLock<Environment> = std::sync::LazyLock::new(Environment::default);

impl Scene<'_> {
    /// The machine and the storage of the lead.
    pub fn environment(&self) -> &Environment {
        self.sights[self.placement.lead()].environments.first().unwrap_or(&NOWHERE)
    }

    /// The machine and the storage of a host with ranks.
    pub fn environment_of(&self, host: usize) -> &Environment {
        let mut sights = self.placement.on_host(host).map(|process| &self.sights[process]);
        sights.find_map(|sight| sight.environments.first()).unwrap_or(&NOWHERE)
    }

    /// The hosts with ranks, where there are several hosts.
    pub fn hosts(&self) -> Vec<HostSeat> {
        let placement = &self.placement;
        let hosts = 0..placement.hosts().len();
        if hosts.len() == 1 {
            return Vec::new();
        }
        let seat = |host: usize| HostSeat {
            processes: placement.on_host(host).count() as u32,
            ranks: placement.on_host(host).map(|process| placement.block(process).count).sum(),
            first_rank: placement
                .on_host(host)
                .map(|process| placement.block(process).first)
                .min()
                .unwrap_or(0),
            ..HostSeat::new(&placement.hosts()[host], self.environment_of(host))
        };
        hosts.filter(|host| placement.has_ranks(*host)).map(seat).collect()
    }

    /// Why a host can't see what the lead has made, with what is mounted at both.
    pub fn other_storage(&self, crew: &Crew<'_>, fault: Fault) -> Fault {
        let lead = self.placement.lead();
        let blind: Vec<(String, Sight)> = self
            .sights
            .iter()
            .enumerate()
            .filter(|(process, _)| *process != lead && fault.message().contains(&crew.name(*process)))
            .map(|(process, sight)| (crew.name(process), sight.clone()))
            .collect();
        if blind.is_empty() {
            return fault;
        }
        refuse_other_storage(fault, (&crew.name(lead), &self.sights[lead]), &blind)
    }

    /// An engine that one host does not have is nobody's: `auto` takes the other one, and anything else is refused.
    pub fn check_engines(&self, engines: &mut [Vec<Chosen>]) -> Result<()> {
        let lacks = |(process, sight): (usize, &Sight)| {
            (!sight.uring && self.placement.block(process).count > 0)
                .then(|| self.placement.hosts()[self.placement.host_of(process)].clone())
        };
        let mut without: Vec<String> = self.sights.iter().enumerate().filter_map(lacks).collect();
        without.dedup();
        if without.is_empty() || without.len() == self.sights.len() {
            return Ok(());
        }
        for chosen in engines.iter_mut().flatten().filter(|chosen| chosen.kind == EngineKind::Uring) {
            let names = listed(&without);
            if self.workload.engine == EngineChoice::Uring || chosen.reason.contains("in flight") {
                return Err(Fault::new(Kind::Unsupported, format!("io_uring may not be used on {names}"))
                    .hint("allow it there (`kernel.io_uring_disabled`), or use the psync engine with more ranks"));
            }
            *chosen =
                Chosen { kind: EngineKind::Psync, reason: format!("io_uring may not be used on {names}") };
        }
        Ok(())
    }
}
