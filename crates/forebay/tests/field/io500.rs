//! `forebay io500`.

use crate::{Place, listing};

/// Two ranks: four of IO500's, and in those of mdtest two levels above the trees' own (three of them).
const DIRECTORIES: u64 = 4 + 2 + 3;

fn config(place: &Place, more: &str) {
    let text = format!(
        "[global]\ndatadir = {}\nresultdir = results\n[ior-easy]\ntransferSize = 64k\nblockSize = 8m\n[ior-hard]\nsegmentCount = 100\n[mdtest-easy]\nn = 300\n[mdtest-hard]\nn = 300\n{more}",
        place.target()
    );
    std::fs::write(place.home.path().join("config.ini"), text).unwrap();
}

#[test]
fn all_phases_run_and_leave_results_and_nothing_else() {
    let place = Place::new();
    config(&place, "");
    let out =
        place.expect(&["io500", "config.ini", "--ranks", "2", "--stonewall", "1", "--timestamp", "now"]);
    let phases: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with('['))
        .map(|line| line[9..].split_whitespace().next().unwrap())
        .collect();
    assert_eq!(phases.len(), 15, "{out}");
    assert!(out.contains("[INVALID]") && out.contains("[SCORE ] Bandwidth"), "{out}");
    assert!(!out.contains("Score is zero") && !out.contains("Find phase didn't find any files"), "{out}");
    let results = listing(&place.home.path().join("results/now"));
    for file in [
        "result_summary.txt",
        "result.txt",
        "config.ini",
        "config-orig.ini",
        "ior-easy.stonewall",
        "mdtest-hard.stonewall",
        "ior-easy-write.txt",
        "ior-hard-read.csv",
        "find.txt",
        "find.csv",
        "timestampfile",
        "mdtest-easy-write.txt",
    ] {
        assert!(results.contains(&file.to_owned()), "{file}: {results:?}");
    }
    assert!(listing(&place.memory.path().join("md")).is_empty(), "{:?}", listing(place.memory.path()));
    // Both summaries are what readers of the original's find.
    let record = place.record();
    assert_eq!((record.tests.len(), record.tests[0].test.as_str()), (14, "io500"));
    let read =
        |name: &str| std::fs::read_to_string(place.home.path().join("results/now").join(name)).unwrap();
    // What IOR and mdtest would have printed, and their command lines.
    assert!(read("ior-easy-write.txt").contains("Summary of all tests:"), "{}", read("ior-easy-write.txt"));
    assert!(
        read("mdtest-easy-write.txt").contains("SUMMARY rate (in ops/sec)"),
        "{}",
        read("mdtest-easy-write.txt")
    );
    assert!(read("result.txt").contains("exe             = ior --dataPacketType=timestamp -C -Q 1 -g -G "));
    let order: Vec<&str> = phases.iter().copied().take(6).collect();
    assert_eq!(order[2], "timestamp", "{order:?}");
    // Everything in the data directory was looked at: the items, IOR's three files, directories.
    let found = read("result.txt");
    let of = |key: &str| -> u64 {
        let section = found.split("[find]").nth(1).unwrap();
        let line = section.lines().find(|line| line.starts_with(key)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(of("total-files"), 1200 + 3 + DIRECTORIES);
    // Names with 01 in them, of the files of mdtest-hard.
    let named = (0..300).filter(|item| format!("file.mdtest.0.{item}").contains("01")).count() as u64;
    assert_eq!(of("found"), 2 * named);
    assert!(
        record
            .tests
            .iter()
            .flat_map(|test| &test.repetitions)
            .flat_map(|one| &one.phases)
            .all(|phase| phase.error_count == 0 && phase.verify_failures == 0)
    );
    for file in ["result_summary.txt", "result.txt"] {
        place.expect(&["import", &format!("results/now/{file}")]);
        let imported = place.record();
        assert!(
            imported.tests[0]
                .checks
                .iter()
                .any(|check| check.rule == "io500-score" && check.advice.is_none()),
            "{:?}",
            imported.tests[0].checks
        );
    }
}

#[test]
fn a_result_is_verified_by_its_phases_and_its_hash() {
    let place = Place::new();
    config(&place, "");
    place.expect(&["io500", "config.ini", "--stonewall", "1", "--timestamp", "x"]);
    let verify = |file: &str| place.forebay(&["io500", "config.ini", "--verify", file]);
    let (code, out, err) = verify("results/x/result.txt");
    assert_eq!(code, Some(1), "short runs don't count: {err}");
    assert!(out.contains("[SCORE ] Bandwidth") && out.contains("less than the 300 s"), "{out}");
    assert!(!out.contains("follows from") && !out.contains("hash"), "its own means are right: {out}");

    let file = place.home.path().join("results/x/result.txt");
    let text = std::fs::read_to_string(&file).unwrap();
    let line = text.lines().find(|line| line.starts_with("SCORE ")).unwrap();
    std::fs::write(&file, text.replace(line, "SCORE           = 99.5")).unwrap();
    let (_, out, _) = verify("results/x/result.txt");
    assert!(out.contains("`SCORE` is 99.5, and") && out.contains("what is above it was changed"), "{out}");

    // As the original writes it: long enough, and with a hash of its own.
    let scores = [
        ("ior-easy-write", 2.0),
        ("ior-hard-write", 2.0),
        ("ior-easy-read", 8.0),
        ("ior-hard-read", 8.0),
        ("mdtest-easy-write", 9.0),
        ("mdtest-hard-write", 9.0),
        ("find", 9.0),
        ("mdtest-easy-stat", 9.0),
        ("mdtest-hard-stat", 9.0),
        ("mdtest-easy-delete", 9.0),
        ("mdtest-hard-read", 9.0),
        ("mdtest-hard-delete", 9.0),
    ];
    let section = |(phase, score): (&str, f64)| {
        format!("\n[{phase}]\nscore           = {score:.6}\nt_delta         = 301.5\n")
    };
    let mut original = "version         = io500-sc24\n".to_owned();
    original.extend(scores.map(section));
    original += "\n[SCORE]\nMD              = 9.0\nBW              = 4.0\nSCORE           = 6.0\nhash            = ABCD\n";
    std::fs::write(place.home.path().join("original.txt"), &original).unwrap();
    let (code, out, err) = verify("original.txt");
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("TOTAL 6.000000\n") && err.contains("not looked at"), "{out}{err}");
    let (code, _, err) = verify("missing.txt");
    assert!(code == Some(2) && err.contains("missing.txt"), "{err}");
}

