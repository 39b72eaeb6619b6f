//! What was asked, and what the answer rests on.

use record::{PlanDocument, StorageSheet};

use super::figures::{mb, mix, number, tib};
use super::listed;
use crate::paint;
use crate::wrap::wrap;

/// The grid, what it needs, and where was looked.
pub fn heading(document: &PlanDocument) -> String {
    let mut lines = vec![format!("{}: {} pCores", paint::strong(&document.grid), document.pcores)];
    let all = document.ranked.iter().chain(&document.limits_unknown).chain(&document.prices_unknown);
    if let Some(sheet) = all.into_iter().next() {
        lines.extend(sheet.storages.iter().map(|storage| wrap(&needs(storage), "  ")));
    }
    lines.push(wrap(
        &format!(
            "looked at {} combinations in {}; {} figures; ranked by {}",
            number(document.looked_at as f64),
            document.regions.join(", "),
            document.figures,
            document.objective
        ),
        "",
    ));
    lines.join("\n")
}

/// What one storage has to do.
pub fn needs(storage: &StorageSheet) -> String {
    let needed = &storage.needed;
    format!(
        "{}: {}; read {} MB/s, write {} MB/s, {} MB/s mixed {}",
        storage.name,
        tib(storage.needed_capacity_bytes),
        mb(needed.read_bytes_per_second),
        mb(needed.write_bytes_per_second),
        mb(needed.mixed_bytes_per_second),
        mix(storage.read_share)
    )
}

/// Rules in force and how to read the signs.
pub fn basis(document: &PlanDocument) -> String {
    let rules = listed("Rules in force (--help names the flag of each)", [document.rules.join("; ")]);
    let mut parts: Vec<String> = rules.into_iter().collect();
    let signs = "* none is better in cost, throughput, capacity and servers at once; ~ a price in doubt; ? not known. \
                 Headroom: how far the next limit is above the bottleneck. --why N explains a design.";
    parts.push(paint::dim(wrap(signs, "")));
    parts.join("\n")
}
