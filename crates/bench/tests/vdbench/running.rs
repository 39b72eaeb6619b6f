//! Parameter files that really run, and what the report says of them.

use std::path::Path;

use bench::languages::vdbench::{Overrides, Placing, Script, flat_file, intervals, read};
use bench::{Options, Session, TestPlan};
use record::{Event, RunRecord};

fn run(dir: &Path, text: &str, verify: bool) -> (Script, RunRecord) {
    run_placed(dir, text, verify, Placing::default())
}

fn run_placed(dir: &Path, text: &str, verify: bool, placing: Placing) -> (Script, RunRecord) {
    let overrides = Overrides { verify, ..Overrides::default() };
    let text = text.replace("DIR", &dir.display().to_string());
    let script =
        read(&dir.join("file"), text, &overrides).unwrap_or_else(|error| panic!("{:?}", error.problems));
    let plans: Vec<TestPlan> = script
        .tests
        .iter()
        .map(|test| {
            let (target, workload) = test.placed(placing).unwrap();
            TestPlan {
                name: "vdbench".to_owned(),
                test: "vdbench".to_owned(),
                target,
                workload,
                pcores: 1,
                equivalence: None,
                expect_file_system: None,
            }
        })
        .collect();
    let mut listener = |_: &Event| {};
    let mut save = |_: &RunRecord| Ok(());
    let session = Session::new(vec!["test".to_owned()], Options::default(), &mut listener, &mut save);
    let (record, outcome) = session.run(&plans);
    outcome.unwrap();
    (script, record)
}

/// Rows of the flat file as (column, value).
fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('*'));
    let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    lines
        .map(|line| {
            names.iter().map(ToString::to_string).zip(line.split_whitespace().map(str::to_owned)).collect()
        })
        .collect()
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    row.iter().find(|(own, _)| own == name).unwrap().1.parse().unwrap()
}

#[test]
fn loops_run_and_the_averages_are_those_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sd=sd1,lun=DIR/f,size=2m,threads=1\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max,elapsed=2,interval=1,forrdpct=(100,0),forxfersize=(4k,64k)\n";
    let (script, record) = run(dir.path(), text, true);
    let phases = &record.tests[0].repetitions[0].phases;
    assert_eq!(phases.len(), 5);
    assert!(phases.iter().all(|phase| phase.verify_failures == 0));
    assert!(phases[1].verified_bytes.get() > 0, "-v compares what is read");

    let flat = flat_file(&record, &script.tests);
    let averages: Vec<_> = rows(&flat)
        .into_iter()
        .filter(|row| row.iter().any(|(_, value)| value.starts_with("avg_2-")))
        .collect();
    assert_eq!(averages.len(), 4, "{flat}");
    for (row, phase) in averages.iter().zip(&phases[1..]) {
        let counted: Vec<_> = phase
            .series
            .iter()
            .filter(|own| (1_000_000_000..2_000_000_000).contains(&own.start_ns))
            .collect();
        let operations: u64 = counted.iter().flat_map(|own| &own.operations).map(|own| own.operations).sum();
        let seconds: f64 = counted.iter().map(|own| own.length_ns as f64 / 1e9).sum();
        let rate = operations as f64 / seconds;
        assert!((number(row, "rate") - rate).abs() <= 0.001 * rate + 0.1, "{row:?} is not {rate}");
        let bytes = number(row, "bytes/io");
        assert!(
            (number(row, "MB/sec") - rate * bytes / 1_048_576.0).abs()
                < 0.01 * rate * bytes / 1_048_576.0 + 0.01
        );
    }

    let text = intervals(&record, &script.tests);
    assert_eq!(
        text.matches("Starting RD=r; I/O rate: Uncontrolled MAX; elapsed=2; For loops: rdpct=").count(),
        4
    );
    assert!(text.contains("avg_2-2") && text.contains("MB/sec   bytes   read"), "{text}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn two_loads_on_two_files_run_beside_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sd=sd,lun=DIR/f,size=1m,count=(1,2),threads=2\nwd=wd1,sd=sd*,rdpct=100,skew=75\nwd=wd2,sd=sd2,rdpct=0\nrd=r,wd=wd*,iorate=200,elapsed=2,interval=1,distribution=deterministic\n";
    let (_, record) = run(dir.path(), text, true);
    let phase = &record.tests[0].repetitions[0].phases[1];
    assert_eq!(phase.ranks.len(), 3);
    let (reads, all) = (phase.operations[0].operations as f64, phase.operation_count() as f64);
    assert!((reads / all - 0.75).abs() < 0.05, "{reads} of {all} are reads");
    assert_eq!(phase.verify_failures, 0, "whoever writes, the data are the file's own");
}

