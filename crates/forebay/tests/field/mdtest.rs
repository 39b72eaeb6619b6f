//! `forebay mdtest`.

use std::path::Path;

use crate::{Place, listing};

/// PerfKitBenchmarker's rule: below `SUMMARY`, a line with four numbers at its end is an operation (a colon may stand between).
fn rates(out: &str) -> Vec<(String, [f64; 4])> {
    let below = out.split("SUMMARY rate").nth(1).unwrap().split("SUMMARY time").next().unwrap();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != ":").collect();
        let (label, numbers) = words.split_at(words.len().checked_sub(4)?);
        let numbers: Vec<f64> = numbers.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        Some((label.join(" "), numbers.try_into().unwrap()))
    };
    below.lines().filter_map(row).collect()
}

#[test]
fn all_phases_run_and_the_table_can_be_parsed() {
    let place = Place::new();
    let out = place.expect(&[
        "mdtest",
        "--ranks",
        "2",
        "-n",
        "50",
        "-u",
        "-i",
        "3",
        "-w=3901",
        "-e3901",
        "-P",
        "-d",
        &place.target(),
    ]);
    let rates = rates(&out);
    let labels: Vec<&str> = rates.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Directory creation",
            "Directory stat",
            "Directory rename",
            "Directory removal",
            "File creation",
            "File stat",
            "File read",
            "File removal",
            "Tree creation",
            "Tree removal",
        ]
    );
    for (label, [max, min, mean, _]) in &rates {
        assert!(*min > 0.0 && max >= mean && mean >= min, "{label}: {max} {min} {mean}");
    }
    assert!(
        out.contains("2 tasks, 100 files/directories") && out.contains("SUMMARY time (in seconds)"),
        "{out}"
    );
    assert!(out.contains("was launched with 2 total task(s) on 1 node(s)"), "{out}");
    assert!(listing(place.memory.path()).is_empty(), "{:?}", listing(place.memory.path()));
    let record = place.record();
    assert_eq!((record.tests[0].name.as_str(), record.tests[0].repetitions.len()), ("mdtest", 3));
    let read = record.tests[0].phases("file-read").next().unwrap();
    assert_eq!((read.operation_count(), read.bytes().get()), (100, 390_100));
    // What was printed can be read back like the original's.
    std::fs::write(place.home.path().join("out.txt"), &out).unwrap();
    place.expect(&["import", "out.txt"]);
    assert_eq!(place.record().imported.unwrap().tool, "mdtest");
}

#[test]
fn items_stay_for_other_processes_until_they_are_removed() {
    let place = Place::new();
    let target = place.target();
    let with = |phase: &str| {
        place.expect(&[
            "mdtest", "--ranks", "2", phase, "-n", "20", "-u", "-F", "-z", "1", "-b", "2", "-d", &target,
        ])
    };
    let out = with("-C");
    assert!(
        rates(&out).iter().any(|(label, numbers)| label == "File stat"
            && numbers.iter().all(|number| number.abs() < f64::EPSILON)),
        "{out}"
    );
    let made = listing(Path::new(&target));
    assert!(
        made.contains(&"test-dir.0-0/mdtest_tree.1.0/mdtest_tree.1.2/file.mdtest.1.17".to_owned()),
        "{made:?}"
    );
    with("-T");
    with("-E");
    assert_eq!(listing(Path::new(&target)), made);
    with("-r");
    assert!(listing(Path::new(&target)).is_empty());
    let (code, _, err) = place.forebay(&["mdtest", "-T", "-n", "20", "-F", "-d", &target]);
    assert!(code == Some(1) && err.contains("test-dir.0-0"), "{err}");
}

#[test]
fn a_status_file_tells_later_runs_how_many_items_there_are() {
    let place = Place::new();
    let (target, status) = (place.target(), place.home.path().join("items").display().to_string());
    // More items than a second is enough for, on most machines.
    let common = ["-n", "700000", "-F", "-u", "-x", &status, "-d", &target];
    let with = |phases: &[&str]| place.expect(&[&["mdtest", "--ranks", "2"], phases, &common[..]].concat());
    with(&["-C", "-W", "1"]);
    let items: u64 = std::fs::read_to_string(&status).unwrap().parse().unwrap();
    let created = place.record();
    let created = created.tests[0].phases("file-create").next().unwrap();
    assert!(created.wear_out && created.ranks.iter().all(|rank| rank.operations == items), "{items}");
    with(&["-r"]);
    assert_eq!(place.record().tests[0].phases("file-remove").next().unwrap().operation_count(), 2 * items);
    assert!(listing(Path::new(&target)).is_empty());
}

