//! Whether a result can be believed: rules over what was measured and what the machine saw. Pure functions, no I/O.
//!
//! Every rule is one function that returns a [`Check`] with its numbers as evidence. A failure means that the number does
//! not say what it seems to say; a note, that it stands but needs a remark.

mod cache;
mod context;
mod cpu;
mod data;
mod ends;
mod hosts;
mod limit;
mod repetitions;
#[cfg(test)]
mod sample;
mod series;
mod space;
#[cfg(test)]
mod tests;
mod time;
mod work;

pub use context::{Allocation, Context};
pub use hosts::{HostView, checks_over_hosts, limit_over_hosts};
pub use limit::limit_of;
pub use repetitions::test_checks;

use record::{Check, PhaseResult};

/// All rules for one phase, in the order people should read them.
pub fn phase_checks(phase: &PhaseResult, context: &Context<'_>) -> Vec<Check> {
    let proof = cache::cache_hit_proof(phase, context);
    let working_set = cache::working_set(phase, context, &proof);
    vec![
        ends::interrupted(phase),
        ends::errors(phase),
        data::verification(phase),
        data::found(phase),
        proof,
        working_set,
        cache::server_cache(phase, context),
        cache::metadata_cache(phase, context),
        cache::dirty_left(phase, context),
        cache::write_back_before(phase, context),
        data::thin_files(phase, context),
        data::compressible_data(phase, context),
        data::server_balance(phase),
        series::change_point(phase),
        series::stalls(phase),
        time::littles_law(phase, context),
        time::duration(phase),
        time::start_skew(phase),
        time::clock_source(context),
        cpu::cpu_saturation(phase, context),
        cpu::cpu_steal(phase),
        cpu::cpu_allowed(phase, context),
        cache::foreign_traffic(phase, context),
        space::free_space(phase, context),
        ends::first_last_gap(phase),
        ends::wear_out_capped(phase),
    ]
}
