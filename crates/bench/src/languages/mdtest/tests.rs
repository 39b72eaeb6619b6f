use std::path::Path;

use super::*;
use crate::workload::{Activity, Entries, EntryOperation, Item, Order, RankShift};

fn read(text: &str) -> Result<Mdtest> {
    Mdtest::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), false, false)
}

fn compiled(text: &str, ranks: u32) -> Workload {
    let tasks = read(text).unwrap().compile(Surroundings { ranks, ..Surroundings::default() }).unwrap();
    tasks.into_iter().next().unwrap().workload
}

fn names(workload: &Workload) -> Vec<&str> {
    workload.phases.iter().map(|phase| phase.name.as_str()).collect()
}

fn entries<'a>(workload: &'a Workload, name: &str) -> &'a Entries {
    let phase = workload.phases.iter().find(|phase| phase.name == name).unwrap();
    match &phase.jobs[0].activity {
        Activity::Entries(entries) => entries,
        Activity::Transfer(_) => panic!("{name} is a transfer"),
    }
}

#[test]
fn everything_is_done_when_nothing_is_chosen() {
    let all = ["tree-create", "dir-create", "dir-stat", "dir-rename", "dir-remove"];
    let files = ["file-create", "file-stat", "file-read", "file-remove", "tree-remove"];
    let both: Vec<&str> = all.into_iter().chain(files).collect();
    assert_eq!(names(&compiled("-n 10", 1)), both);
    assert_eq!(names(&compiled("-n 10 -F", 1)), [&["tree-create"][..], &files].concat());
    assert_eq!(names(&compiled("-n 10 -D", 1)), [&all[..], &["tree-remove"]].concat());
    assert_eq!(names(&compiled("-n 10 -C -F", 1)), ["tree-create", "file-create"]);
    assert_eq!(names(&compiled("-n 10 -Tr -F", 1)), ["file-stat", "file-remove", "tree-remove"]);
    let kept = |text| compiled(text, 1).files.named.unwrap().keep;
    assert!(kept("-n 10 -C") && !kept("-n 10 -C -r"), "only -r removes");
}

#[test]
fn items_are_counted_by_mdtests_rules() {
    let counts = |text: &str| {
        let tree = compiled(text, 2).files.tree;
        (tree.items, tree.directory_items, tree.trees(), tree.directories())
    };
    assert_eq!(counts("-n 10"), (10, Some(10), 1, 1));
    assert_eq!(counts("-z 2 -b 3 -I 4"), (52, Some(4), 1, 13), "mdtest 4.1: 104 for 2 tasks");
    assert_eq!(counts("-z 2 -b 3 -n 20"), (13, Some(1), 1, 13), "rounded down");
    assert_eq!(counts("-z 2 -b 2 -L -n 20"), (20, Some(5), 1, 7));
    assert_eq!(counts("-n 12 -I 4"), (12, Some(4), 3, 1), "three loops over test-dir.0-<n>");
}

#[test]
fn options_end_up_where_they_belong() {
    let workload = compiled("-n 10 -F -u -w 3901 -e=1k -y -Y -R -N 1 -G 7 -X -i 3 -p 2 -d a@b", 4);
    let (create, stat) = (entries(&workload, "file-create"), entries(&workload, "file-stat"));
    let (read, remove) = (entries(&workload, "file-read"), entries(&workload, "file-remove"));
    assert_eq!((create.write_bytes, create.fsync, create.sync_at_end), (Bytes::new(3901), true, true));
    assert_eq!((read.read_bytes, read.verify, read.order), (Bytes::kib(1), true, Order::RandomOnce));
    let shifts = [create, stat, read, remove].map(|entries| entries.rank_shift);
    assert_eq!(shifts, [RankShift::None, RankShift::By(1), RankShift::By(2), RankShift::By(3)]);
    assert!(
        workload.files.tree.per_rank && stat.order == Order::RandomOnce && remove.order == Order::Sequential
    );
    assert_eq!((workload.seed, workload.repetitions), (7, 3));
    assert_eq!(workload.more_targets, [Path::new("b")]);
    assert!(workload.phases[1].pause_before.as_secs() == 2);
    let hosts = Surroundings { ranks: 4, ranks_on_first_host: Some(2), items_left: None };
    let over_hosts = super::tests::read("-n 1 -F -N 1").unwrap().compile(hosts).unwrap();
    assert_eq!(entries(&over_hosts[0].workload, "file-stat").rank_shift, RankShift::By(2));
    assert_eq!(entries(&compiled("-n 10 -F -k", 1), "file-create").item, Item::Node);
    assert!(entries(&compiled("-n 10 -F -c", 2), "file-create").first_rank_only);
    assert_eq!(entries(&compiled("-n 10 -S", 2), "file-stat").operation, EntryOperation::Stat);
}

