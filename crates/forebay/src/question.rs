//! What is asked of planning: a spec, changed by flags, with the facts to answer it from.

mod contradiction;
pub mod impossible;

use std::num::NonZeroU32;

use catalog::Catalog;
use plan::{Calibration, Guards, Options};
use spec::{Document, Spec};
use units::Ratio;

use crate::cli::{Allowed, Facts, Judging, Showing};
use crate::failure::Failure;
use crate::settings::Settings;

/// A spec and everything by which it is answered.
#[derive(Debug)]
pub struct Question {
    /// The facts.
    pub catalog: Catalog,
    /// What is needed.
    pub spec: Spec,
    /// How to search.
    pub options: Options,
}

impl Question {
    /// The question of a spec file, with the flags over what it says.
    pub fn of(
        document: &Document,
        facts: &Facts,
        allowed: &Allowed,
        judging: &Judging,
        showing: &Showing,
    ) -> Result<Self, Failure> {
        let catalog = Settings::catalog(facts.catalog.as_deref())?;
        let mut spec = document.spec.clone();
        allow(&mut spec, allowed);
        let mut options = judge(&catalog, &mut spec, judging);
        options.objective = showing.objective.into();
        contradiction::check(&catalog, document, &spec)?;
        Ok(Self { catalog, spec, options })
    }
}

/// Flags replace what the spec says.
fn allow(spec: &mut Spec, allowed: &Allowed) {
    let constraints = &mut spec.constraints;
    if !allowed.cloud.is_empty() {
        constraints.clouds = allowed.cloud.iter().map(|cloud| (*cloud).into()).collect();
    }
    if !allowed.region.is_empty() {
        constraints.regions.clone_from(&allowed.region);
    }
    if !allowed.skus.is_empty() {
        constraints.skus.allow.clone_from(&allowed.skus);
    }
    if !allowed.tiers.is_empty() {
        constraints.tiers.allow.clone_from(&allowed.tiers);
    }
    if let Some(commitment) = allowed.commitment {
        constraints.commitment = commitment.into();
    }
    if let Some(budget) = allowed.budget {
        constraints.monthly_budget_usd = Some(budget.get());
    }
}

/// The rules of a search; a spec's own bounds and the flags' are one and the same afterwards.
pub fn judge(catalog: &Catalog, spec: &mut Spec, judging: &Judging) -> Options {
    let constraints = &mut spec.constraints;
    let or = |flag: Option<NonZeroU32>, other: u32| flag.map_or(other, NonZeroU32::get);
    if let Some(figures) = judging.figures {
        constraints.figures = figures.into();
    }
    constraints.max_osts = judging.max_osts.map(NonZeroU32::get).or(constraints.max_osts);
    constraints.min_servers = judging.min_servers.map(NonZeroU32::get).or(constraints.min_servers);
    let usual = Guards::default();
    let guards = Guards {
        duty_cycle: judging.duty_cycle.map_or(usual.duty_cycle, Ratio::get),
        min_ost: judging.min_ost.unwrap_or(usual.min_ost),
        max_osts: constraints.max_osts.unwrap_or(usual.max_osts),
        min_servers: constraints.min_servers.unwrap_or(usual.min_servers),
        min_clients: or(judging.min_clients, usual.min_clients),
        min_client_pcores: or(judging.min_client_pcores, usual.min_client_pcores),
        constrained_servers: judging.constrained_servers,
        cautioned_tiers: judging.any_tier,
        max_name_spaces: or(judging.name_spaces, usual.max_name_spaces),
        max_shared_hosts: or(judging.shared_hosts, usual.max_shared_hosts),
    };
    Options { guards, calibration: Calibration::of(catalog), ..Options::default() }
}
