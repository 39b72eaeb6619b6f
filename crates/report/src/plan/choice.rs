//! Which designs of a plan are shown in full.

use record::{DesignSheet, PlanDocument};

/// Families are told apart up to this many; grids of several storages have a family per storage.
const MOST_FAMILIES: usize = 8;
/// The first designs of the ranking are shown whatever their family.
const FIRST: usize = 3;

/// The kinds of a design's storages: `lustre-on-vms`, `managed-lustre + local-nvme`.
pub fn family(sheet: &DesignSheet) -> String {
    let names: Vec<&str> = sheet.storages.iter().map(|storage| storage.family.as_str()).collect();
    names.join(" + ")
}

/// The families of the ranked designs, in the order of their best design, with its place in the ranking.
pub fn best_of_families(document: &PlanDocument) -> Vec<(String, usize)> {
    let mut best: Vec<(String, usize)> = Vec::new();
    for (place, sheet) in document.ranked.iter().enumerate() {
        let family = family(sheet);
        if best.len() < MOST_FAMILIES && !best.iter().any(|(known, _)| *known == family) {
            best.push((family, place));
        }
    }
    best
}

/// Places of the designs that are shown in full: the first ones and the best of each family.
pub fn in_full(document: &PlanDocument) -> Vec<usize> {
    let mut places: Vec<usize> = (0..document.ranked.len().min(FIRST)).collect();
    places.extend(best_of_families(document).into_iter().map(|(_, place)| place));
    places.sort_unstable();
    places.dedup();
    places
}
