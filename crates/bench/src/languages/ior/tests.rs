use std::time::Duration;

use proptest::prelude::*;
use units::Bytes;

use super::*;
use crate::workload::{Activity, Phase};
use crate::workload::{Existing, Fsync, Layout, Order, RankShift, Transfer};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parsed(line: &str) -> Parsed {
    Parsed::from_arguments(&words(line)).unwrap()
}

fn read(line: &str, ranks: u32, strict: bool) -> Result<Ior> {
    Ior::read(&words(line), World::local(ranks), strict)
}

fn one(line: &str, ranks: u32) -> Test {
    read(line, ranks, false).unwrap().tests.remove(0)
}

fn transfer(phase: &Phase) -> &Transfer {
    match &phase.jobs[0].activity {
        Activity::Transfer(transfer) => transfer,
        Activity::Entries(_) => panic!("a transfer"),
    }
}

#[test]
fn options_are_written_in_many_ways() {
    let expected = Parameters { block_size: 4096, ..Parameters::default() };
    for line in [
        "-b 4k",
        "-b4k",
        "-b=4k",
        "-b=4096",
        "-b 4K",
        "-b 4kb",
        "-b 4KiB",
        "-b=\\\"4k\\\"",
        "-b=\"4k\"",
        "-b ”4k”",
        "-O blockSize=4k",
        "-O BLOCKSIZE=4096",
    ] {
        assert_eq!(parsed(line).parameters, expected, "{line}");
    }
}

#[test]
fn flags_count_and_come_in_groups() {
    let of = |line: &str| parsed(line).parameters;
    assert_eq!(of("-vvv").verbose, 3);
    assert_eq!(of("-v -v=5 -v").verbose, 6);
    assert_eq!(of("-z -z").random_offset, 2);
    assert_eq!(of("-F=1 -e=0 -m=-3"), Parameters { file_per_process: 1, ..Parameters::default() });
    let many = of("-wrFt4k");
    assert_eq!((many.write, many.read, many.file_per_process, many.transfer_size), (1, 1, 1, 4096));
    assert_eq!(of("--posix.odirect").direct, 1);
    assert_eq!(of("--posix.odirect=1"), of("-B"));
    assert_eq!(of("-O posix.odirect=1,keepFile=1").keep_file, 1);
    assert_eq!(of("--random-offset-seed 7"), of("--random-offset-seed=7"));
}

#[test]
fn older_names_are_taken_with_a_word() {
    assert!(parsed("-B").notes[0].contains("--posix.odirect"));
    assert!(parsed("-q -O debug=x").notes.len() == 2);
}

