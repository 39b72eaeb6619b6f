//! Questions without an answer, and questions that contradict themselves.

use super::{changed, json, place, transcript};

#[test]
fn an_impossible_requirement_names_the_nearest_possible() {
    let place = place();
    changed(&place, "100 TiB", "10000 TiB");
    let text = transcript(&place, &["plan"]);
    insta::assert_snapshot!(text);
    let call = place.call(&["plan", "--format", "json"]);
    assert_eq!(call.code, 4);
    let lines = json(&call)["data"]["impossible"].to_string();
    assert!(lines.contains("of the capacity there is a design"), "{lines}");
}

#[test]
fn a_budget_that_nothing_keeps_is_named() {
    let call = place().call(&["plan", "--budget", "1000"]);
    assert_eq!(call.code, 4);
    assert!(call.out.contains("without `monthly_budget_usd` there is a design"), "{}", call.out);
    assert!(call.out.contains("more than the budget"), "{}", call.out);
}

#[test]
fn constraints_that_contradict_each_other_are_named() {
    let place = place();
    let plan = |from: &str, to: &str| {
        changed(&place, from, to);
        place.transcript(&["plan"])
    };
    insta::assert_snapshot!("region_of_another_cloud", plan("\"testland\"", "\"us-east-1\""));
    insta::assert_snapshot!("unknown_region", plan("\"testland\"", "\"testlnd\""));
    insta::assert_snapshot!(
        "unknown_client_sku",
        plan("pcores = 32", "pcores = 32\nclient_sku = \"Test_E5\"")
    );
    insta::assert_snapshot!("a_filter_that_matches_nothing", plan("\"Test-*\"", "\"Tset-*\""));
    let more = "regions = [\"testland\"]\nmin_servers = 20\nmax_osts = 10";
    insta::assert_snapshot!("more_servers_than_osts", plan("regions = [\"testland\"]", more));
}

#[test]
fn a_storage_without_capacity_can_be_measured_but_not_planned() {
    let place = place();
    changed(&place, "capacity = \"100 TiB\"\n", "");
    insta::assert_snapshot!(place.transcript(&["plan"]), @r#"
    $ forebay plan
    exit: 2
    --- stdout
    --- stderr
    error: storage `data` has no capacity
    hint: planning needs one: add a line such as `capacity = "100 TiB"`
    "#);
}

#[test]
fn a_rank_that_is_not_there() {
    insta::assert_snapshot!(place().transcript(&["plan", "--why", "9"]), @r"
    $ forebay plan --why 9
    exit: 2
    --- stdout
    --- stderr
    error: there is no design 9: the plan has 3
    hint: ranks count from 1, as `forebay plan` shows them
    ");
}

#[test]
fn a_name_that_the_catalog_does_not_have() {
    insta::assert_snapshot!(place().transcript(&["plan", "--explain", "Test_E88"]), @r"
    $ forebay plan --explain Test_E88
    exit: 1
    --- stdout
    --- stderr
    error: the catalog knows nothing called `Test_E88`
    hint: did you mean `Test_E8`?
    ");
}

#[test]
fn a_wrong_catalog_is_told_with_file_and_line() {
    let place = place();
    std::fs::create_dir(place.path().join("mine")).unwrap();
    place.write("mine/prices.csv", "cloud,region,item,unit,usd,term,source,as_of\nazure,testland,vm:Test_E8,each-hour,cheap,payg,us,2026\n");
    for arguments in [&["plan", "--catalog", "mine"][..], &["catalog", "list", "--catalog", "mine"]] {
        let call = place.call(arguments);
        assert_eq!(call.code, 2, "{}", call.err);
        assert!(call.err.contains("mine/prices.csv:2"), "{}", call.err);
    }
    let output = place.command(&["plan"]).env("FOREBAY_CATALOG", "mine").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
