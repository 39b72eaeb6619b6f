//! `forebay ior`: command lines as they are published, and outputs as the parsers of others read them.

use std::fs;
use std::os::unix::fs::FileExt as _;

use serde_json::Value;

use crate::transcript::{Call, Place};

fn ior(place: &Place, line: &str) -> Call {
    // These files are small: how full the disk is says nothing here.
    let arguments: Vec<&str> = ["ior", "--fill-beyond"].into_iter().chain(line.split_whitespace()).collect();
    place.call(&arguments)
}

fn done(place: &Place, line: &str) -> Call {
    let call = ior(place, line);
    assert_eq!(call.code, 0, "{line}\n{}{}", call.out, call.err);
    call
}

/// All keys of a JSON text, in the order in which they are written.
fn keys(text: &str) -> Vec<String> {
    let quoted: Vec<&str> = text.split('"').collect();
    let is_key =
        |index: usize| quoted.get(index + 1).is_some_and(|after| after.trim_start().starts_with(':'));
    (1..quoted.len())
        .step_by(2)
        .filter(|index| is_key(*index))
        .map(|index| quoted[index].to_owned())
        .collect()
}

/// What PerfKitBenchmarker reads: the table behind "Summary of all tests", columns and values apart by blanks.
fn summary(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Summary of all tests"));
    lines.next().unwrap();
    let columns: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let rows = lines.take_while(|line| !line.starts_with("Finished"));
    rows.map(|line| {
        let values: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(values.len(), columns.len(), "{line}");
        columns.iter().map(ToString::to_string).zip(values.iter().map(ToString::to_string)).collect()
    })
    .collect()
}