#[test]
fn files_of_one_run_have_sizes_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sd=a,lun=DIR/a,size=1m,threads=1\nsd=b,lun=DIR/b,size=3m,threads=2,range=(50,100)\nwd=w,sd=*,rdpct=50,xfersize=8k\n\
        rd=r,wd=w,iorate=max,elapsed=1,interval=1\n";
    let (_, record) = run_placed(dir.path(), text, true, Placing { keep: true, ..Placing::default() });
    let phases = &record.tests[0].repetitions[0].phases;
    assert_eq!(phases[0].bytes().get(), 4 << 20, "written first: both whole, and no more");
    assert_eq!((phases[1].error_count, phases[1].verify_failures), (0, 0), "{:?}", phases[1].errors);
    assert!(phases[1].ranks.iter().all(|rank| rank.operations > 0));
    let size = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
    assert_eq!((size("a"), size("b")), (1 << 20, 3 << 20), "nothing was written behind their ends");
}

#[test]
fn loads_work_on_trees_of_their_own_and_on_several() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    [&one, &two].into_iter().for_each(|anchor| std::fs::create_dir(anchor).unwrap());
    let text = "fsd=default,depth=1,width=2,files=10,size=4k\nfsd=fsd1,anchor=DIR/one\nfsd=fsd2,anchor=DIR/two\n\
        fwd=default,xfersize=4k,threads=2\nfwd=read,fsd=fsd1,operation=read\nfwd=write,fsd=(fsd1,fsd2),operation=write\n\
        rd=r,fwd=(read,write),fwdrate=max,format=yes,elapsed=1,interval=1\n\
        rd=all,fwd=write,fwdrate=max,operation=delete,elapsed=5,interval=1,format=no\n";
    let (script, record) = run(dir.path(), text, true);
    let phases = &record.tests[0].repetitions[0].phases;
    let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases[0].operation_count(), 6, "three directories in each of two trees: {names:?}");
    assert_eq!(phases[1].operation_count(), 40, "twenty files in each of two trees");
    let jobs = &script.tests[0].workload.phases[2].jobs;
    let targets = |job: &bench::workload::Job| match &job.activity {
        bench::workload::Activity::Entries(entries) => entries.targets.clone(),
        bench::workload::Activity::Transfer(_) => panic!("a transfer"),
    };
    assert_eq!(jobs.iter().map(targets).collect::<Vec<_>>(), [vec![0], vec![0], vec![1]]);
    assert!(phases.iter().all(|phase| phase.error_count == 0 && phase.verify_failures == 0), "{names:?}");
    let left = |anchor: &Path| std::fs::read_dir(anchor).unwrap().count();
    assert_eq!((left(&one), left(&two)), (0, 0));
}

#[test]
fn fewer_threads_than_made_the_files_work_on_all_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let text = "fsd=f,anchor=DIR,depth=1,width=1,files=40,size=4k\nfwd=w,fsd=f,operation=delete,threads=2\n\
        rd=r,fwd=w,fwdrate=max,format=yes,elapsed=20,interval=1\n";
    let (_, record) = run(dir.path(), text, false);
    let phases = &record.tests[0].repetitions[0].phases;
    assert_eq!(phases[1].ranks.len(), 8, "the format has up to eight threads");
    assert_eq!(phases[2].operation_count(), 40, "all files are deleted");
}

#[test]
fn reads_and_writes_of_a_tree_keep_their_parts() {
    let dir = tempfile::tempdir().unwrap();
    let text = "fsd=f,anchor=DIR,depth=1,width=2,files=50,size=8k\nfwd=w,fsd=f,rdpct=75,threads=4,xfersize=4k,fileio=random,fileselect=random\n\
        rd=r,fwd=w,fwdrate=max,format=yes,elapsed=2,interval=1\n";
    let (_, record) = run(dir.path(), text, true);
    let phase = record.tests[0].repetitions[0].phases.last().unwrap();
    let count = |kind| phase.of(kind).unwrap().operations as f64;
    let (reads, writes) = (count(record::OperationKind::ReadFile), count(record::OperationKind::Write));
    assert!((reads / (reads + writes) - 0.75).abs() < 0.05, "{reads} reads and {writes} writes");
    assert_eq!((phase.error_count, phase.verify_failures), (0, 0), "{:?}", phase.errors);
}

