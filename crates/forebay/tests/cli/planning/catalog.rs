//! `forebay catalog`: the facts as the command line shows them.

use super::{json, place};

#[test]
fn a_table_is_listed_by_cloud_and_name() {
    let place = place();
    insta::assert_snapshot!(place.transcript(&["catalog", "list", "vms", "--filter", "Test_*"]));
    insta::assert_snapshot!(
        "list_prices",
        place.transcript(&["catalog", "list", "prices", "--filter", "testland"])
    );
    let none = place.call(&["catalog", "list", "disks", "--cloud", "gcp", "--filter", "Test*"]);
    assert_eq!((none.code, none.err.as_str()), (0, "no row of disks matches\n"));
    let tables = json(&place.call(&["catalog", "list", "--format", "json"]));
    assert_eq!(tables["data"].as_array().unwrap().len(), 8);
}

#[test]
fn rows_in_json_have_every_column_and_null_for_unknown() {
    let line = place().call(&["catalog", "list", "vms", "--filter", "Test_Odd", "--format", "jsonl"]).out;
    let row: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(row["disk_bandwidth"].is_null() && row["network"].is_null(), "{row}");
    assert_eq!((row["pcores"].as_str(), row["line"].as_u64()), (Some("4"), Some(4)));
}

#[test]
fn what_is_listed_as_csv_is_an_overlay_that_changes_nothing() {
    let place = crate::transcript::Place::new();
    std::fs::create_dir(place.path().join("same")).unwrap();
    for table in ["vms", "disks", "services", "prices", "ports", "published", "calibration"] {
        let csv = place.call(&["catalog", "list", table, "--csv"]);
        place.write(&format!("same/{table}.csv"), &csv.out);
    }
    insta::assert_snapshot!(place.transcript(&["catalog", "diff", "same"]), @r"
    $ forebay catalog diff same
    exit: 0
    --- stdout
    no difference
    --- stderr
    ");
}

#[test]
fn differences_are_shown_cell_by_cell() {
    let place = place();
    let facts = ".local/share/forebay/catalog";
    std::fs::create_dir(place.path().join("new")).unwrap();
    for (name, text) in super::FACTS {
        let text = text.replace(",2000,500,", ",2500,500,").replace("Test_Odd", "Test_Even");
        place.write(&format!("new/{name}"), &text);
    }
    insta::assert_snapshot!(place.transcript(&["catalog", "diff", facts, "new"]));
}

#[test]
fn facts_that_cannot_be_fail_the_check() {
    let place = place();
    assert_eq!(place.call(&["catalog", "check"]).code, 0);
    std::fs::create_dir(place.path().join("mine")).unwrap();
    place.write(
        "mine/vms.csv",
        "cloud,sku,series,vcpus,pcores,hyperthreaded,source,as_of\nazure,Test_Wrong,Test,4,8,yes,us,2026\n",
    );
    let call = place.call(&["catalog", "check", "--catalog", "mine"]);
    assert_eq!(call.code, 1, "{}", call.out);
    assert!(call.out.contains("mine/vms.csv:2: azure/Test_Wrong"), "{}", call.out);
}

#[test]
fn a_name_is_shown_with_its_prices() {
    let place = place();
    insta::assert_snapshot!(place.transcript(&["catalog", "show", "test_e8"]));
    let rows = json(&place.call(&["catalog", "show", "Test_E8", "--format", "json"]));
    assert_eq!(rows["kind"], "facts");
    assert_eq!(rows["data"].as_array().unwrap().len(), 2);
}