/// Everything of a text but for its numbers and times.
fn shape(text: &str) -> Vec<String> {
    let skeleton = |line: &str| {
        let is_number = |word: &&str| word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
        let words = line.split_whitespace().filter(|word| !is_number(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let of_the_run = [
        "IOR-",
        "Began",
        "Command line",
        "Machine",
        "StartTime",
        "Path",
        "FS ",
        "Finished",
        "test filename",
        "$ ",
    ];
    let lines = text.lines().filter(|line| !of_the_run.iter().any(|start| line.starts_with(start)));
    lines.map(skeleton).collect()
}

#[test]
fn json_has_the_keys_of_the_original_in_their_order() {
    let place = Place::new();
    for (line, original) in [
        (
            "-z -w -r -i 2 -m -d 0 -e -F -o f -t 32k -b 256k -O summaryFormat=JSON -O summaryFile=out.json",
            include_str!("ior/ior_seedA.json"),
        ),
        (
            "--posix.odirect -g -v -w -i 3 -D 0 -k -F -o od -t 64k -b 64k -s 16 -O summaryFormat=JSON -O summaryFile=out.json",
            include_str!("ior/ior_seedB.json"),
        ),
    ] {
        let call = done(&place, &format!("{line} --ranks 2"));
        assert_eq!(call.out, "Writing output to out.json\n");
        let text = place.read("out.json");
        assert_eq!(keys(&text), keys(original), "{line}");
        let (ours, theirs): (Value, Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(original).unwrap());
        for part in ["Parameters", "Options"] {
            let (mut ours, mut theirs) = (ours["tests"][0][part].clone(), theirs["tests"][0][part].clone());
            for of_the_run in [
                "platform",
                "testFileName",
                "test filename",
                "interTestDelay",
                "setTimeStampSignature/incompressibleSeed",
            ] {
                ours[of_the_run] = Value::Null;
                theirs[of_the_run] = Value::Null;
            }
            assert_eq!(ours, theirs, "{line}: {part}");
        }
        let latency = &ours["tests"][0]["Results"][0]["latency"];
        assert!(latency.as_f64().unwrap() > 0.0, "microseconds are not rounded away: {latency}");
    }
}

#[test]
fn tables_have_the_columns_of_the_original() {
    let place = Place::new();
    let text = done(&place, "-v -w -r -i 3 -F -g -e -C -t 64k -b 1m -s 4 -o f --ranks 4").out;
    let original = include_str!("ior/ior_np4_fpp_v.txt");
    assert_eq!(shape(&text), shape(original));
    let (ours, theirs) = (summary(&text), summary(original));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let names = |row: &[(String, String)]| row.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(ours), names(theirs));
        // What was asked for stands behind the stonewall's columns.
        assert_eq!(ours[11..], theirs[11..]);
        assert_eq!(ours[0], theirs[0]);
    }
    let first = text.lines().find(|line| line.starts_with("write ")).unwrap();
    let columns: Vec<&str> = first.split_whitespace().collect();
    assert_eq!((columns.len(), columns[4], columns[5], columns[10]), (11, "1024.00", "64.00", "0"));
    assert!(text.lines().any(|line| line.starts_with("remove    -          -")), "{text}");
}

#[test]
fn stonewalls_are_in_table_and_json() {
    let place = Place::new();
    let line = "-w -r -F -k -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=status -t 64k -b 64m -o f --ranks 2";
    let text = done(&place, line).out;
    let wall = text.lines().find(|line| line.starts_with("stonewalling pairs accessed")).unwrap();
    let original = include_str!("ior/ior_np2_stonewall.txt");
    let theirs = original.lines().find(|line| line.starts_with("stonewalling pairs accessed")).unwrap();
    let words = |line: &str| {
        line.split_whitespace()
            .filter(|w| !w.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(wall), words(theirs));
    assert!(summary(&text)[0][10].1.parse::<f64>().unwrap() > 0.0);
    // 1024 transfers fit into the files; a later run reads what the status file says.
    assert!((1..=1024).contains(&place.read("status").parse::<u64>().unwrap()));
    place.write("status", "3");
    let json = done(
        &place,
        "-r -k -F -t 64k -b 64m -o f --ranks 2 -O stoneWallingStatusFile=status,summaryFormat=JSON",
    )
    .out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let aggregate = json["summary"][0]["xsizeMiB"].as_f64().unwrap();
    assert!((aggregate - 6.0 * 64.0 / 1024.0).abs() < 1e-9, "{aggregate}");
    let walled =
        done(&place, "-w -F -D 1 -O stoneWallingWearOut=1 -t 64k -b 1m -o g -O summaryFormat=JSON").out;
    let walled: Value = serde_json::from_str(&walled).unwrap();
    assert!(
        walled["summary"][0]["StoneWallTime"].is_number()
            && walled["summary"][0]["StoneWallbwMeanMIB"].is_number()
    );
}

#[test]
fn comma_separated_values_have_the_columns_of_the_original() {
    let place = Place::new();
    let text = done(
        &place,
        "-w -r -i 2 -t 64k -b 1m -o f -O summaryFormat=CSV,saveRankPerformanceDetailsCSV=ranks.csv --ranks 2",
    )
    .out;
    let original: Vec<&str> = include_str!("ior/ior_csv.txt").lines().skip(1).collect();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), (original[0], original.len()));
    for (ours, theirs) in lines.iter().zip(&original).skip(1) {
        assert_eq!(ours.split(',').next(), theirs.split(',').next());
        assert!(ours.split(',').skip(1).all(|number| number.parse::<f64>().is_ok()), "{ours}");
        assert_eq!(ours.split(',').count(), 12);
    }
    let ranks = place.read("ranks.csv");
    assert_eq!(
        ranks.lines().next().unwrap(),
        "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
    );
    assert_eq!(ranks.lines().count(), 1 + 2 * 2 * 2);
}

/// The command lines of the Azure Managed Lustre note, sizes and paths apart.
#[test]
fn published_command_lines_run() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("lustremnt/ior")).unwrap();
    fs::create_dir_all(place.path().join("lustremnt/ioroutput")).unwrap();
    let files = "-o lustremnt/ior/test.file";
    for line in [
        format!("-z -w -r -i 2 -m -d 1 -e -F {files}3 -t 32k -b 128k -O summaryFormat=JSON -O summaryFile=lustremnt/ioroutput/out.nn_tput"),
        format!("--posix.odirect -g -v -w -i 3 -D 0 -k -F {files}4 -t 4k -b 4k -s 16 -O summaryFormat=JSON -O summaryFile=lustremnt/ioroutput/out.nn_tput2"),
        "-b=\\\"128k\\\" -F=1 -e=1 -d=0 -m=1 -z=1 -i=3 -t=\\\"4k\\\" -o lustremnt/ior/iops_n_to_n_rnd_buffered.testFile".to_owned(),
        "-b=\"400k\" -F=1 -e=1 -d=0 -m=1 -i=3 -t=\"40k\" -o lustremnt/ior/bw_n_to_n_seq_buffered.testFile".to_owned(),
        "-b=\\\"128k\\\" -F=1 -e=1 -d=0 -m=1 -z=1 -i=3 -t=\\\"4k\\\" --posix.odirect=1 -o lustremnt/ior/iops_n_to_n_rnd_direct.testFile".to_owned(),
    ] {
        done(&place, &format!("{line} --ranks 2"));
    }
    let json: Value = serde_json::from_str(&place.read("lustremnt/ioroutput/out.nn_tput")).unwrap();
    assert_eq!(json["tests"][0]["Results"].as_array().unwrap().len(), 4);
    let mut kept: Vec<_> = fs::read_dir(place.path().join("lustremnt/ior"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, ["test.file4.00000000", "test.file4.00000001"], "-k keeps, and nothing else stays");
}

