//! `forebay import`: results of other tools as runs.

use std::path::{Path, PathBuf};

use record::RunRecord;

use crate::transcript::Place;

fn file(name: &str) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files");
    std::fs::read_to_string(files.join(name)).unwrap()
}

fn with(names: &[&str]) -> Place {
    let place = Place::new();
    names.iter().for_each(|name| place.write(name, &file(name)));
    place
}

fn runs(place: &Place) -> Vec<RunRecord> {
    let directory = place.path().join(".local/share/forebay/runs");
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect()
}

#[test]
fn a_list_keeps_nothing() {
    let place = with(&["ior_np4.json", "mdtest_hard.txt"]);
    insta::assert_snapshot!(place.transcript(&["import", "--list", "ior_np4.json", "mdtest_hard.txt"]));
    assert!(runs(&place).is_empty());
}

#[test]
fn an_imported_run_is_shown_reported_and_listed() {
    let place = with(&["fio_json.txt"]);
    assert_eq!(place.call(&["import", "fio_json.txt", "--label", "before"]).code, 0);
    let run = &runs(&place)[0];
    assert_eq!(run.label.as_deref(), Some("before"));
    let shown = place.call(&["runs", "show", "latest"]);
    assert!(shown.out.contains("imported from fio_json.txt (fio 3.33)"), "{}", shown.out);
    assert!(shown.out.contains("valid with notes"), "nothing was checked: {}", shown.out);
    assert_eq!(place.call(&["runs", "report", "latest", "--output", "report.html"]).code, 0);
    let report = place.read("report.html");
    assert!(
        report.contains("Imported from another tool")
            && report.contains(&run.imported.as_ref().unwrap().sha256)
    );
    assert_eq!(place.call(&["runs", "report", "latest", "--md", "--output", "report.md"]).code, 0);
    assert_eq!(place.call(&["runs", "export", "latest"]).code, 0);
}

#[test]
fn results_of_one_tool_can_be_compared() {
    let place = with(&["ior_np4_fpp_v.txt", "mdtest_np1.txt"]);
    place.write("after.txt", &file("ior_np4_fpp_v.txt").replace("2484.50 ", "1242.25 "));
    assert_eq!(place.call(&["import", "ior_np4_fpp_v.txt", "after.txt", "mdtest_np1.txt"]).code, 0);
    let runs = runs(&place);
    let of = |file: &str| {
        let named = |run: &&RunRecord| run.imported.as_ref().unwrap().file == Path::new(file);
        runs.iter().find(named).unwrap().id.clone()
    };
    let compared = place.call(&["runs", "compare", &of("ior_np4_fpp_v.txt"), &of("after.txt")]);
    assert_eq!(compared.code, 0, "{}", compared.err);
    assert!(compared.out.contains("write"), "{}", compared.out);
    let unlike = place.call(&["runs", "compare", &of("ior_np4_fpp_v.txt"), &of("mdtest_np1.txt")]);
    assert_eq!(unlike.code, 1);
    assert!(unlike.err.contains("did not do the same"), "{}", unlike.err);
}

#[test]
fn requirements_are_held_against_imported_results() {
    let place = with(&["rhel_iotest_node07_261121-2130.results", "ior_np4.json"]);
    place.write(
        "grid.toml",
        "version = 1\n[grid]\nname = \"risk\"\npcores = 8\n[[storage]]\nname = \"work\"\nrole = \"work\"\ncapacity = \"10 TiB\"\nread_per_pcore = \"100 MB/s\"\nwrite_per_pcore = \"150 MB/s\"\n",
    );
    let call = place.call(&["import", "rhel_iotest_node07_261121-2130.results", "--spec", "grid.toml"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let run = &runs(&place)[0];
    let met: Vec<(bool, u32)> = run.requirements.iter().map(|one| (one.met, one.pcores)).collect();
    assert_eq!(met, [(true, 8), (false, 8)], "{:?}", run.requirements);
    let unknown = place.call(&["import", "ior_np4.json", "--spec", "grid.toml"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("--pcores N"), "{}", unknown.err);
    let other = place.call(&["import", "ior_np4.json", "--spec", "grid.toml", "--test", "home"]);
    assert!(other.err.contains("no test `home`"), "{}", other.err);
}

#[test]
fn a_broken_file_is_told_and_the_others_are_kept() {
    let place = with(&["ior_np1_default.txt"]);
    place.write("cut.json", "{ \"tests\": [\n { \"Results\": [ { \"bwMiB\": 1");
    place.write("notes.txt", "remember the milk\n");
    insta::assert_snapshot!(place.transcript(&["import", "cut.json", "notes.txt", "gone.txt"]));
    let call = place.call(&["import", "cut.json", "ior_np1_default.txt"]);
    assert_eq!(call.code, 3, "{}", call.err);
    assert!(call.err.contains("line 2: expected valid JSON"), "{}", call.err);
    assert_eq!(runs(&place).len(), 1);
}
