//! What one client and one stream reach of a service, by mount profile (F20).

use catalog::{ClientLimit, Protocol, ServiceTier};
use fault::{Fault, Kind, Result};
use units::Bandwidth;

use super::words::{Unit, rate};
use crate::layout::PerClient;
use crate::limit::Capability;

/// The profile a design names, or the tier's first; `None` when the catalog has none.
pub fn profile<'t>(tier: &'t ServiceTier, mount: Option<&str>) -> Result<Option<&'t ClientLimit>> {
    let Some(mount) = mount else { return Ok(tier.clients.first()) };
    tier.client(mount).map(Some).ok_or_else(|| {
        let fault = Fault::new(
            Kind::Spec,
            format!("the catalog has no mount profile `{mount}` for {}", tier.service),
        );
        let names = tier.clients.iter().map(|limit| &*limit.profile);
        if tier.clients.is_empty() {
            return fault.hint("remove `mount`: what one client reaches is not known");
        }
        fault.hint(format!("it has {}", spec::quoted(names)))
    })
}

/// The profile to design with: the fastest that needs no special hardware, since a mount option costs nothing. Of equals, the
/// first.
pub fn best(tier: &ServiceTier) -> Option<&ClientLimit> {
    let mut plain = tier.clients.iter().filter(|limit| limit.special.is_none());
    let first = plain.next()?;
    let rate = |limit: &ClientLimit| capability(limit).read + capability(limit).write;
    let faster = |best, limit| if rate(limit) > rate(best) { limit } else { best };
    Some(plain.fold(first, faster))
}

fn capability(limit: &ClientLimit) -> Capability {
    let or_unbounded = |rate: Option<Bandwidth>| rate.map_or(f64::INFINITY, Bandwidth::get);
    Capability::each(or_unbounded(limit.read), or_unbounded(limit.write))
}

fn text(limit: &ClientLimit) -> String {
    let both = capability(limit);
    let needs = limit.special.as_ref().map_or(String::new(), |special| format!(", which needs {special}"));
    format!("{} per client with {}{needs}", Unit::of_both(both).pair(both), limit.profile)
}

/// What one client gets.
pub fn per_client(limit: &ClientLimit) -> Option<PerClient> {
    let stated = capability(limit);
    let bounded = stated != Capability::UNBOUNDED;
    bounded.then(|| PerClient { stated, cause: text(limit), source: Some(limit.source.clone()) })
}

/// What one stream gets where a single flow carries it.
pub fn per_stream(tier: &ServiceTier, limit: &ClientLimit) -> Option<PerClient> {
    let flow = limit.flow?;
    let one = rate(flow);
    let cause = match tier.protocol {
        Protocol::Lustre => format!("{one} per flow between a client and an OSS: a file on one OST"),
        Protocol::Nfs | Protocol::Other => format!("{one} per flow with {}", limit.profile),
    };
    Some(PerClient {
        stated: Capability::each(flow.get(), flow.get()),
        cause,
        source: Some(limit.source.clone()),
    })
}

/// What the choice of a profile means, where there is a choice.
pub fn note(tier: &ServiceTier, chosen: &ClientLimit) -> Option<String> {
    let others: Vec<String> =
        tier.clients.iter().filter(|limit| limit.profile != chosen.profile).map(text).collect();
    if others.is_empty() {
        return None;
    }
    let needs = if chosen.notes.is_empty() { String::new() } else { format!(" ({})", chosen.notes) };
    Some(format!("{}{needs}; otherwise {}", text(chosen), others.join(", ")))
}