#[test]
fn data_of_one_run_verifies_in_another_and_damage_is_counted() {
    let place = Place::new();
    for kind in ["t", "o", "i", "r"] {
        for layout in ["", "-F"] {
            let shape = format!("-G 77 -l {kind} {layout} -t 16k -b 64k -s 2 -o f --ranks 3");
            done(&place, &format!("-w -W -k {shape}"));
            done(&place, &format!("-r -R -C -k {shape}"));
            let name = if layout.is_empty() { "f" } else { "f.00000001" };
            let file = fs::File::options().write(true).open(place.path().join(name)).unwrap();
            file.write_all_at(b"damaged!damaged!", 20 << 10).unwrap();
            file.write_all_at(b"damaged!", 100 << 10).unwrap();
            let call = ior(&place, &format!("-r -R -k {shape}"));
            assert_eq!(call.code, 1);
            assert!(call.err.contains("incorrect data on read (2 errors found)"), "{kind}: {}", call.err);
            assert!(call.err.contains("3 words of 8 bytes"), "{kind}: {}", call.err);
            // Another signature is other data.
            let other = shape.replace("-G 77", "-G 78");
            assert_eq!(ior(&place, &format!("-r -R -k {other}")).code, i32::from(kind != "x"));
        }
    }
}

#[test]
fn every_transfer_has_a_line_where_that_is_asked_for() {
    let place = Place::new();
    let line = "-w -r -i 2 -F -t 64k -b 1m -o f --ranks 2 -O savePerOpDataCSV=ops";
    let call = done(&place, line);
    assert!(call.err.contains("-write-"), "{}", call.err);
    for name in ["ops-write-0-00000.csv", "ops-write-1-00001.csv", "ops-0-00001.csv", "ops-1-00000.csv"] {
        let text = place.read(name);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("time,runtime,tp"));
        let rows: Vec<Vec<f64>> =
            lines.map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
        assert_eq!(rows.len(), 16, "{name}");
        assert!(rows.windows(2).all(|pair| pair[0][0] <= pair[1][0]), "in order: {text}");
        assert!(rows.iter().all(|row| (row[1] * row[2] - 65536.0).abs() < 66.0), "{text}");
    }
    let call = ior(&place, "-w -F -o f -O savePerOpDataCSV=nowhere/ops");
    assert!(call.code > 0 && call.err.contains("nowhere"), "{}", call.err);
    assert!(!place.path().join("f.00000000").exists());
}

#[test]
fn random_orders_of_several_segments_and_shared_files_verify() {
    let place = Place::new();
    for options in ["-z -s 3", "-z -s 3 -F", "-z -s 3 --strict-ior", "-z", "-z --strict-ior"] {
        let shape = format!("-G 7 --random-offset-seed=3 -t 4k -b 32k {options} -o f --ranks 3");
        done(&place, &format!("-w -R -k {shape}"));
        // In order, everything is there.
        let order = shape.replace("-z ", "");
        done(&place, &format!("-r -R {order}"));
        for name in ["f", "f.00000000", "f.00000001", "f.00000002"] {
            let _ = fs::remove_file(place.path().join(name));
        }
    }
    done(&place, "-w -k -G 5 -t 4k -b 64k -s 2 -o f --ranks 2");
    let call = done(&place, "-r -zz -k -t 4k -b 16k -s 5 -o f --ranks 2");
    assert!(call.out.contains("read "), "{}", call.out);
}