#[test]
fn mistakes_name_the_option_and_the_way_out() {
    for (line, message, hint) in [
        ("-b 10 -t 4", "no multiple of transfer size", "multiple"),
        ("-b 12 -t 4", "no multiple of 8", "multiples of 8"),
        ("-t 0", "moves nothing", "-t 4k"),
        ("-b 4k -t 8k", "`-b 4096` is smaller", "raise `-b`"),
        ("-b 4k -t 4k -z", "nothing to shuffle", "-zz"),
        ("-C -Z -F", "two orders", "leave out"),
        ("-z -C", "`-C` and `-Z` say nothing", "use `-F`"),
        ("-O stoneWallingWearOut=1", "needs a deadline", "-D"),
        ("-w -D 1 -O stoneWallingStatusFile=x", "without wear-out", "stoneWallingWearOut"),
        ("-w -D 1 -O stoneWallingWearOut=1,stoneWallingStatusFile=x", "not kept", "-k"),
        ("-R", "signature", "-G N"),
        ("-w -z -R", "needs a seed", "--random-offset-seed"),
        ("-a MPIIO", "interface `-a MPIIO`", "POSIX"),
        ("-a MMAP", "page fault", "POSIX"),
        ("-c", "MPI-IO", "leave it out"),
        ("-J 4", "HDF5", "leave it out"),
        ("-y", "socket", "leave it out"),
        ("--mmap.madv_dont_need", "mapped files", "leave it out"),
        ("-O beegfsNumTargets=4", "beegfs-ctl", "leave it out"),
        ("--posix.lustre.ignorelocks", "consistent", "leave it out"),
        ("--posix.lustre.stripesize=100", "no multiple of 64 KiB", "64 KiB"),
        ("--posix.lustre.stripecount=-2", "no number of OSTs", "-1 for all"),
        ("-u -F -o a@b", "`-u` makes directories in one place", "leave out `-u`"),
        ("-s 0", "`-s 0`", "-s 1"),
        ("-d -1", "negative", "-d"),
        ("-b", "`-b` has no value", "behind"),
        ("-b=", "`-b` has no value", "behind"),
        ("-i x", "`x` of option `-i` is no number", "digits"),
        ("-b 4q", "`4q` of option `-b` is no size", "4k"),
        ("-b 99999999p", "no size", "4k"),
        ("-@", "`-@` is no option", "--help"),
        ("--blocksize 4k", "no option", "blockSize"),
        ("extra", "`extra` is no option", "--help"),
        ("-O blocksiz=4k", "directive `blocksiz`", "blockSize"),
        ("-O keepFile", "has no value", "key=value"),
        ("-l x", "kind of data", "t, o, i or r"),
        ("-O summaryFormat=XML", "summaryFormat=XML", "JSON"),
        ("-o a@b", "several file systems", "-F"),
        ("-o /", "names no file", "DIRECTORY/FILE"),
        ("-M 120%", "no part of the memory", "99%"),
        ("-f /nowhere/at/all", "cannot read script", ""),
    ] {
        let fault = read(line, 2, false).map(|_| ()).expect_err(line);
        assert!(fault.message().contains(message), "{line}: {}", fault.message());
        assert!(fault.hint_text().unwrap_or_default().contains(hint), "{line}: {:?}", fault.hint_text());
    }
}

/// The command lines of the Azure Managed Lustre note, with other sizes and paths.
#[test]
fn published_command_lines_are_understood() {
    let first = one(
        "-z -w -r -i 2 -m -d 1 -e -F -o /l/ior/test.file3 -t 32m -b 8g -O summaryFormat=JSON -O summaryFile=/l/out",
        480,
    );
    let workload = &first.plan.workload;
    assert_eq!((workload.ranks, workload.repetitions, workload.files.layout), (480, 2, Layout::PerRank));
    assert_eq!((workload.files.block_size, workload.files.segments), (Bytes::gib(8), 1));
    let [write, read] = &workload.phases[..] else { panic!("two phases") };
    assert_eq!((write.pause_before, read.pause_before), (Duration::from_secs(1), Duration::from_secs(1)));
    assert_eq!((transfer(write).order, transfer(write).fsync), (Order::RandomOnce, Fsync::AtEnd));
    assert_eq!(transfer(read).transfer_size.largest(), Bytes::mib(32));
    let named = workload.files.named.as_ref().unwrap();
    assert!(named.data_per_repetition && named.data == ["test.file3"] && named.existing == Existing::Replace);
    assert_eq!(first.plan.target, std::path::Path::new("/l/ior"));

    let second = one(
        "--posix.odirect -g -v -w -i 3 -D 0 -k -F -o /l/ior/test.file4 -t 4m -b 4m -s 16384 -O summaryFormat=JSON -O summaryFile=/l/out2",
        480,
    );
    let phase = &second.plan.workload.phases[0];
    assert!(transfer(phase).direct && phase.barriers && phase.stop.time.is_none());
    assert_eq!((second.plan.workload.files.segments, second.plan.workload.phases.len()), (16384, 1));

    let third = one(
        "-b=\\\"128m\\\" -F=1 -e=1 -d=5 -m=1 -z=1 -i=3 -t=\\\"4k\\\" --posix.odirect=1 -o /l/ior/iops",
        1600,
    );
    let phases = &third.plan.workload.phases;
    assert_eq!((phases.len(), transfer(&phases[0]).transfer_size.largest()), (2, Bytes::kib(4)));
    assert_eq!(
        (third.plan.workload.files.block_size, phases[1].pause_before),
        (Bytes::mib(128), Duration::from_secs(5))
    );
}

