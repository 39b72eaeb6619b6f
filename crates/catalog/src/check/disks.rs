use super::{Findings, Severity};
use crate::rows::Row;
use crate::{Catalog, Disk, Performance, Rate, Table};

const TABLE: Table = Table::Disks;

pub(super) fn check(catalog: &Catalog, found: &mut Findings) {
    let rows = catalog.rows.of(TABLE);
    for (disk, row) in catalog.disks.iter().zip(rows) {
        bounds(disk, row, found);
        if disk.performance == Performance::Unknown {
            found.add(
                Severity::Note,
                TABLE,
                row,
                "its rates are unknown".to_owned(),
                "it can't be planned with",
            );
        }
    }
    let mut pairs: Vec<(&Disk, &Row)> = catalog.disks.iter().zip(rows).collect();
    pairs.sort_by(|a, b| (a.0.cloud, &a.0.family, a.0.size_min).cmp(&(b.0.cloud, &b.0.family, b.0.size_min)));
    for pair in pairs.windows(2) {
        let ((small, _), (large, row)) = (pair[0], pair[1]);
        if small.family == large.family && small.cloud == large.cloud {
            neighbours(small, large, row, found);
        }
    }
}

fn bounds(disk: &Disk, row: &Row, found: &mut Findings) {
    if disk.size_max.is_some_and(|max| max < disk.size_min) {
        found.add(
            Severity::Error,
            TABLE,
            row,
            "its largest size is below its smallest".to_owned(),
            "nothing could be ordered",
        );
    }
    let (min, max) = match disk.performance {
        Performance::BySize { min, max, .. } => (min, max),
        Performance::Provisioned(order) => (order.min, order.max),
        Performance::Fixed(rate) => (rate, disk.burst),
        Performance::Unknown => return,
    };
    if above(min, max) {
        let why = "the least can't be more than the most, nor the sustained rate more than the burst";
        found.add(Severity::Error, TABLE, row, "its rates are not in order".to_owned(), why);
    }
}

/// Whether `a` is more than `b` in what both state.
fn above(a: Rate, b: Rate) -> bool {
    let more = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| a > b);
    more(a.bandwidth.map(units::Bandwidth::get), b.bandwidth.map(units::Bandwidth::get))
        || more(a.iops.map(units::Iops::get), b.iops.map(units::Iops::get))
}

/// Fixed tiers of a family adjoin in size and don't get slower with it.
fn neighbours(small: &Disk, large: &Disk, row: &Row, found: &mut Findings) {
    let (Performance::Fixed(slow), Performance::Fixed(fast)) = (&small.performance, &large.performance)
    else {
        return;
    };
    let gib = |bytes: units::Bytes| bytes.get() >> 30;
    if small.size_max.is_some_and(|max| gib(max) + 1 != gib(large.size_min)) {
        let what = format!("its sizes don't adjoin those of `{}`", small.tier);
        found.add(
            Severity::Warning,
            TABLE,
            row,
            what,
            "every size is billed as the smallest tier that holds it",
        );
    }
    if above(*slow, *fast) {
        let what = format!("it is slower than the smaller `{}`", small.tier);
        found.add(Severity::Warning, TABLE, row, what, "larger tiers of a family are at least as fast");
    }
}