#[test]
fn shared_trees_series_and_full_paths() {
    let place = Place::new();
    let target = place.target();
    let out = place.expect(&[
        "mdtest",
        "--ranks",
        "3",
        "--full-paths",
        "-n",
        "12",
        "-N",
        "1",
        "-f1",
        "-l3",
        "-s2",
        "-R",
        "-y",
        "-Y",
        "-d",
        &target,
    ]);
    assert!(
        out.contains("1 tasks, 12 files/directories") && out.contains("3 tasks, 36 files/directories"),
        "{out}"
    );
    assert_eq!(out.matches("SUMMARY rate").count(), 2);
    let counts: Vec<u64> = place
        .record()
        .tests
        .iter()
        .map(|test| test.phases("file-stat").next().unwrap().operation_count())
        .collect();
    assert_eq!(counts, [12, 36]);
    for options in [["-S", "-F"], ["-c", "-F"], ["-k", "-F"], ["-D", "-t"]] {
        place.expect(&["mdtest", "--ranks", "2", "-n", "8", options[0], options[1], "-d", &target]);
    }
    place.expect(&[
        "mdtest",
        "--ranks",
        "2",
        "-n",
        "8",
        "-F",
        "-w",
        "64",
        "-e",
        "64",
        "-X",
        "--verify-write",
        "-N",
        "1",
        "-G",
        "7",
        "-d",
        &target,
    ]);
    assert_eq!(place.record().tests[0].phases("file-read").next().unwrap().verify_failures, 0);
    assert!(listing(place.memory.path()).is_empty());
}

/// As mdtest 4.1 does it: the first goes aside and takes the name that is left over.
#[test]
fn renames_are_a_chain_through_all_directories() {
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    let target = place.target();
    let with = |phase: &str| {
        place.expect(&["mdtest", phase, "-n", "6", "-D", "-z", "1", "-b", "2", "-u", "-d", &target]);
    };
    with("-C");
    let path = |item: u64| {
        let below = ["", "mdtest_tree.0.1/", "mdtest_tree.0.2/"][item as usize / 2];
        Path::new(&target).join(format!("test-dir.0-0/mdtest_tree.0.0/{below}dir.mdtest.0.{item}"))
    };
    let inodes = || (0..6).map(|item| path(item).metadata().unwrap().ino()).collect::<Vec<_>>();
    let made = inodes();
    with("-U");
    assert_eq!(inodes(), [made[1], made[2], made[3], made[4], made[0], made[5]]);
    let renamed = place.record().tests[0].phases("dir-rename").next().unwrap().operation_count();
    assert_eq!(renamed, 6);
    with("-r");
    assert!(listing(Path::new(&target)).is_empty());
}

#[test]
fn a_line_for_each_operation_goes_to_files_of_the_ranks() {
    let place = Place::new();
    place.expect(&[
        "mdtest",
        "--ranks",
        "2",
        "-n",
        "7",
        "-F",
        "--savePerOpDataCSV",
        "ops",
        "-d",
        &place.target(),
    ]);
    for name in ["ops-File creation-00000.csv", "ops-File stat-00001.csv", "ops-File removal-00000.csv"] {
        let text = std::fs::read_to_string(place.home.path().join(name)).unwrap();
        assert_eq!((text.lines().next(), text.lines().count()), (Some("time,runtime,tp"), 8), "{name}");
    }
}

/// mdtest calls the seconds of a phase ms/op.
#[test]
fn what_mdtest_prints_wrong_is_there_when_asked_for() {
    let place = Place::new();
    let out = place.expect(&["mdtest", "--strict-mdtest", "-n", "3", "-P", "-d", &place.target()]);
    assert!(out.contains("SUMMARY time (in ms/op): (of 1 iterations)"), "{out}");
}

#[test]
fn wrong_command_lines_make_nothing() {
    let place = Place::new();
    for (words, expected) in [
        (["-n", "10", "-B", "1"], "-B"),
        (["-n", "10", "-I", "3"], "multiple of -I"),
        (["-n", "1", "-z", "9"], "fewer items"),
    ] {
        let (code, out, err) = place.forebay(&[&["mdtest"], &words[..], &["-d", &place.target()]].concat());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(expected) && err.contains("hint:"), "{err}");
    }
    assert!(listing(place.memory.path()).is_empty());
}
