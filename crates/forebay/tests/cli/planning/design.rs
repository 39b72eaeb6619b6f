//! Design files: written, kept, checked, and what is said when they are wrong.

use super::{json, place, transcript};
use crate::transcript::Place;

fn with_design() -> Place {
    let place = place();
    let call = place.call(&["plan", "--design", "design.toml", "--quiet"]);
    assert_eq!(call.code, 0, "{}", call.err);
    place
}

fn edited(from: &str, to: &str) -> Place {
    let place = with_design();
    let text = place.read("design.toml");
    assert!(text.contains(from), "{text}");
    place.write("design.toml", &text.replace(from, to));
    place
}

#[test]
fn the_chosen_design_is_written_as_a_file() {
    insta::assert_snapshot!(with_design().read("design.toml"));
    let place = place();
    assert_eq!(place.call(&["plan", "--choose", "3", "--design", "third.toml", "--quiet"]).code, 0);
    assert!(place.read("third.toml").contains("Test-Lustre-250"), "{}", place.read("third.toml"));
}

#[test]
fn an_existing_design_is_kept_unless_forced() {
    let place = place();
    place.write("design.toml", "mine");
    insta::assert_snapshot!(place.transcript(&["plan", "--design", "design.toml"]), @r"
    $ forebay plan --design design.toml
    exit: 1
    --- stdout
    --- stderr
    error: `design.toml` exists already
    hint: name another file, or replace it with --force
    ");
    assert_eq!(place.read("design.toml"), "mine");
    assert_eq!(place.call(&["plan", "--design", "design.toml", "--force"]).code, 0);
    assert!(place.read("design.toml").starts_with("# Lustre"));
    let left = std::fs::read_dir(place.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert!(!left.into_iter().any(|name| name.contains(".tmp")));
}

#[test]
fn a_design_is_checked_beside_what_its_money_buys() {
    insta::assert_snapshot!(transcript(
        &edited("servers = 6", "servers = 9"),
        &["plan", "check", "design.toml"]
    ));
}

#[test]
fn a_design_that_does_not_do_has_its_own_exit_code() {
    let place = edited("servers = 6", "servers = 3");
    let call = place.call(&["plan", "check", "design.toml"]);
    assert_eq!(call.code, 4, "{}", call.err);
    assert!(
        call.out.contains("What stands against it") && call.out.ends_with("requirement: not met\n"),
        "{}",
        call.out
    );
    let check = json(&place.call(&["plan", "check", "design.toml", "--format", "json"]));
    assert_eq!((check["kind"].as_str(), check["data"]["met"].as_bool()), (Some("design_check"), Some(false)));
}

#[test]
fn a_wrong_design_is_shown_where_it_is_wrong() {
    let check = |place: &Place| place.transcript(&["plan", "check", "design.toml"]);
    insta::assert_snapshot!("design_unknown_key", check(&edited("servers = 6", "server = 6")));
    insta::assert_snapshot!("design_unknown_sku", check(&edited("sku = \"Test_E8\"", "sku = \"Test_E9\"")));
    insta::assert_snapshot!("design_unknown_tier", check(&edited("\"Test-H16\"", "\"Test-H61\"")));
    insta::assert_snapshot!("design_unknown_region", check(&edited("\"testland\"", "\"tesland\"")));
    insta::assert_snapshot!("design_other_version", check(&edited("version = 1", "version = 2")));
    insta::assert_snapshot!("design_missing", place().transcript(&["plan", "check", "gone.toml"]));
}
