//! Sweeps: the points of a spec, run once each, and one report over all of them.

use crate::transcript::Place;

const SPEC: &str = "\
version = 1
[grid]
name = \"scale\"
pcores = 2
[[storage]]
name = \"data\"
role = \"data\"
capacity = \"1 TiB\"
read_per_pcore = \"1 MB/s\"
write_per_pcore = \"1 MB/s\"
[[test]]
name = \"sas\"
test = \"iotest\"
file_size = \"1 MiB\"
repetitions = 1
[[sweep]]
name = \"out\"
ranks = [1, 2]
transfer_size = [\"64 KiB\", \"1 MiB\"]
";

#[test]
fn the_points_are_listed_and_nothing_is_run() {
    let place = Place::new();
    std::fs::write(place.path().join("grid.toml"), SPEC).unwrap();
    insta::assert_snapshot!(place.transcript(&["sweep", "grid.toml", "--dry-run"]));
}

#[test]
fn points_that_are_done_are_not_run_again_and_one_report_has_all() {
    let place = Place::new();
    std::fs::write(place.path().join("grid.toml"), SPEC).unwrap();
    std::fs::create_dir(place.path().join("target")).unwrap();
    let sweep = |more: &[&str]| {
        let words =
            ["sweep", "grid.toml", "--target", "target", "--report", "sweep.html", "--csv", "sweep.csv"];
        place.call(&words.iter().chain(more).copied().collect::<Vec<_>>())
    };
    let first = sweep(&[]);
    assert!(first.err.contains("4 points, 4 to run"), "{}", first.err);
    assert!([0, 4].contains(&first.code), "{}", first.err);
    let csv = std::fs::read_to_string(place.path().join("sweep.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 4 * 2, "a row per point and direction: {csv}");
    let html = std::fs::read_to_string(place.path().join("sweep.html")).unwrap();
    assert_eq!(html.matches("<figure>").count(), 2, "reading and writing");

    // One point is lost, as if the sweep had been interrupted before it.
    let run = csv.lines().last().unwrap().split(',').next().unwrap().to_owned();
    assert_eq!(place.call(&["runs", "rm", &run]).code, 0);
    let again = sweep(&[]);
    assert!(again.err.contains("4 points, 1 to run"), "{}", again.err);
    let after = std::fs::read_to_string(place.path().join("sweep.csv")).unwrap();
    let runs = |csv: &str| {
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(runs(&csv)[..6], runs(&after)[..6], "the others are those that were there");
    assert_ne!(runs(&csv)[7], runs(&after)[7]);
}

#[test]
fn what_is_wrong_with_a_sweep_is_shown_where_it_is() {
    let place = Place::new();
    let wrong = SPEC
        .replace("ranks = [1, 2]", "rank = [1, 2]\ntest = \"sos\"")
        .replace("[\"64 KiB\", ", "[\"64 KiX\", ");
    std::fs::write(place.path().join("grid.toml"), wrong).unwrap();
    insta::assert_snapshot!(place.transcript(&["sweep", "grid.toml", "--dry-run"]));
}

#[test]
fn stripes_and_hosts_that_are_not_there_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("target")).unwrap();
    for (settings, word, code) in [("stripe_count = [4]", "Lustre", 1), ("hosts = [8]", "hosts", 2)] {
        std::fs::write(place.path().join("grid.toml"), SPEC.replace("ranks = [1, 2]", settings)).unwrap();
        let call = place.call(&["sweep", "grid.toml", "--target", "target"]);
        assert_eq!(call.code, code, "{}", call.err);
        assert!(call.err.contains(word) && call.err.contains("hint:"), "{}", call.err);
        assert_eq!(std::fs::read_dir(place.path().join("target")).unwrap().count(), 0);
    }
}