#[test]
fn a_curve_ends_where_it_is_too_slow() {
    let dir = tempfile::tempdir().unwrap();
    // No I/O takes less than nothing: after the first share, the others are left out.
    let text = "sd=sd1,lun=DIR/f,size=1m,threads=1\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=curve,curve=(10,50,90),stopcurve=0.000001,elapsed=1,interval=1\n";
    let (_, record) = run(dir.path(), text, false);
    let names: Vec<&str> = record.tests[0].repetitions[0].phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["SD_format", "r iorate=max", "r iorate=10%"]);
}

#[test]
fn a_tree_is_made_used_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "fsd=f,anchor=DIR,depth=2,width=2,files=5,sizes=(4k,50,8k,50)\nfwd=w,fsd=f,threads=2,xfersize=4k\nrd=r,fwd=w,fwdrate=max,elapsed=1,interval=1,foroperations=(mkdir,create,read,write,getattr,open,delete,rmdir)\n";
    let (script, record) = run(dir.path(), text, true);
    let phases = &record.tests[0].repetitions[0].phases;
    let counts: Vec<u64> = phases.iter().map(record::PhaseResult::operation_count).collect();
    assert_eq!(phases.len(), 8);
    assert_eq!((counts[1], counts[6]), (20, 20), "each file is created and deleted once");
    assert!(phases.iter().all(|phase| phase.error_count == 0 && phase.verify_failures == 0));
    assert!(intervals(&record, &script.tests).contains("For loops: operation=rmdir"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn files_are_removed_before_they_are_written_and_their_attributes_change() {
    let dir = tempfile::tempdir().unwrap();
    let text = "fsd=f,anchor=DIR,depth=1,width=2,files=4,sizes=8k\nfwd=w,fsd=f,operation=write,threads=2,xfersize=4k,fileio=(seq,delete)\n\
        fwd=a,fsd=f,operation=setattr,threads=2\nfwd=r,fsd=f,operation=read,threads=1,xfersize=4k\n\
        rd=w,fwd=w,fwdrate=max,format=yes,elapsed=1,interval=1\nrd=a,fwd=a,fwdrate=max,format=yes,elapsed=1,interval=1\nrd=r,fwd=r,fwdrate=max,format=yes,elapsed=1,interval=1\n";
    let (_, record) = run(dir.path(), text, true);
    let phases = &record.tests[0].repetitions[0].phases;
    let of = |name: &str| phases.iter().find(|phase| phase.name == name).unwrap();
    for name in ["w", "a", "r"] {
        assert!(of(name).operation_count() > 8 && of(name).error_count == 0, "{name}: {:?}", of(name).errors);
    }
    assert!(of("a").of(record::OperationKind::SetAttributes).unwrap().operations > 0);
    assert!(
        of("r").verified_bytes.get() > 0 && of("r").verify_failures == 0,
        "made anew, with the same in them"
    );
}

#[test]
fn an_offset_moves_all_transfers_and_none_over_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sd=sd1,lun=DIR/f,size=64k,threads=1,offset=1536\nwd=w,sd=sd1,rdpct=50\nwd=s,sd=sd1,seekpct=0\n\
        rd=r,wd=w,iorate=max,elapsed=1,interval=1\nrd=s,wd=s,iorate=max,elapsed=1,interval=1\n";
    let (_, record) = run(dir.path(), text, true);
    for phase in &record.tests[0].repetitions[0].phases {
        assert_eq!((phase.error_count, phase.verify_failures), (0, 0), "{}: {:?}", phase.name, phase.errors);
    }
    let last = record.tests[0].repetitions[0].phases.last().unwrap();
    assert!(last.verified_bytes.get() > 0);
    assert_eq!(last.operations[0].bytes.get() % 4096, 0, "every transfer is whole");
}

#[test]
fn devices_directories_and_symlinks_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for lun in ["/dev/null", "/tmp", link.to_str().unwrap()] {
        let text = format!("sd=sd1,lun={lun},size=1m\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max\n");
        let script = read(Path::new("x"), text, &Overrides::default()).unwrap();
        let fault = script.tests[0].placed(Placing::default()).unwrap_err();
        assert_eq!(fault.kind(), fault::Kind::Refused, "{fault}");
    }
}

