//! Whether all processes are of one version, and see one storage.

use fault::{Fault, Kind, Result};
use host::Mount;

use super::introduction::Introduction;
use super::order::Sight;
use crate::runner::preflight::described;

/// Refuses a crew of different versions: what they tell each other would be misread.
pub(crate) fn check_same_version(members: &[Introduction]) -> Result<()> {
    let Some(root) = members.first() else { return Ok(()) };
    let others: Vec<String> = members
        .iter()
        .filter(|member| member.program != root.program)
        .map(|member| format!("{} on {}", member.program, member.host))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let message = format!("{} here, and {}", root.program, super::listed(&others));
    Err(Fault::new(Kind::Refused, message).hint("install the same version on every host"))
}

/// A host that does not see what the lead has made in the targets: names it, and what is mounted at both.
pub(crate) fn refuse_other_storage(
    fault: Fault,
    (lead, lead_sight): (&str, &Sight),
    others: &[(String, Sight)],
) -> Fault {
    if fault.kind() == Kind::Interrupted {
        return fault;
    }
    let at = |sight: &Sight, target: usize| {
        let mount = sight.environments.get(target).and_then(|environment| environment.target.clone());
        mount.as_ref().map_or_else(|| "nothing known".to_owned(), described)
    };
    let seen: Vec<String> = others
        .iter()
        .map(|(host, sight)| {
            // Of several targets, the first that differs to the eye.
            let targets = 0..lead_sight.environments.len();
            let target = targets.into_iter().find(|target| differs(lead_sight, sight, *target)).unwrap_or(0);
            let same = at(sight, target) == at(lead_sight, target);
            let hint = if same { " (mounted alike, and yet another)" } else { "" };
            format!("{host} has {}{hint}", at(sight, target))
        })
        .collect();
    let message = format!(
        "the target is not the same storage on every host: {lead} has {}; {}",
        at(lead_sight, 0),
        super::listed(&seen)
    );
    Fault::new(Kind::Refused, message)
        .hint(format!("mount the storage there, or leave the host out ({})", fault.message()))
}

fn differs(one: &Sight, other: &Sight, target: usize) -> bool {
    let mount = |sight: &Sight| sight.environments.get(target).and_then(|e| e.target.clone());
    let key = |mount: Option<Mount>| mount.map(|m| (m.file_system, m.source, m.size_bytes));
    key(mount(one)) != key(mount(other)) || one.file_systems.get(target) != other.file_systems.get(target)
}
