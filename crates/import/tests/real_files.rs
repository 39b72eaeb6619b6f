//! What real IOR 4.1, mdtest 4.1, fio 3.33 and elbencho 3.1 have printed, and files in the documented forms of
//! rhel_iotest, vdbench and IO500, as run records.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::{Path, PathBuf};

use import::{Tool, read};
use record::{OperationKind, Outcome, PhaseResult, RunRecord, Validity};
use units::Bytes;

fn file(name: &str) -> (PathBuf, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let bytes = std::fs::read(&path).unwrap();
    (PathBuf::from(name), bytes)
}

fn imported(name: &str) -> RunRecord {
    let (path, bytes) = file(name);
    let record = read(&path, &bytes, None).unwrap();
    assert_eq!(
        record.validity().max(Validity::ValidWithNotes),
        record.validity(),
        "nothing was checked in {name}"
    );
    // What was read survives the store.
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    record
}

fn rates(record: &RunRecord, phase: &str) -> Vec<f64> {
    record.tests[0].phases(phase).map(|phase| phase.bandwidth().as_mib()).collect()
}

fn close(seen: f64, expected: f64) {
    assert!((seen / expected - 1.0).abs() < 1e-4, "{seen} is not {expected}");
}

fn all_close(seen: &[f64], expected: &[f64]) {
    assert_eq!(seen.len(), expected.len(), "{seen:?}");
    seen.iter().zip(expected).for_each(|(seen, expected)| close(*seen, *expected));
}

fn phase<'a>(record: &'a RunRecord, name: &'a str) -> &'a PhaseResult {
    record.tests.iter().find_map(|test| test.phases(name).next()).unwrap()
}

#[test]
fn the_file_its_hash_and_the_tool_are_named() {
    let record = imported("ior_np4_fpp_v.txt");
    let source = record.imported.as_ref().unwrap();
    assert_eq!((source.tool.as_str(), source.tool_version.as_deref()), ("IOR", Some("4.1.0+dev")));
    assert_eq!((source.format.as_str(), source.file.to_str()), ("ior-text", Some("ior_np4_fpp_v.txt")));
    assert_eq!(source.sha256.len(), 64);
    assert_eq!(
        (record.program.as_str(), record.started_at.as_str()),
        ("IOR 4.1.0+dev", "2026-11-21T21:22:38Z")
    );
    assert_eq!(record.environment.hostname, "vm");
    assert_eq!(record.environment.cpu.pcores, 0, "IOR says nothing about cores");
    let empty = read(Path::new("x"), b"", None).unwrap_err();
    assert_eq!(empty.kind(), fault::Kind::Unsupported);
}

#[test]
fn a_known_hash() {
    let (path, mut bytes) = file("ior_csv.txt");
    bytes.truncate(0);
    bytes.extend_from_slice(b"access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\nread,1.0,4.0,0.1,1024.0,256.0,0,1,0,1.0,1,0\n");
    let record = read(&path, &bytes, None).unwrap();
    // printf '...' | sha256sum
    assert_eq!(
        record.imported.unwrap().sha256,
        "70305ec6a2bada3f1879d95dbedacfef9c51467e7e0518b02ab06dcf164abc16"
    );
}

#[test]
fn ior_text_has_every_repetition() {
    let record = imported("ior_np4_fpp_v.txt");
    all_close(&rates(&record, "write"), &[2484.50, 980.69, 798.44]);
    all_close(&rates(&record, "read"), &[3924.0, 1441.19, 1462.13]);
    let write = phase(&record, "write");
    assert_eq!((write.bytes(), write.operation_count(), write.rank_count()), (Bytes::mib(16), 256, 4));
    assert_eq!(
        (write.transfer_bytes, write.main.as_slice()),
        (Some(Bytes::kib(64)), [OperationKind::Write].as_slice())
    );
    assert!(
        write.ranks.is_empty() && write.of(OperationKind::Write).unwrap().latency.count() == 0,
        "not invented"
    );
    assert_eq!(record.tests[0].workload["ordering inter file"], "constant task offset");
}

#[test]
fn a_stonewalled_ior_moved_what_it_says() {
    let record = imported("ior_np2_stonewall.txt");
    all_close(&rates(&record, "write"), &[1690.17]);
    let write = phase(&record, "write");
    assert_eq!(write.bytes(), Bytes::gib(1));
    assert!(write.wear_out);
}

#[test]
fn ior_json_and_text_say_the_same() {
    let record = imported("ior_np4.json");
    all_close(&rates(&record, "write"), &[1888.7944, 1218.5881]);
    all_close(&rates(&record, "read"), &[1925.8147, 1840.9696]);
    assert_eq!(phase(&record, "read").bytes(), Bytes::mib(16));
    assert!(phase(&imported("ior_seedB.json"), "write").engine.direct);
    all_close(&rates(&imported("ior_seedB.json"), "write"), &[905.4083, 847.7623, 155.3532]);
    assert_eq!(imported("ior_seedA.json").tests[0].repetitions.len(), 2);
}

