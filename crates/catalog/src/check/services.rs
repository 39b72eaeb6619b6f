use super::{Findings, Severity};
use crate::rows::Row;
use crate::{Catalog, ServiceTier, Table};

const TABLE: Table = Table::Services;

pub(super) fn check(catalog: &Catalog, found: &mut Findings) {
    for (tier, row) in catalog.services.iter().zip(catalog.rows.of(TABLE)) {
        sizes(tier, row, found);
        rates(tier, row, found);
    }
}

fn sizes(tier: &ServiceTier, row: &Row, found: &mut Findings) {
    if tier.sizes.is_empty() {
        let why = "it can't be planned with";
        found.add(Severity::Note, TABLE, row, "its sizes are unknown".to_owned(), why);
    }
    for range in &tier.sizes {
        let uneven =
            |max: units::Bytes| !(max.get() - range.min.get()).is_multiple_of(range.step.get().max(1));
        if range.max.is_some_and(uneven) {
            let what = format!("steps of {} from {} don't meet its largest size", range.step, range.min);
            found.add(Severity::Warning, TABLE, row, what, "the step, the start or the end is off");
        }
    }
}

fn rates(tier: &ServiceTier, row: &Row, found: &mut Findings) {
    let known = tier.read_per_tib.or(tier.disk_read_per_tib).or(tier.read_max);
    if known.is_none() && tier.throughput.is_none() {
        found.add(
            Severity::Note,
            TABLE,
            row,
            "its throughput is unknown".to_owned(),
            "it can't be planned with",
        );
    }
    let slower = |disk: Option<units::Bandwidth>, all: Option<units::Bandwidth>| {
        disk.zip(all).is_some_and(|(disk, all)| disk > all)
    };
    if slower(tier.disk_read_per_tib, tier.read_per_tib)
        || slower(tier.disk_write_per_tib, tier.write_per_tib)
    {
        let why = "clients never see more than the network carries";
        found.add(Severity::Warning, TABLE, row, "its disks sustain more than its network".to_owned(), why);
    }
    let per_tib = tier.read_per_tib.max_of(tier.write_per_tib);
    if let (Some(burst), Some(sustained)) = (tier.burst_per_tib, per_tib)
        && burst < sustained
    {
        found.add(
            Severity::Error,
            TABLE,
            row,
            "its burst is below its sustained rate".to_owned(),
            "a burst adds to what is sustained",
        );
    }
    if slower(tier.disk_read_per_tib, tier.disk_burst_per_tib) {
        let why = "a burst adds to what is sustained";
        found.add(Severity::Error, TABLE, row, "its disks' burst is below what they sustain".to_owned(), why);
    }
    if tier.throughput.as_ref().is_some_and(|order| order.max.is_some_and(|max| max < order.min)) {
        found.add(
            Severity::Error,
            TABLE,
            row,
            "the most that can be ordered is below the least".to_owned(),
            "nothing could be ordered",
        );
    }
}

/// The larger of two figures, where any is known.
trait MaxOf {
    fn max_of(self, other: Self) -> Self;
}

impl MaxOf for Option<units::Bandwidth> {
    fn max_of(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(if a < b { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}