#[test]
fn stripes_are_for_lustre_alone() {
    let place = Place::new();
    let call = ior(&place, "-w -o f --posix.lustre.stripecount=4");
    assert_eq!(call.code, 1);
    assert!(
        call.err.contains("only Lustre has stripes") && call.err.contains("--posix.lustre"),
        "{}",
        call.err
    );
    assert!(!place.path().join("f").exists());
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let place = Place::new();
    for (line, said) in [
        ("-b 4k -t 8k -o f", "smaller than transfer size"),
        ("-a MPIIO -o f", "interface `-a MPIIO`"),
        ("-c -o f", "MPI-IO"),
        ("-w -o nowhere/f", "nowhere"),
        ("-r -o missing", "is not there"),
        ("-w -o f -O summaryFile=nowhere/out", "nowhere/out"),
        ("-w -o f --nonsense", "no option"),
    ] {
        let call = ior(&place, line);
        assert!(call.code == 1 || call.code == 2, "{line}: {}", call.code);
        assert!(call.err.contains(said) && call.err.contains("hint:"), "{line}: {}", call.err);
        assert!(call.out.is_empty(), "{line}: {}", call.out);
    }
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_str().unwrap().starts_with('.')), "{left:?}");
}

#[test]
fn own_options_may_stand_anywhere() {
    let place = Place::new();
    let call = place.call(&[
        "ior",
        "--fill-beyond",
        "-w",
        "--label",
        "mine",
        "-t",
        "4k",
        "--format",
        "json",
        "-b",
        "8k",
        "-o",
        "f",
    ]);
    assert_eq!(call.code, 0, "{}", call.err);
    let run: Value = serde_json::from_str(&call.out).unwrap();
    assert_eq!(
        (run["data"]["label"].as_str(), run["data"]["tests"][0]["test"].as_str()),
        (Some("mine"), Some("ior"))
    );
    let help = place.call(&["ior", "-w", "-h"]);
    assert!(help.out.contains("--strict-ior") && help.out.contains("-D N"), "{}", help.out);
}

#[test]
fn scripts_run_their_tests_one_after_the_other() {
    let place = Place::new();
    place.write("script", "IOR START\ntestFile=f,filePerProc=1\nblockSize=64k\ntransferSize=16k\nwriteFile=1\nRUN\nreadFile=1\nsegmentCount=2\nRUN\nIOR STOP\n");
    let text = done(&place, "-f script -A 9 --ranks 2").out;
    let rows = summary(&text);
    let of = |row: usize, name: &str| rows[row].iter().find(|(column, _)| column == name).unwrap().1.clone();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (of(0, "segcnt"), of(1, "segcnt"), of(2, "Operation")),
        ("1".into(), "2".into(), "read".into())
    );
    assert_eq!((of(0, "Test#"), of(2, "Test#"), of(2, "RefNum")), ("0".into(), "1".into(), "9".into()));
}

#[test]
fn a_dry_run_touches_nothing() {
    let place = Place::new();
    let call = done(&place, "-w -o f -t 4k -b 8k --dryRun");
    assert!(call.out.contains("write 4 KiB"), "{}", call.out);
    assert!(!place.path().join("f").exists());
}

#[test]
fn files_that_were_there_are_read_and_stay() {
    let place = Place::new();
    place.write("f", &"x".repeat(64 << 10));
    let call = done(&place, "-r -t 4k -b 64k -o f");
    assert!(call.err.contains("did not make them, and they stay"), "{}", call.err);
    assert_eq!(place.read("f").len(), 64 << 10);
    let call = done(&place, "-w -t 4k -b 8k -o f");
    assert!(call.err.contains("exists already and is removed first"), "{}", call.err);
    assert!(!place.path().join("f").exists(), "as IOR: removed before, and without -k after");
}

#[test]
fn any_transfers_of_what_is_there_are_read() {
    let place = Place::new();
    done(&place, "-w -k -G 5 -t 64k -b 1m -F -o f --ranks 2");
    let json = "-O summaryFormat=JSON";
    for (count, said) in [(8, 8.0), (900, 900.0)] {
        let out = done(&place, &format!("-r -zz -k -t 4k -b 4k -s {count} -F -o f --ranks 2 {json}")).out;
        let result: Value = serde_json::from_str(&out).unwrap();
        let moved = result["summary"][0]["xsizeMiB"].as_f64().unwrap();
        assert!((moved - said * 2.0 * 4.0 / 1024.0).abs() < 1e-9, "{count}: {moved}");
    }
}
