//! A place with a small catalog of its own, so that new facts of the built-in one change nothing here: its region has
//! prices of its own machines and disks only, and the spec allows its own tiers only.

use crate::transcript::{Call, Place};

mod catalog;
mod design;
mod plan;
mod trouble;

const FACTS: [(&str, &str); 5] = [
    ("vms.csv", include_str!("planning/vms.csv")),
    ("disks.csv", include_str!("planning/disks.csv")),
    ("services.csv", include_str!("planning/services.csv")),
    ("prices.csv", include_str!("planning/prices.csv")),
    ("calibration.csv", include_str!("planning/calibration.csv")),
];
const GRID: &str = include_str!("planning/grid.toml");

/// A place with the small catalog as the user's own, and a spec.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join(".local/share/forebay/catalog")).unwrap();
    for (name, text) in FACTS {
        place.write(&format!(".local/share/forebay/catalog/{name}"), text);
    }
    place.write("grid.toml", GRID);
    place
}

/// The spec with a line changed.
fn changed(place: &Place, from: &str, to: &str) {
    assert!(GRID.contains(from), "{from}");
    place.write("grid.toml", &GRID.replace(from, to));
}

/// A transcript without how many tiers of the built-in catalog the spec does not allow.
fn transcript(place: &Place, arguments: &[&str]) -> String {
    let text = place.transcript(arguments);
    let lines: Vec<&str> = text.lines().collect();
    let Some(start) = lines.iter().position(|line| *line == "Families without a design") else { return text };
    let end =
        lines[start..].iter().position(|line| line.is_empty()).map_or(lines.len(), |length| start + length);
    let kept = lines[..=start].iter().chain(&["  [families]"]).chain(&lines[end..]);
    kept.copied().collect::<Vec<_>>().join("\n") + "\n"
}

fn json(call: &Call) -> serde_json::Value {
    serde_json::from_str(&call.out).unwrap_or_else(|error| panic!("{error}: {} {}", call.out, call.err))
}

fn root(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}