#[test]
fn what_is_done_otherwise_is_said_and_strict_undoes_it() {
    let line = "-w -r -F -Z -Y -o /x/f -b 8k -t 4k";
    let (right, strict) = (read(line, 4, false).unwrap(), read(line, 4, true).unwrap());
    assert!(right.notes.iter().any(|note| note.starts_with("-Z:")), "{:?}", right.notes);
    assert!(right.notes.iter().any(|note| note.starts_with("-Y:")), "{:?}", right.notes);
    assert!(strict.notes.is_empty(), "{:?}", strict.notes);
    let of = |ior: &Ior, phase: usize| transfer(&ior.tests[0].plan.workload.phases[phase]).clone();
    assert_eq!((of(&right, 0).fsync, of(&strict, 0).fsync), (Fsync::Every(1), Fsync::EachTwice));
    assert_eq!(of(&right, 1).rank_shift, RankShift::Shuffled(0));
    assert_eq!(of(&strict, 1).rank_shift, RankShift::Drawn { seed: 0, at_least: 0, again: false });
}

#[test]
fn constant_shifts_go_by_nodes_in_blocks_and_by_tasks_in_turns() {
    let shift = |line: &str, world: World, phase: usize| {
        let ior = Ior::read(&words(line), world, false).unwrap();
        transfer(&ior.tests[0].plan.workload.phases[phase]).rank_shift
    };
    let blocks = World { ranks: 12, nodes: 3, ranks_on_first_node: 4, in_blocks: true };
    let turns = World { in_blocks: false, ..blocks };
    let line = "-w -W -r -C -F -o /x/f";
    assert_eq!((shift(line, blocks, 2), shift(line, turns, 2)), (RankShift::By(4), RankShift::By(1)));
    assert_eq!((shift(line, blocks, 1), shift(line, turns, 1)), (RankShift::By(8), RankShift::By(2)));
    assert_eq!(shift("-r -C -Q 2 -F -o /x/f -w", blocks, 1), RankShift::By(8));
    assert_eq!(shift("-W -C -Q 2 -F -o /x/f -w", turns, 1), RankShift::By(3), "-W goes one node further");
    assert_eq!(shift(line, World::local(4), 2), RankShift::By(1), "one host: the next task");
    assert_eq!(shift(line, World::local(1), 2), RankShift::None);
}

#[test]
fn random_orders_are_those_that_ior_documents() {
    let order = |line: &str, strict: bool| {
        let ior = read(&format!("-w -o /x/f -t 4k -b 16k {line}"), 4, strict).unwrap();
        (transfer(&ior.tests[0].plan.workload.phases[0]).order, ior.notes.len())
    };
    assert_eq!(order("-F -z", false), (Order::RandomOnce, 0));
    assert_eq!(order("-F -z -s 3", false), (Order::RandomInBlocks, 0));
    assert_eq!(order("-z -s 3", false), (Order::RandomInBlocks, 1), "equal parts are told");
    assert_eq!(order("-z -s 3", true), (Order::RandomDrawn, 0));
    assert_eq!(order("-F -zz", false), (Order::RandomRuns(4), 0));
    assert_eq!(order("-F -z -z -b 4k", false), (Order::Random, 0));
    let test = one("-w -r -F -ZZ -X -7 -i 3 -o /x/f", 4);
    let phase = &test.plan.workload.phases[1];
    assert_eq!(transfer(phase).rank_shift, RankShift::Reshuffled(7));
    let shifts = [0, 1, 2].map(|repetition| transfer(&phase.in_repetition(repetition)).rank_shift);
    assert_eq!(shifts, [7, 8, 9].map(RankShift::Shuffled));
    let drawn = read("-w -r -F -Z -X -7 -o /x/f", 4, true).unwrap().tests.remove(0);
    let drawn = transfer(&drawn.plan.workload.phases[1].in_repetition(2)).rank_shift;
    assert_eq!(drawn, RankShift::Drawn { seed: 9, at_least: 0, again: false });
}

