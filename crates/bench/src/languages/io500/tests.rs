use std::path::Path;
use std::time::Duration;

use units::Bytes;

use super::*;
use crate::workload::{Activity, Instant, Layout, RankShift};

fn room() -> Room {
    Room { bytes: Bytes::gib(100), inodes: Some(1 << 22) }
}

fn cast() -> Cast<'static> {
    Cast { ranks: 4, on_first_host: Some(2), data: Path::new("/d/now"), signature: 42 }
}

fn config(text: &str) -> Config {
    Config::read(text, "config.ini").unwrap()
}

fn judged(name: &'static str, score: f64) -> Judged {
    Judged { name, score, until_stonewall: None, seconds: 300.5, invalid: Vec::new(), found: None }
}

#[test]
fn defaults_are_io500s() {
    let config = config("");
    assert_eq!(
        (config.stonewall(), config.asked_stonewall()),
        (Duration::from_mins(5), Duration::from_mins(5))
    );
    assert_eq!(config.ior_easy().unwrap(), (Bytes::mib(2), Bytes::mib(9_920_000), true, false));
    assert!(PHASES.iter().all(|phase| config.runs(phase)));
    assert_eq!(Config::read(&list(), "list").unwrap(), config, "the list is a file that says the defaults");
    assert_eq!(Config::read(&config.text_of_all(), "all").unwrap(), config);
}

#[test]
fn switches_hold_for_a_kind_and_for_a_phase() {
    let config = config("[ior-hard]\nrun = FALSE\n[find]\nrun=no\n[mdtest-easy-stat]\nrun = false\n# rest\n");
    let off: Vec<&str> = PHASES.into_iter().filter(|phase| !config.runs(phase)).collect();
    assert_eq!(off, ["ior-hard-write", "find", "mdtest-easy-stat", "ior-hard-read"]);
}

#[test]
fn wrong_files_are_named_with_line_and_way_out() {
    for (text, expected) in [
        ("[ior-easy]\nblockSzie = 4m", "line 2: [ior-easy] has no key `blockSzie`"),
        ("[ior-esy]", "line 1: there is no section [ior-esy]"),
        ("[find-easy]\nexternal-script = x", "`external-script` is not supported"),
        ("[global]\napi = POSIX --posix.odirect", "ior-hard-write, whose calls of 47008 bytes"),
        ("nonsense", "line 1: expected `key = value`"),
        ("[global]\napi = S3", "only POSIX"),
        ("[find]\nexternal-script = ./x", "`external-script` is not supported"),
        ("[ior-easy]\nblockSize = many", "`blockSize = many` is no size"),
        ("[mdtest-easy]\nn = 0", "`n = 0` leaves nothing to do"),
        ("[debug]\nstonewall-time = soon", "no whole number"),
        ("[find]\nnproc = 0", "`nproc = 0`"),
        ("[ior-hard-write]\ncollective = TRUE\n[ior-hard]\ncollective=TRUE", "`collective` is not supported"),
    ] {
        let fault = Config::read(text, "config.ini").unwrap_err();
        assert!(fault.message().contains(expected), "{fault}");
        assert!(fault.hint_text().is_some(), "{fault}");
    }
    let near = Config::read("[ior-easy]\nblockSzie = 4m", "c").unwrap_err();
    assert!(near.hint_text().unwrap().contains("blockSize"), "{near:?}");
}

#[test]
fn phases_are_workloads_that_can_run() {
    let config = config("[debug]\nstonewall-time = 1\n[find]\nnproc = 3");
    let timestamp = Some(Instant { seconds: 5, nanoseconds: 7 });
    let done = Progress { easy_transfers: 3, hard_transfers: 5, easy_items: 7, hard_items: 9, timestamp };
    let phases = phases(true);
    for progress in [Progress::default(), done] {
        for phase in &phases {
            for step in config.scene(cast(), progress, room()).steps(phase).unwrap() {
                step.workload.check().unwrap();
                assert_eq!(step.workload.ranks, 4);
                assert!(step.workload.phases.iter().any(|one| one.name == *phase), "{phase}");
            }
        }
    }
    let of =
        |progress, phase| config.scene(cast(), progress, room()).steps(phase).unwrap().remove(0).workload;
    let easy = of(Progress::default(), "ior-easy-write");
    assert!(
        easy.files.total_size(4) <= Bytes::gib(45),
        "the disk is not filled: {}",
        easy.files.total_size(4)
    );
    let read = of(done, "ior-hard-read");
    assert_eq!((read.files.layout, read.files.segments), (Layout::Shared, 5));
    let Activity::Transfer(transfer) = &read.phases[0].jobs[0].activity else { panic!() };
    assert!(transfer.verify && transfer.rank_shift == RankShift::By(2));
    assert_eq!(of(done, "mdtest-hard-read").files.tree.items, 9);
    let hard = of(Progress::default(), "mdtest-hard-write");
    let names: Vec<&str> = hard.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["mdtest-hard-write tree-create", "mdtest-hard-write"]);
    let Activity::Entries(find) = &of(done, "find").phases[0].jobs[0].activity.clone() else { panic!() };
    assert_eq!(of(done, "find").phases[0].jobs[0].ranks, Some(3));
    let sought = find.looking_for.as_ref().unwrap();
    assert_eq!(
        (sought.name.as_deref(), sought.size, sought.newer_than),
        (Some(SOUGHT), Some(Bytes::new(3901)), timestamp)
    );
}