#[test]
fn ior_csv_has_no_segments_and_still_whole_blocks() {
    let record = imported("ior_csv.txt");
    all_close(&rates(&record, "read"), &[4675.9242, 3002.3651]);
    assert_eq!(phase(&record, "read").bytes(), Bytes::mib(1));
}

#[test]
fn mdtest_gives_up_to_three_repetitions() {
    let record = imported("mdtest_np1.txt");
    let rates: Vec<f64> =
        record.tests[0].phases("file-create").map(|phase| phase.last_done.iops().get()).collect();
    all_close(&rates, &[165_864.716, 153_192.490, 148_510.366]);
    assert_eq!(phase(&record, "file-stat").operation_count(), 2000);
    assert_eq!(phase(&record, "file-remove").main, [OperationKind::Remove]);
    let two = imported("mdtest_np4_P.txt");
    assert_eq!(
        (two.tests.len(), two.tests[0].repetitions.len()),
        (1, 2),
        "the table of times is not another test"
    );
    assert_eq!(phase(&two, "dir-rename").rank_count(), 4);
    close(phase(&imported("mdtest_hard.txt"), "file-read").last_done.iops().get(), 157_653.931);
    close(phase(&imported("mdtest_tree.txt"), "tree-create").last_done.iops().get(), 224_386.634);
}

#[test]
fn mdtest_of_old_versions_has_colons() {
    let record = imported("mdtest_colon.txt");
    close(phase(&record, "file-create").last_done.iops().get(), 5500.0);
    assert_eq!(record.tests[0].repetitions.len(), 1, "five repetitions don't follow from three figures");
    assert!(record.tests[0].checks.iter().any(|check| check.rule == "imported-repetitions"));
    assert_eq!(record.program, "mdtest 1.9.3");
}

#[test]
fn fio_keeps_its_percentiles() {
    let record = imported("fio_json.txt");
    let job = phase(&record, "j");
    assert_eq!(job.main, [OperationKind::Read, OperationKind::Write]);
    let read = job.of(OperationKind::Read).unwrap();
    assert_eq!((read.operations, read.bytes), (2824, Bytes::new(11_567_104)));
    assert_eq!(read.latency.count(), 2824);
    for (percent, stated) in [(50.0, 1752.0), (99.0, 1_011_712.0), (99.9, 3_653_632.0)] {
        let seen = read.latency.percentile(percent).as_nanos() as f64;
        assert!((seen / stated - 1.0).abs() <= 0.01, "p{percent} {seen} is not {stated}");
    }
    assert_eq!(job.transfer_bytes, Some(Bytes::kib(4)));
    assert_eq!(record.program, "fio 3.33");
}

#[test]
fn elbencho_has_first_and_last_done() {
    for name in ["elbencho_rw.csv", "elbencho_rw.txt"] {
        let record = imported(name);
        let write = phase(&record, "write");
        close(write.bandwidth().as_mib(), 1209.0);
        assert_eq!(write.bytes(), Bytes::mib(16));
        assert!(write.first_done.elapsed_ns < write.last_done.elapsed_ns);
        assert_eq!(write.of(OperationKind::Create).unwrap().operations, 16);
        close(phase(&record, "mkdirs").last_done.iops().get(), 7968.0);
    }
    assert_eq!(phase(&imported("elbencho_rw.csv"), "read").operation_count(), 128);
    assert_eq!(phase(&imported("elbencho_rw.csv"), "read").rank_count(), 2);
}

#[test]
fn iotest_gives_its_own_rate_per_core() {
    let record = imported("rhel_iotest_node07_261121-2130.results");
    let test = &record.tests[0];
    assert_eq!(
        (test.pcores, test.test.as_str(), record.environment.hostname.as_str()),
        (8, "iotest", "node07")
    );
    close(phase(&record, "read").rate_per_rank().as_mib(), 123.45);
    close(phase(&record, "write").rate_per_rank().as_mib(), 98.76);
}

#[test]
fn vdbench_leaves_the_warm_up_out() {
    let record = imported("vdbench_summary.txt");
    let mixed = phase(&record, "m rdpct=70 seekpct=100 xfersize=4k");
    close(mixed.last_done.iops().get(), 10_200.0);
    assert_eq!(mixed.last_done.elapsed_ns, 6_000_000_000, "three intervals of two seconds");
    close(mixed.of(OperationKind::Read).unwrap().operations as f64, 0.7 * 61_200.0);
    assert_eq!(mixed.series.len(), 3);
    close(mixed.series[1].iops().get(), 10_400.0);
    close(phase(&record, "m rdpct=0 seekpct=0 xfersize=128k").bandwidth().as_mib(), 150.0);
    assert_eq!(record.program, "vdbench 50407");
    close(phase(&imported("vdbench_old.txt"), "rd1").last_done.iops().get(), 8554.0);
}