#[test]
fn a_file_that_is_there_is_read_and_stays_and_is_written_only_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let lun = dir.path().join("mine");
    std::fs::write(&lun, vec![7u8; 1 << 20]).unwrap();
    let text = "sd=sd1,lun=DIR/mine,size=1m,threads=1\nwd=wd1,sd=sd1,rdpct=READ\nrd=r,wd=wd1,iorate=max,elapsed=1,interval=1\n";
    let of = |read: &str| text.replace("READ", read);

    let (_, record) = run(dir.path(), &of("100"), false);
    let names: Vec<&str> = record.tests[0].repetitions[0].phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["r"], "nothing is written first");
    assert_eq!(std::fs::read(&lun).unwrap(), vec![7u8; 1 << 20]);

    let script = read(
        Path::new("x"),
        of("0").replace("DIR", &dir.path().display().to_string()),
        &Overrides::default(),
    );
    let test = &script.unwrap().tests[0];
    let fault = test.placed(Placing::default()).unwrap_err();
    assert!(fault.hint_text().unwrap().contains("--overwrite"), "{fault}");
    run_placed(dir.path(), &of("0"), false, Placing { overwrite: true, ..Placing::default() });
    let now = std::fs::read(&lun).unwrap();
    assert!(now.len() == 1 << 20 && now != vec![7u8; 1 << 20], "it is written in place, and stays");
}

#[test]
fn files_have_the_names_that_were_given_and_are_kept_when_told() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("other")).unwrap();
    let text = "sd=sd1,lun=DIR/one,size=1m\nsd=sd2,lun=DIR/other/two,size=1m\nsd=sd3,lun=DIR/three,size=1m\nwd=wd1,sd=*\nwd=wd2,sd=sd2,rdpct=0\nrd=r,wd=*,iorate=max,elapsed=1,interval=1\n";
    let (_, record) = run_placed(dir.path(), text, true, Placing { keep: true, ..Placing::default() });
    assert_eq!(record.tests[0].repetitions[0].phases[1].verify_failures, 0);
    for name in ["one", "other/two", "three"] {
        assert_eq!(std::fs::metadata(dir.path().join(name)).unwrap().len(), 1 << 20, "{name}");
    }
    let count = std::fs::read_dir(dir.path()).unwrap().count()
        + std::fs::read_dir(dir.path().join("other")).unwrap().count();
    assert_eq!(count, 4, "two files and a directory, and a file in it: no journal is left");
}

#[test]
fn a_run_with_loops_has_a_matrix_that_proves_itself() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sd=sd1,lun=DIR/f,size=4m,threads=2\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max,elapsed=2,interval=1,forrdpct=(100,0),forseekpct=(100,0),forxfersize=(4k,64k)\n";
    let (_, record) = run(dir.path(), text, false);
    let matrices = record.matrices();
    assert_eq!(matrices.len(), 1);
    let matrix = &matrices[0];
    assert_eq!((matrix.points.len(), matrix.depth), (8, 2));
    for point in &matrix.points {
        // Numbers against the record: the whole seconds after the warm-up.
        let phase = record.tests[0].phases(&point.phase).next().unwrap();
        let counted: Vec<_> = phase
            .series
            .iter()
            .filter(|own| own.start_ns >= 1_000_000_000 && own.start_ns < 2_000_000_000)
            .collect();
        let operations: u64 = counted.iter().flat_map(|own| &own.operations).map(|own| own.operations).sum();
        assert_eq!(point.operations, operations, "{}", point.phase);
        assert!((point.bytes_agree() - 1.0).abs() < 1e-9, "every transfer has the whole size");
        assert!(point.in_flight() > 0.0 && point.in_flight() < 2.2, "{}: {}", point.phase, point.in_flight());
    }
    assert_eq!(matrix.proof().len(), 2);
}