/// The table of IO500's phases: what each gives to IOR and mdtest.
#[test]
fn command_lines_are_io500s_and_api_means_what_it_means_there() {
    let text = "[ior-easy]\nAPI = POSIX --posix.odirect\n[mdtest-hard-read]\nAPI=POSIX\n[global]\ndataPacketType=random";
    let config = config(text);
    let done =
        Progress { easy_transfers: 3, hard_transfers: 5, easy_items: 7, hard_items: 9, timestamp: None };
    let of = |progress: Progress, phase: &'static str| {
        config.scene(cast(), progress, room()).steps(phase).unwrap().remove(0)
    };
    let words = |phase| of(done, phase).command.join(" ");
    assert_eq!(
        words("ior-easy-read"),
        "ior --dataPacketType=random -C -Q 1 -g -G 42 -k -e -o /d/now/ior-easy/ior_file_easy -t 2097152 -b 6291456 -F -r -R -a POSIX --posix.odirect"
    );
    assert_eq!(
        words("mdtest-hard-read"),
        "mdtest --dataPacketType=random -n 9 -t -w 3901 -e 3901 -F -P -G 42 -N 1 -d /d/now/mdtest-hard -E -X -a POSIX"
    );
    assert_eq!(
        words("ior-rnd4K-easy-read"),
        "ior --dataPacketType=random -C -Q 2 -g -G 42 -k -e -o /d/now/ior-easy/ior_file_easy -r -z -z -t 4096 -b 4096 -s 10000000 -F -D 300 -O stoneWallingWearOut=1 -a POSIX --posix.odirect"
    );
    let direct = |phase| match &of(done, phase).workload.phases[0].jobs[0].activity {
        Activity::Transfer(transfer) => transfer.direct,
        Activity::Entries(_) => panic!(),
    };
    assert!(direct("ior-easy-read") && direct("ior-rnd4K-easy-read") && !direct("ior-hard-read"));
    let create = of(Progress::default(), "mdtest-easy-write");
    assert!(
        create.command.ends_with(&["-C", "-Y", "-a", "POSIX"].map(str::to_owned)),
        "{:?}",
        create.command
    );
    assert!(create.workload.phases[1].stop.wear_out_cap.is_some() && create.workload.files.tree.per_rank);
}

#[test]
fn the_extended_mode_has_two_finds_more() {
    let standard = phases(false);
    assert_eq!(standard, PHASES);
    let extended = phases(true);
    let place = |phase| extended.iter().position(|one| *one == phase).unwrap();
    assert_eq!((place("find-easy"), place("find-hard")), (place("timestamp") + 1, place("find") + 1));
    let judged: Vec<Judged> =
        extended.iter().map(|name| judged(name, if name.starts_with("ior") { 4.0 } else { 9.0 })).collect();
    let scores = [false, true].map(|extended| Scores::of(&judged, &config(""), extended));
    assert!(scores.iter().all(|scores| scores.invalid.is_empty() && (scores.total - 6.0).abs() < 1e-9));
    assert!(score_lines(&scores[1]).starts_with("[SCOREX] Bandwidth"));
    assert!(!Scores::of(&judged[..6], &config(""), true).invalid.is_empty());
    assert!(
        config("[mdworkbench]\nrun = FALSE").without_md_workbench() && !config("").without_md_workbench()
    );
}

#[test]
fn lines_are_io500s_to_the_letter() {
    let invalid =
        Judged { invalid: vec!["too short".into()], seconds: 0.027, ..judged("ior-easy-write", 0.186_62) };
    assert_eq!(
        result_line(&invalid),
        "ERROR INVALID too short\n[RESULT]       ior-easy-write        0.186620 GiB/s : time 0.027 seconds [INVALID]"
    );
    let valid = Judged { seconds: 1.121, ..judged("mdtest-easy-write", 103.300_821) };
    assert_eq!(
        result_line(&valid),
        "[RESULT]    mdtest-easy-write      103.300821 kIOPS : time 1.121 seconds"
    );
    let mark = Judged { seconds: 0.0, ..judged("timestamp", 0.0) };
    assert_eq!(
        result_line(&mark),
        "[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds"
    );
}

#[test]
fn a_score_needs_all_phases_and_the_whole_time() {
    let phases: Vec<Judged> = PHASES
        .into_iter()
        .map(|name| judged(name, if name.starts_with("ior") { 4.0 } else { 9.0 }))
        .collect();
    let whole = Scores::of(&phases, &config(""), false);
    assert!(whole.invalid.is_empty(), "{whole:?}");
    assert!((whole.total - 6.0).abs() < 1e-9);
    assert_eq!(
        score_lines(&whole),
        "[SCORE ] Bandwidth 4.000000 GiB/s : IOPS 9.000000 kiops : TOTAL 6.000000"
    );
    let short = Scores::of(&phases, &config("[debug]\nstonewall-time = 30"), false);
    assert_eq!(short.invalid, ["stonewall-time != 300"]);
    assert!(
        Scores::of(&phases, &config("[global]\nscc = TRUE"), false).invalid.is_empty(),
        "30 s are the rule there"
    );
    assert!(!Scores::of(&phases[1..], &config(""), false).invalid.is_empty());
    let text = result_text(
        "forebay 0.1.0",
        "results/x",
        &[Timed {
            judged: &phases[0],
            start: "2026-11-21 21:22:38",
            end: "2026-11-21 21:27:38",
            command: "ior -w",
        }],
        std::slice::from_ref(&whole),
    );
    assert!(
        text.contains("[ior-easy-write]\nt_start         = 2026-11-21 21:22:38\nexe             = ior -w\n")
            && text.contains("this hash is Forebay's own")
            && text.contains("SCORE           = 6.000000")
    );
}

proptest::proptest! {
    #[test]
    fn no_file_panics(text in "(\\[[a-zA-Z-]{0,12}\\]\n|[a-zA-Z-]{0,10} ?= ?[0-9a-z]{0,6}\n|\\PC{0,10}\n){0,8}") {
        let _ = Config::read(&text, "c");
    }
}
