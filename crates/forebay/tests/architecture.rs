//! The house's plan, checked: which room may use which, and what no room may be.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The rooms by layer. A room uses only rooms of lower layers; two that need the same thing move it down, with a name.
const LAYERS: [&[&str]; 5] = [
    &["units", "fault"],
    &["host", "spec", "fleet", "metrics", "store", "chunk"],
    &["record", "catalog"],
    &["bench", "plan", "prices", "report", "sync", "console", "import"],
    &["forebay"],
];

/// Rooms for tests only: any room may have them as a dev-dependency, none as a dependency.
const FOR_TESTS: [&str; 1] = ["testkit"];

/// Names that say nothing about what is inside.
const EMPTY_WORDS: [&str; 8] = ["common", "utils", "util", "types", "helpers", "misc", "core", "shared"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every room with its manifest.
fn rooms() -> BTreeMap<String, toml::Table> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    crates
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| std::fs::read_to_string(path.join("Cargo.toml")).ok())
        .map(|text| text.parse::<toml::Table>().unwrap())
        .map(|manifest| (manifest["package"]["name"].as_str().unwrap().to_owned(), manifest))
        .collect()
}

fn layer_of(room: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&room))
}

/// What a room ships with: dependencies and build dependencies, for every platform.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = platforms.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| ["dependencies", "build-dependencies"].map(|key| table.get(key)))
        .filter_map(|dependencies| dependencies?.as_table())
        .flat_map(|dependencies| dependencies.iter())
        .map(|(name, how)| how.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned())
        .collect()
}

/// What breaks the plan, one line each.
fn violations(rooms: &BTreeMap<String, toml::Table>) -> Vec<String> {
    let mut found = Vec::new();
    for (room, manifest) in rooms.iter().filter(|(room, _)| !FOR_TESTS.contains(&room.as_str())) {
        let Some(layer) = layer_of(room) else {
            found.push(format!(
                "`{room}` has no layer: add it to LAYERS in crates/forebay/tests/architecture.rs"
            ));
            continue;
        };
        for used in dependencies(manifest).iter().filter(|used| rooms.contains_key(*used)) {
            if FOR_TESTS.contains(&used.as_str()) {
                found.push(format!(
                    "`{room}` ships with `{used}`, which is for tests: make it a dev-dependency"
                ));
            } else if layer_of(used).is_none_or(|below| below >= layer) {
                found.push(format!("`{room}` must not use `{used}`: it is not in a lower layer"));
            }
        }
    }
    found
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let found = violations(&rooms());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_plan_names_no_room_that_is_gone() {
    let rooms = rooms();
    for room in LAYERS.concat().into_iter().chain(FOR_TESTS) {
        assert!(rooms.contains_key(room), "`{room}` is in LAYERS but not in crates/");
    }
}

#[test]
fn a_broken_plan_is_noticed() {
    let broken = |room: &str, manifest: &str| {
        let mut rooms = rooms();
        rooms.insert(room.to_owned(), manifest.parse().unwrap());
        violations(&rooms)
    };
    assert_eq!(broken("units", "[dependencies]\nbench.workspace = true").len(), 1);
    assert_eq!(broken("report", "[dependencies]\nbench.workspace = true").len(), 1);
    assert_eq!(broken("fleet", "[target.'cfg(unix)'.dependencies]\nrecord.workspace = true").len(), 1);
    assert_eq!(broken("spec", "[dependencies]\nrecords = { package = \"record\", path = \"x\" }").len(), 1);
    assert_eq!(broken("bench", "[build-dependencies]\ntestkit.workspace = true").len(), 1);
    assert!(broken("kitchen", "")[0].contains("add it to LAYERS"));
    assert!(broken("bench", "[dependencies]\nfleet.workspace = true").is_empty());
}

#[test]
fn only_the_workspace_decides_versions() {
    for (room, manifest) in rooms() {
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(key).and_then(toml::Value::as_table) else { continue };
            for (name, how) in table {
                let inherits = how.get("workspace").and_then(toml::Value::as_bool) == Some(true);
                assert!(
                    inherits,
                    "`{room}` decides about `{name}` itself: name it in the workspace's Cargo.toml"
                );
            }
        }
        let lints = manifest["lints"].get("workspace").and_then(toml::Value::as_bool);
        assert_eq!(lints, Some(true), "`{room}` does not take the workspace's lints");
    }
}

#[test]
fn no_name_is_empty() {
    for (name, path) in rooms().keys().map(|room| (room.clone(), PathBuf::from(room))).chain(source_files()) {
        assert!(!EMPTY_WORDS.contains(&name.as_str()), "`{}`: name it after what is inside", path.display());
    }
}

/// Every Rust file and folder below `crates/`, by its bare name.
fn source_files() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path.clone());
                found.push((name, path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((name, path));
            }
        }
    }
    found
}

#[test]
fn main_only_hands_over() {
    let main = std::fs::read_to_string(root().join("crates/forebay/src/main.rs")).unwrap();
    assert!(main.lines().count() < 30, "main.rs has {} lines", main.lines().count());
}
