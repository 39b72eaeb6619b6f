//! `forebay plan` and `forebay size`: what they show.

use super::{changed, json, place, root, transcript};

#[test]
fn a_plan_shows_the_best_of_each_family_first() {
    insta::assert_snapshot!(transcript(&place(), &["plan"]));
}

#[test]
fn why_explains_a_design_limit_by_limit() {
    insta::assert_snapshot!(transcript(&place(), &["plan", "--why", "1"]));
}

#[test]
fn why_not_tells_where_a_family_has_designs() {
    insta::assert_snapshot!(transcript(&place(), &["plan", "--why-not", "managed-lustre"]));
}

#[test]
fn explain_shows_facts_prices_and_what_is_not_known() {
    let place = place();
    insta::assert_snapshot!("explain_machine", transcript(&place, &["plan", "--explain", "Test_Odd"]));
    insta::assert_snapshot!("explain_disk", transcript(&place, &["plan", "--explain", "Test-H16"]));
    insta::assert_snapshot!("explain_service", transcript(&place, &["plan", "--explain", "Test-Lustre-125"]));
}

#[test]
fn growth_shows_what_becomes_of_todays_design() {
    let call = place().call(&["plan", "--grow", "2x,40x", "--top", "0"]);
    let from = call.out.find("When the grid grows").unwrap();
    let to = call.out.find("Rules in force").unwrap();
    insta::assert_snapshot!(&call.out[from..to]);
}

#[test]
fn the_objective_changes_the_order() {
    let place = place();
    let first = |objective| {
        let document = json(&place.call(&["plan", "--objective", objective, "--format", "json"]));
        document["data"]["ranked"][0]["title"].as_str().unwrap().to_owned()
    };
    assert!(first("cost").starts_with("Lustre: "), "{}", first("cost"));
    assert!(first("cost-per-rate").contains("Test-Lustre-250"), "{}", first("cost-per-rate"));
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let place = place();
    for arguments in [&["plan"][..], &["plan", "--why", "1"], &["plan", "--explain", "Test_E8"]] {
        for line in place.call(arguments).out.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn a_plan_document_fits_its_schema() {
    let call = place().call(&["plan", "--grow", "2x", "--format", "json"]);
    let schema = std::fs::read_to_string(root("docs/plan-document.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = json(&call);
    assert_eq!(document["kind"], "plan");
    let wrong: Vec<String> =
        validator.iter_errors(&document["data"]).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let line = place().call(&["plan", "--format", "jsonl"]).out;
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let place = place();
    for arguments in [&["plan"][..], &["plan", "--format", "json"], &["plan", "--why", "2"]] {
        assert_eq!(place.call(arguments).out, place.call(arguments).out, "{arguments:?}");
    }
}

#[test]
fn a_missing_price_is_never_zero() {
    let document = json(&place().call(&["plan", "--format", "json"]));
    let data = &document["data"];
    let title = |sheet: &serde_json::Value| sheet["title"].as_str().unwrap().to_owned();
    let unknown: Vec<String> = data["prices_unknown"].as_array().unwrap().iter().map(title).collect();
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert!(unknown[0].contains("Test-Lustre-125"), "{unknown:?}");
    assert!(data["prices_unknown"][0]["usd_per_month"].is_null());
    for sheet in data["ranked"].as_array().unwrap() {
        assert!(sheet["usd_per_month"].as_f64().unwrap() > 0.0 && !title(sheet).contains("Test-Lustre-125"));
    }
}

#[test]
fn a_machine_with_unknown_limits_is_in_no_ranked_design() {
    let place = place();
    let with = json(&place.call(&["plan", "--format", "json"]));
    assert!(!with["data"]["ranked"].to_string().contains("Test_Odd"));
}

#[test]
fn size_is_a_plan_without_a_spec() {
    let place = place();
    let all = "Test-*";
    changed(&place, "name = \"trial\"", "name = \"grid\"");
    let plan = json(&place.call(&["plan", "--format", "json"]));
    let size =
        "size --pcores 32 --read 150MB/s --write 100MB/s --capacity 100TiB --cloud azure --region testland";
    let mut arguments: Vec<&str> = size.split(' ').collect();
    arguments.extend(["--tiers", all, "--format", "json"]);
    let size = json(&place.call(&arguments));
    assert_eq!(plan["data"]["ranked"], size["data"]["ranked"]);
    assert_eq!(place.call(&["size", "--capacity", "1TiB"]).code, 2);
}

#[test]
fn flags_go_over_the_spec() {
    let place = place();
    let ranked = |arguments: &[&str]| {
        let all: Vec<&str> = ["plan", "--format", "json"].iter().chain(arguments).copied().collect();
        json(&place.call(&all))["data"].clone()
    };
    assert_eq!(ranked(&["--figures", "spec-sheet"])["figures"], "spec sheet");
    let many = ranked(&["--min-servers", "12"]);
    let lustre = many["ranked"].as_array().unwrap().iter();
    let servers = lustre
        .filter_map(|sheet| sheet["design"]["storage"][0]["layout"]["lustre_on_vms"]["servers"].as_u64());
    assert!(servers.into_iter().all(|servers| servers >= 12));
    assert!(many["rules"].to_string().contains("at least 12 OSSs"), "{}", many["rules"]);
    assert!(ranked(&["--duty-cycle", "50%"])["rules"].to_string().contains("50 % of the month"));
}

#[test]
fn reports_are_written() {
    let place = place();
    let call = place.call(&["plan", "--html", "plan.html", "--md", "plan.md", "--quiet"]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(place.read("plan.html").contains("<html") && place.read("plan.md").starts_with('#'));
}

/// What the OSSs and their disks of a design cost.
fn oss_and_disks(sheet: &serde_json::Value) -> f64 {
    let costs = sheet["costs"].as_array().unwrap().iter();
    let parts = costs.filter(|cost| ["servers", "disks"].contains(&cost["part"].as_str().unwrap()));
    parts.map(|cost| cost["usd_per_month"].as_f64().unwrap()).sum()
}

#[test]
fn the_papers_grid_costs_a_third_less_than_the_papers_design() {
    let place = crate::transcript::Place::new();
    let plan = json(&place.call(&["plan", &root("examples/sas-azure.toml"), "--format", "json"]));
    let best = &plan["data"]["ranked"][0];
    assert!(oss_and_disks(best) <= 18_758.0, "{}", oss_and_disks(best));
    let rates = &best["storages"][0]["delivered"];
    assert!(rates["read_bytes_per_second"].as_f64().unwrap() >= 9216e6);
    assert!(rates["write_bytes_per_second"].as_f64().unwrap() >= 9216e6);
    let design = root("examples/sas-azure-paper.design.toml");
    let call = place.call(&["plan", "check", &design, "--figures", "spec-sheet", "--format", "json"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let check = json(&call);
    let paper = oss_and_disks(&check["data"]["design"]);
    assert!((paper - 30_243.0).abs() < 1.0, "{paper}");
    assert!(oss_and_disks(&check["data"]["cheapest"]) <= 18_758.0);
}