#[test]
fn a_deadline_is_for_the_creation_of_files_alone() {
    let workload = compiled("-n 10 -W 30 -x s", 1);
    let deadline = |name: &str| {
        let phase = workload.phases.iter().find(|phase| phase.name == name).unwrap();
        (phase.stop.time.map(|time| time.as_secs()), phase.stop.wear_out)
    };
    assert_eq!(
        (deadline("file-create"), deadline("dir-create"), deadline("file-stat")),
        ((Some(30), true), (None, false), (None, false))
    );
    let around = Surroundings { ranks: 1, items_left: Some(4), ..Surroundings::default() };
    let later = read("-n 10 -T -F -x s").unwrap().compile(around).unwrap();
    assert_eq!(later[0].workload.files.tree.items, 4);
    assert_eq!(read_status("1234\n", Path::new("s")).unwrap(), 1234);
    assert!(read_status("", Path::new("s")).is_err() && read_status("0", Path::new("s")).is_err());
}

#[test]
fn a_series_of_tasks_runs_with_each_number() {
    let series = read("-n 10 -f 1 -l 7 -s 3").unwrap();
    assert_eq!(series.task_counts(8).unwrap(), [1, 4, 7]);
    let tasks = series.compile(Surroundings { ranks: 8, ..Surroundings::default() }).unwrap();
    assert_eq!(tasks[1].workload.phases[0].ranks, Some(4));
    assert!(series.task_counts(4).is_err());
}

#[test]
fn what_cannot_work_is_named_with_a_way_out() {
    for (text, expected) in [
        ("", "-n 0"),
        ("-n 10 -I 4", "-n"),
        ("-n 1 -z 2 -b 4", "-n"),
        ("-n 10 -d a@b", "-d a@b"),
        ("-n 10 -W 3 -b 2 -z 1", "-W"),
        ("-n 10 -T -W 3", "-W"),
        ("-n 10 -x f -C", "-x"),
        ("-n 10 -w 1 -e 2", "-e"),
        ("-n 10 -S -u", "-S"),
        ("-n 10 -c -u", "-c"),
        ("-n 10 -k -w 4", "-k"),
        ("-n 10 -X -E", "-X"),
        ("-n 10 -i 0", "-i 0"),
        ("-n 10 -B 1", "-B"),
        ("-n 10 -a S3", "-a S3"),
        ("-n 10 --run-cmd-before-phase x", "--run-cmd-before-phase"),
        ("-n 10 -q", "-q"),
        ("-n ten", "`ten` of option `-n`"),
        ("-n 99999999999 -i 99999999999", "-i 99999999999"),
    ] {
        let fault = read(text).unwrap_err();
        assert!(fault.message().contains(expected), "{text}: {fault}");
        assert!(fault.hint_text().is_some(), "{text}");
    }
}

#[test]
fn what_is_done_in_another_way_is_told() {
    let told = read("-n 1 -Y -P").unwrap().deviations.join("\n");
    assert!(told.contains("-Y") && told.contains("ms/op") && told.contains("open"), "{told}");
    let paths = Mdtest::read(&["-n1".to_owned()], true, false).unwrap();
    assert!(!paths.deviations.iter().any(|text| text.contains("--full-paths")));
    assert!(
        !entries(
            &paths.compile(Surroundings { ranks: 1, ..Surroundings::default() }).unwrap()[0].workload,
            "file-stat"
        )
        .relative
    );
}

#[test]
fn renames_are_chains_and_lines_per_operation_have_the_names_of_the_table() {
    let workload = compiled("-n 10 -N 1 --savePerOpDataCSV ops", 4);
    let rename = entries(&workload, "dir-rename");
    assert!(rename.chained && rename.rank_shift == RankShift::By(1));
    let log = |workload: &Workload, name: &str| {
        workload.phases.iter().find(|phase| phase.name == name).unwrap().in_repetition(2).operation_log
    };
    assert_eq!(log(&workload, "file-create").unwrap(), "ops-File creation-{rank}.csv");
    assert_eq!(log(&workload, "tree-create"), None);
    let several = compiled("-n 10 -i 3 --savePerOpDataCSV ops", 4);
    assert_eq!(log(&several, "dir-stat").unwrap(), "ops-Directory stat-2-{rank}.csv");
    let strict = Mdtest::read(&["-n1".to_owned(), "-P".to_owned()], false, true).unwrap();
    assert!(strict.deviations.is_empty());
}

proptest::proptest! {
    #[test]
    fn no_command_line_panics(text in "(-[a-zA-Z]( ?=?[0-9a-z@]{1,4})? ){0,6}", ranks in 1u32..9) {
        if let Ok(mdtest) = read(&text) {
            let _ = mdtest.compile(Surroundings { ranks, ..Surroundings::default() });
        }
    }
}