#[test]
fn stripes_and_lines_per_transfer_are_part_of_the_workload() {
    let line = "-w -r -F -o /x/f --posix.lustre.stripecount 4 -O lustreStripeSize=1m,lustreStartOST=2,savePerOpDataCSV=/r/ops";
    let test = one(line, 2);
    let options = test.plan.workload.files.striping.as_ref().unwrap().options();
    assert_eq!(options, ["-c", "4", "-S", "1048576", "-i", "2"]);
    let logs = |test: &Test| {
        let phases = test.plan.workload.phases.iter();
        phases.map(|phase| phase.in_repetition(1).operation_log.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(logs(&test), ["/r/ops-write-1-{rank}.csv", "/r/ops-1-{rank}.csv"]);
    let strict = read(line, 2, true).unwrap().tests.remove(0);
    assert_eq!(
        logs(&strict),
        ["/r/ops-1-{rank}.csv", "/r/ops-1-{rank}.csv"],
        "IOR's reads replace the writes'"
    );
    assert!(one("-w -F -o /x/f", 2).plan.workload.files.striping.is_none());
}

#[test]
fn tasks_are_clipped_to_those_there_are() {
    let ior = read("-N 8 -w -o /x/f", 3, false).unwrap();
    assert_eq!(ior.tests[0].plan.workload.ranks, 3);
    assert!(ior.notes[0].contains("-N 8"));
    assert_eq!(one("-N 2 -w -o /x/f", 3).plan.workload.ranks, 2);
}

proptest! {
    #[test]
    fn any_words_are_understood_or_refused(words in prop::collection::vec("[-=,#a-zA-Z0-9.@%\"]{0,9}", 0..6)) {
        if let Err(fault) = Ior::read(&words, World::local(2), false) {
            prop_assert!(!fault.message().is_empty());
        }
    }

    #[test]
    fn what_is_written_is_what_is_read(
        block in 1i64..1 << 20, segments in 1i64..99, repetitions in 1i64..9, deadline in 0i64..99, flags in 0u32..1 << 8,
        equals: bool,
    ) {
        let between = if equals { "=" } else { " " };
        let mut line = format!("-b{between}{block}k -s{between}{segments} -i{between}{repetitions} -D{between}{deadline} -");
        let letters = ['w', 'r', 'F', 'e', 'k', 'g', 'm', 'E'];
        line.extend(letters.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, letter)| letter));
        line.push('v');
        let p = parsed(&line).parameters;
        prop_assert_eq!((p.block_size, p.segments, p.repetitions, p.deadline), (block << 10, segments, repetitions, deadline));
        let read = [p.write, p.read, p.file_per_process, p.fsync, p.keep_file, p.barriers, p.multi_file, p.use_existing];
        for (bit, value) in read.into_iter().enumerate() {
            prop_assert_eq!(value, i64::from(flags >> bit & 1));
        }
    }

    /// Naive models of who reads whose file.
    #[test]
    fn tasks_read_whose_files_ior_says(ranks in 1u32..40, shift in 0u32..99, seed: u64, least in 0u32..20) {
        let of = |shift: RankShift| (0..ranks).map(|rank| shift.apply(rank, ranks)).collect::<Vec<_>>();
        let naive: Vec<u32> = (0..ranks).map(|rank| (rank + shift) % ranks).collect();
        prop_assert_eq!(of(RankShift::By(shift)), naive);
        let mut shuffled = of(RankShift::Shuffled(seed));
        shuffled.sort_unstable();
        prop_assert_eq!(shuffled, (0..ranks).collect::<Vec<_>>());
        let drawn = of(RankShift::Drawn { seed, at_least: least, again: false });
        prop_assert_eq!(&drawn, &of(RankShift::Drawn { seed, at_least: least, again: false }));
        for (rank, owner) in (0..ranks).zip(drawn) {
            let away = (owner + ranks - rank) % ranks;
            prop_assert!(away >= least.min(ranks - 1) && owner < ranks);
        }
    }
}