#[test]
fn the_extended_mode_has_finds_of_its_own_and_a_second_score() {
    let place = Place::new();
    config(&place, "[mdworkbench]\nrun = FALSE\n");
    let out =
        place.expect(&["io500", "config.ini", "--stonewall", "1", "--mode=extended", "--timestamp", "x"]);
    for line in ["IO500 version", "find-easy", "find-hard", "[SCORE ] Bandwidth", "[SCOREX] Bandwidth"] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(
        out.starts_with("IO500 version forebay-") && out.lines().next().unwrap().ends_with("(extended)"),
        "{out}"
    );
    for file in ["result_summary.txt", "result.txt"] {
        place.expect(&["import", &format!("results/x/{file}")]);
    }
}

#[test]
fn phases_that_are_switched_off_do_not_run() {
    let place = Place::new();
    config(&place, "[ior-easy-write]\nrun = FALSE\n[ior-hard]\nrun = FALSE\n[find]\nrun = FALSE\n");
    let (code, out, err) = place.forebay(&["io500", "config.ini", "--stonewall", "1"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(!out.contains("ior-") && !out.contains("find"), "{out}");
    assert!(err.contains("ior-easy-read has nothing to work on"), "{err}");
    assert!(out.contains("[SCORE ]") && out.contains("Not all phases have a score"), "{out}");
}

#[test]
fn nothing_is_made_by_a_list_a_dry_run_or_a_wrong_file() {
    let place = Place::new();
    config(&place, "");
    assert!(place.expect(&["io500", "--list"]).contains("stonewall-time = 300"));
    assert!(place.expect(&["io500", "config.ini", "--dry-run"]).contains("mdtest-hard-delete"));
    let (code, _, err) = place.forebay(&["io500", "config.ini", "--mode=extended"]);
    assert!(code == Some(1) && err.contains("md-workbench") && err.contains("`[mdworkbench]`"), "{err}");
    config(&place, "[mdtest-easy-write]\nAPI = POSIX --posix.rangelocks\n");
    let (code, _, err) = place.forebay(&["io500", "config.ini"]);
    assert!(code == Some(2) && err.contains("mdtest-easy-write: `--posix.rangelocks` is no option"), "{err}");
    config(&place, "[ior-easy]\nblockSzie = 1m\n");
    let (code, _, err) = place.forebay(&["io500", "config.ini"]);
    assert!(code == Some(2) && err.contains("did you mean `blockSize`?"), "{err}");
    let (code, _, err) = place.forebay(&["io500", "config.ini", "--timestamp", "../x"]);
    assert!(code == Some(2), "{err}");
    assert!(listing(place.memory.path()).is_empty());
    assert!(!place.home.path().join("results").exists());
}

#[test]
fn kept_data_is_removed_by_a_cleanup_and_foreign_files_stay() {
    let place = Place::new();
    config(&place, "[mdtest-easy]\nrun = FALSE\n[mdtest-hard]\nrun = FALSE\n");
    place.expect(&["io500", "config.ini", "--stonewall", "1", "--timestamp", "kept", "--keep-files"]);
    let data = place.memory.path().join("md/kept");
    assert_eq!(listing(&data.join("ior-easy")), ["ior_file_easy.00000000"]);
    std::fs::write(data.join("ior-hard/mine"), "mine").unwrap();
    place.expect(&["io500", "config.ini", "--timestamp", "kept", "--cleanup"]);
    assert_eq!(listing(&data), ["ior-hard", "ior-hard/mine"]);
}