#[test]
fn vdbench_flatfiles_tell_points_of_a_run_apart() {
    let record = imported("vdbench_flatfile.html");
    assert_eq!(record.tests[0].phase_names(), ["rd1 rdpct=100", "rd1 rdpct=0"]);
    let read = phase(&record, "rd1 rdpct=100");
    close(read.last_done.iops().get(), 1100.0);
    assert_eq!((read.last_done.elapsed_ns, read.rank_count()), (2_000_000_000, 8));
}

#[test]
fn vdbench_file_systems_have_operations_of_all_kinds() {
    let record = imported("vdbench_files.txt");
    let phase = phase(&record, "rd1");
    assert_eq!(phase.of(OperationKind::Open).unwrap().operations, 150);
    assert_eq!(phase.of(OperationKind::Read).unwrap().operations, 1300);
    assert!(phase.of(OperationKind::MakeDirectory).is_none());
}

#[test]
fn io500_scores_follow_from_the_phases() {
    let record = imported("io500_summary.txt");
    let test = &record.tests[0];
    assert!(
        test.checks.iter().any(|check| check.rule == "io500-score" && check.outcome == Outcome::Pass),
        "{:?}",
        test.checks
    );
    close(phase(&record, "ior-easy-write").bandwidth().as_mib(), 4096.0);
    close(phase(&record, "find").last_done.iops().get(), 1e6);
    assert_eq!(record.validity(), Validity::NotValid, "IO500 itself says so");
    assert_eq!(phase(&record, "ior-easy-read").validity(), Validity::ValidWithNotes);
}

#[test]
fn io500_sections_have_dates_and_reasons() {
    let record = imported("io500_result.txt");
    assert_eq!(record.started_at, "2024-01-06T10:23:49Z");
    assert_eq!(phase(&record, "find").started_ns, 61_000_000_000);
    assert_eq!(phase(&record, "find").validity(), Validity::NotValid);
    assert!(record.tests[0].checks.iter().any(|check| check.evidence.contains("no section ior-hard-write")));
}

#[test]
fn every_broken_file_names_line_and_expectation() {
    for (name, from, to, expected) in [
        (
            "ior_np1_default.txt",
            "4544       18704",
            "oops       18704",
            "line 36: expected a number for bw(MiB/s), found `oops`",
        ),
        ("ior_np1_default.txt", "0.000220   0", "0.000220", "expected 11 columns"),
        ("ior_np4.json", "\"bwMiB\": 1888.7944", "\"bwMiB\": WARNING: file exists", "expected valid JSON"),
        (
            "ior_np4.json",
            "\"bwMiB\": 1888.7944",
            "\"bwMiB\": \"inf\"",
            "expected a number `bwMiB` in result 0 of test 0",
        ),
        ("ior_csv.txt", "write,1776.4947", "write,-1", "expected a number for bw(MiB/s)"),
        (
            "mdtest_np1.txt",
            "148510.366     155857.360",
            "148510.366",
            "expected four numbers after `File creation`",
        ),
        ("mdtest_np1.txt", "(of 3 iterations)", "(of x iterations)", "expected `(of N iterations)`"),
        (
            "elbencho_rw.csv",
            "WRITE,11,13,",
            "WRITE,eleven,13,",
            "expected a number in column `time ms [first]`",
        ),
        ("elbencho_rw.txt", "11ms        13ms", "11ms", "expected two values"),
        ("fio_json.txt", "\"jobname\" : \"j\",", "", "expected the key `jobname`"),
        ("io500_summary.txt", "4.000000 GiB/s", "4.000000 parsecs", "expected `[RESULT] PHASE N"),
        (
            "io500_result.txt",
            "t_delta         = 30.5000",
            "t_delta = soon",
            "line 12: expected a number for `t_delta`, found `soon`",
        ),
        (
            "rhel_iotest_node07_261121-2130.results",
            "123.45 mega",
            "fast mega",
            "line 13: expected a rate in megabytes/second",
        ),
        ("rhel_iotest_node07_261121-2130.results", "iterations:   8", "", "expected `iterations:   N`"),
        ("vdbench_summary.txt", "10400.0    40.62", "10400.0", "line 11: expected 13 values"),
        ("vdbench_flatfile.html", "max 1200.0", "max NaN", "expected a number in column `rate`"),
    ] {
        let (path, bytes) = file(name);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        let fault = read(&path, text.replacen(from, to, 1).as_bytes(), None).unwrap_err();
        assert!(fault.message().contains(expected) && fault.message().contains(name), "{name}: {fault}");
        assert!(fault.hint_text().is_some());
    }
}

#[test]
fn a_file_of_another_tool_than_said_is_refused() {
    let (path, bytes) = file("mdtest_np1.txt");
    let fault = read(&path, &bytes, Some(Tool::Ior)).unwrap_err();
    assert!(fault.message().contains("access bw(MiB/s)"), "{fault}");
}
