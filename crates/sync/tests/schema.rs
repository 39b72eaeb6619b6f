//! The shipped JSON Schema of what `forebay sync --format json` prints and `last.json` has.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

#[test]
fn the_shipped_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sync-record.schema.json");
    let current = serde_json::to_string_pretty(&sync::schema()).unwrap() + "\n";
    if std::env::var_os("FOREBAY_UPDATE").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let shipped = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        shipped == current,
        "docs/sync-record.schema.json is old: run `FOREBAY_UPDATE=1 cargo test -p sync`"
    );
}
