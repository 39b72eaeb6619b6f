//! Loops, rates, curves, lists: golden expansions of the guide's forms, and a naive model beside them.

use std::time::Duration;

use bench::Workload;
use bench::workload::{
    Activity, Arrival, Entries, EntryOperation, Fsync, Job, Layout, Order, Pacing, Phase, PhaseRate,
    RankShift, Selection, Transfer, TransferSize,
};
use proptest::prelude::*;
use units::{Bytes, Ratio};

use crate::{points, script};

const FILE: &str = "sd=sd1,lun=/tmp/f1,size=64m\n";

fn workload(text: &str) -> Workload {
    let mut script = script(text).unwrap_or_else(|error| panic!("{:?}", error.problems));
    assert_eq!(script.tests.len(), 1);
    script.tests.remove(0).workload
}

/// The phase after what makes the files.
fn phase(text: &str) -> Phase {
    workload(text).phases.remove(1)
}

fn transfers(phase: &Phase) -> Vec<Transfer> {
    phase
        .jobs
        .iter()
        .map(|job| match &job.activity {
            Activity::Transfer(transfer) => transfer.clone(),
            Activity::Entries(_) => panic!("no transfer"),
        })
        .collect()
}

fn transfer(text: &str) -> Transfer {
    transfers(&phase(text)).remove(0)
}

fn entries(phase: &Phase) -> Vec<Entries> {
    phase
        .jobs
        .iter()
        .map(|job| match &job.activity {
            Activity::Entries(entries) => entries.clone(),
            Activity::Transfer(_) => panic!("a transfer"),
        })
        .collect()
}

#[test]
fn the_matrix_of_the_cloud_study_has_sixty_points_in_the_order_of_its_keywords() {
    let text = "\
sd=default,openflags=o_direct,threads=32
sd=sd1,lun=/lustre/f1,size=64g
wd=wd1,sd=sd*
rd=m,wd=wd1,iorate=max,elapsed=60,interval=5,warmup=10,forrdpct=(100,70,50,30,0),forseekpct=(100,50,0),forxfersize=(4k,32k,128k,256k)
";
    let points = points(text);
    assert_eq!(points.len(), 60);
    assert_eq!(points[0], "rdpct=100 seekpct=100 xfersize=4k");
    assert_eq!(points[1], "rdpct=100 seekpct=100 xfersize=32k", "the last keyword is the innermost loop");
    assert_eq!(points[4], "rdpct=100 seekpct=50 xfersize=4k");
    assert_eq!(points[59], "rdpct=0 seekpct=0 xfersize=256k");
    let workload = workload(text);
    assert_eq!((workload.ranks, workload.files.block_size), (1, Bytes::gib(64)));
    assert_eq!(workload.phases.len(), 61, "the file is written first, once for all points");
    let point = &workload.phases[1 + 16];
    let transfer = &transfers(point)[0];
    assert_eq!(point.name, "m rdpct=70 seekpct=50 xfersize=4k");
    assert_eq!((transfer.queue_depth, transfer.direct, transfer.fsync), (32, true, Fsync::Never));
    assert_eq!((transfer.read, transfer.order), (Ratio::percent(70.0), Order::SeekPercent(50.0)));
    assert_eq!(point.stop.time, Some(Duration::from_secs(70)), "warm-up comes on top");
    assert_eq!(point.warm_up, Duration::from_secs(10));
}

#[test]
fn defaults_are_the_guides() {
    let text = format!("{FILE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n");
    let (phase, transfer) = (phase(&text), transfer(&text));
    assert_eq!(transfer.transfer_size, TransferSize::Fixed(Bytes::kib(4)));
    assert_eq!((transfer.read, transfer.order, transfer.queue_depth), (Ratio::ONE, Order::Random, 8));
    assert_eq!(phase.stop.time, Some(Duration::from_secs(30)));
    assert_eq!(phase.warm_up, Duration::from_secs(15), "the first interval: half of elapsed");
    assert!(phase.stop.repeat && phase.rate.is_none());
}

#[test]
fn later_statements_take_defaults_and_own_values_win() {
    let text = "sd=default,threads=3,openflags=directio\nsd=a,lun=/tmp/a,size=1m\nsd=default,threads=5\nsd=b,lun=/tmp/b,size=1m\nsd=c,lun=/tmp/c,size=1m,threads=7\nwd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=max\n";
    let depths: Vec<(u32, bool)> =
        transfers(&phase(text)).iter().map(|t| (t.queue_depth, t.direct)).collect();
    assert_eq!(depths, [(3, true), (5, true), (7, true)]);
}

#[test]
fn rates_are_innermost_and_curves_refer_to_their_own_maximum() {
    let text = format!("{FILE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=(100,200),forxfersize=(4k,8k)\n");
    assert_eq!(
        points(&text),
        [
            "xfersize=4k iorate=100",
            "xfersize=4k iorate=200",
            "xfersize=8k iorate=100",
            "xfersize=8k iorate=200"
        ]
    );
    let text = format!(
        "{FILE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=curve,curve=(10,90),stopcurve=5,forx=(4k,8k),distribution=d\n"
    );
    let workload = workload(&text);
    let told: Vec<(&str, Option<&str>, Option<&str>)> = workload.phases[1..]
        .iter()
        .map(|phase| {
            let of = match &phase.rate {
                Some(PhaseRate::Of { phase, arrival: Arrival::Uniform, .. }) => Some(phase.as_str()),
                Some(other) => panic!("{other:?}"),
                None => None,
            };
            (phase.name.as_str(), of, phase.skip_above.as_ref().map(|skip| skip.phase.as_str()))
        })
        .collect();
    let (four, eight) = ("rd1 xfersize=4k iorate=max", "rd1 xfersize=8k iorate=max");
    assert_eq!(
        told,
        [
            (four, None, None),
            ("rd1 xfersize=4k iorate=10%", Some(four), None),
            ("rd1 xfersize=4k iorate=90%", Some(four), Some("rd1 xfersize=4k iorate=10%")),
            (eight, None, None),
            ("rd1 xfersize=8k iorate=10%", Some(eight), None),
            ("rd1 xfersize=8k iorate=90%", Some(eight), Some("rd1 xfersize=8k iorate=10%")),
        ]
    );
    workload.check().unwrap();
}

#[test]
fn rates_that_vary_are_one_run() {
    let text = format!(
        "{FILE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=(100,10,500,2),distribution=(exponential,variable)\n"
    );
    let Some(PhaseRate::Series { steps, arrival: Arrival::Poisson }) = phase(&text).rate else {
        panic!("no series")
    };
    let told: Vec<(f64, u64)> =
        steps.iter().map(|step| (step.operations_per_second, step.time.as_secs())).collect();
    assert_eq!(told, [(100.0, 10), (500.0, 2)]);
}

#[test]
fn words_for_seeks_sizes_ranges_and_hits() {
    let of = |more: &str| transfer(&format!("{FILE}wd=wd1,sd=sd1,{more}\nrd=rd1,wd=wd1,iorate=max\n"));
    assert_eq!(of("seekpct=seq").order, Order::Sequential);
    assert_eq!(of("seekpct=rand").order, Order::Random);
    assert_eq!(of("seekpct=seqnz").order, Order::RandomStart);
    assert_eq!(of("seekpct=-1").order, Order::Reverse);
    assert_eq!(of("seekpct=0,streams=4").order, Order::Streams(4));
    let skip = Order::Skip { percent: 50.0, smallest: Bytes::kib(4), largest: Bytes::kib(64) };
    assert_eq!(of("seekpct=50,stride=(4k,64k)").order, skip);
    assert!(
        matches!(of("xfersize=(4k,70,8k,30)").transfer_size, TransferSize::Weighted(sizes) if sizes[0].weight == 7000)
    );
    assert!(matches!(of("xfersize=(4k,64k,4k)").transfer_size, TransferSize::Range { .. }));
    let part = of("range=(25,75)");
    assert_eq!((part.range_start, part.range_end), (Ratio::percent(25.0), Ratio::percent(75.0)));
    let part = of("range=(16m,32m)");
    assert_eq!((part.range_start, part.range_end), (Ratio::new(0.25), Ratio::new(0.5)));
    let hits = of("rhpct=30,whpct=10,hitarea=2m,rdpct=50");
    assert_eq!(
        (hits.read_hits, hits.write_hits, hits.hit_area),
        (Ratio::percent(30.0), Ratio::percent(10.0), Bytes::mib(2))
    );
    let flags = of("openflags=(o_sync,fsync)");
    assert!(flags.synchronous && !flags.direct && flags.fsync == Fsync::AtEnd);
    let to_the_end = phase(&format!("{FILE}wd=wd1,sd=sd1,seekpct=eof\nrd=rd1,wd=wd1,iorate=max\n"));
    assert!(!to_the_end.stop.repeat);
}

#[test]
fn loads_on_one_file_share_its_threads_and_each_has_a_rank() {
    let text = "sd=sd,lun=/tmp/f,size=8m,count=(1,3),threads=4\nwd=wd1,sd=sd*,rdpct=100,skew=60\nwd=wd2,sd=(sd2-sd3),rdpct=0\nrd=rd1,wd=wd*,iorate=1000\n";
    let workload = workload(text);
    assert_eq!((workload.ranks, workload.files.layout), (5, Layout::PerRank));
    assert_eq!(workload.phases[0].ranks, Some(3), "three files are written, and no more");
    let phase = &workload.phases[1];
    let told: Vec<(Option<u32>, u32, RankShift)> = phase
        .jobs
        .iter()
        .zip(transfers(phase))
        .map(|(job, t)| (job.ranks, t.queue_depth, t.rank_shift))
        .collect();
    // Rank 0: sd1, alone. Ranks 1 and 2: sd2 and sd3, shared. Ranks 3 and 4: sd2 and sd3 again, (3 + 3) % 5 = 1.
    assert_eq!(
        told,
        [(Some(1), 4, RankShift::None), (Some(2), 2, RankShift::None), (Some(2), 2, RankShift::By(3))]
    );
    let skews: f64 = phase.jobs.iter().filter_map(|job| job.skew).map(Ratio::get).sum();
    assert!((skews - 1.0).abs() < 1e-9 && phase.jobs[0].skew == Some(Ratio::percent(20.0)));
    workload.check().unwrap();
}

#[test]
fn a_workload_with_a_rate_of_its_own_has_it() {
    let text = format!("{FILE}wd=wd1,sd=sd1\nwd=wd2,sd=sd1,iorate=50\nrd=rd1,wd=wd*,iorate=max\n");
    let pacings: Vec<Pacing> = transfers(&phase(&text)).iter().map(|t| t.pacing).collect();
    assert_eq!(pacings[0], Pacing::Closed);
    assert!(
        matches!(pacings[1], Pacing::Open { operations_per_second, .. } if (operations_per_second - 50.0).abs() < 1e-9)
    );
}

#[test]
fn runs_on_other_files_are_other_tests_and_runs_on_the_same_share_them() {
    let text = "sd=sd1,lun=/tmp/a,size=1m\nsd=sd2,lun=/tmp/b,size=2m\nwd=w1,sd=sd1\nwd=w2,sd=sd2\nrd=r1,wd=w1,iorate=max\nrd=r2,wd=w1,iorate=10\nrd=r3,wd=w2,iorate=max\n";
    let script = script(text).unwrap();
    let names: Vec<Vec<&str>> = script
        .tests
        .iter()
        .map(|test| test.workload.phases.iter().map(|p| p.name.as_str()).collect())
        .collect();
    assert_eq!(names, [vec!["SD_format", "r1", "r2"], vec!["SD_format", "r3"]]);
}

#[test]
fn blocks_fit_every_size_of_a_loop() {
    let text = "sd=sd1,lun=/tmp/a,size=1000k\nwd=w1,sd=sd1\nrd=r1,wd=w1,iorate=max,forx=(4k,48k,64k)\n";
    let workload = workload(text);
    assert_eq!(workload.files.block_size, Bytes::kib(960), "a multiple of 192k");
    workload.check().unwrap();
}

#[test]
fn maxdata_stops_and_compratio_shrinks() {
    let text = format!(
        "compratio=4,dedupratio=2\n{FILE}wd=wd1,sd=sd1,xfersize=64k\nrd=rd1,wd=wd1,iorate=max,maxdata=1m\n"
    );
    let workload = workload(&text);
    assert_eq!((workload.data.compressible, workload.data.duplicate), (Ratio::new(0.75), Ratio::new(0.5)));
    assert_eq!(workload.phases[1].stop.operations, Some(16));
}

#[test]
fn trees_are_made_once_and_worked_on_by_a_rank_per_thread() {
    let text = "\
fsd=fsd1,anchor=/tmp,depth=2,width=3,files=20,sizes=(4k,50,64k,50)
fwd=default,fsd=fsd1,fileselect=random,xfersize=4k
fwd=fwd1,operation=getattr,skew=70,threads=3
fwd=fwd2,operation=read,skew=30,fileio=random,stopafter=8
rd=rd1,fwd=fwd*,fwdrate=400,elapsed=10,format=yes
rd=rd2,fwd=fwd1,fwdrate=max,elapsed=10
";
    let workload = workload(text);
    let names: Vec<&str> = workload.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["format directories", "format files", "rd1", "rd2"]);
    let tree = &workload.files.tree;
    assert_eq!((tree.branch, tree.depth, tree.leaf_only), (3, 2, true));
    assert_eq!((workload.ranks, tree.items), (6, 30), "6 threads make 180 files, each as many");
    let mixed = entries(&workload.phases[2]);
    assert_eq!(
        mixed.iter().map(|e| e.operation).collect::<Vec<_>>(),
        [EntryOperation::Stat, EntryOperation::Read]
    );
    assert!(mixed[1].scattered && mixed[1].calls == Some(8) && mixed[1].select == Selection::Random);
    assert!(matches!(workload.phases[2].rate, Some(PhaseRate::Fixed { .. })));
    assert_eq!((workload.phases[2].ranks, workload.phases[3].ranks), (Some(4), Some(3)));
    workload.check().unwrap();
}

#[test]
fn a_load_on_a_tree_that_reads_and_writes_is_two_with_its_threads_between_them() {
    use EntryOperation::{Read, Stat, Write};
    let text = "\
fsd=fsd1,anchor=/tmp,depth=1,width=2,files=20,size=64k
fwd=default,fsd=fsd1,fileselect=random,xfersize=4k
fwd=mixed,rdpct=75,threads=8
fwd=other,operation=getattr,skew=20
fwd=written,rdpct=0,threads=2
rd=rd1,fwd=mixed,fwdrate=max,elapsed=10,format=yes
rd=rd2,fwd=(mixed,other),fwdrate=max,elapsed=10
rd=rd3,fwd=written,fwdrate=max,elapsed=10
rd=rd4,fwd=mixed,fwdrate=max,elapsed=10,forrdpct=(100,50)
";
    let workload = workload(text);
    let each = |number: usize| -> Vec<(EntryOperation, u32, f64)> {
        let phase: &Phase = &workload.phases[number];
        let skew = |job: &Job| job.skew.map_or(0.0, |skew| (skew.get() * 1000.0).round() / 10.0);
        let jobs = entries(phase).into_iter().zip(&phase.jobs);
        jobs.map(|(entries, job)| (entries.operation, job.ranks.unwrap(), skew(job))).collect()
    };
    assert_eq!(each(2), [(Read, 6, 75.0), (Write, 2, 25.0)]);
    assert_eq!(each(3), [(Read, 6, 60.0), (Write, 2, 20.0), (Stat, 1, 20.0)]);
    assert_eq!(each(4), [(Write, 2, 0.0)]);
    assert_eq!(each(5), [(Read, 8, 0.0)]);
    assert_eq!(each(6), [(Read, 4, 50.0), (Write, 4, 50.0)]);
    workload.check().unwrap();
}

#[test]
fn operations_in_turn_make_and_remove_the_tree() {
    use EntryOperation::{Create, MakeTree, Remove, RemoveTree, Stat};
    let text = "fsd=f,anchor=/tmp,depth=1,width=2,files=10,size=4k\nfwd=w,fsd=f,threads=2\nrd=r,fwd=w,fwdrate=max,foroperations=(mkdir,create,getattr,delete,rmdir)\n";
    let workload = workload(text);
    let operations: Vec<EntryOperation> =
        workload.phases.iter().map(|phase| entries(phase)[0].operation).collect();
    assert_eq!(operations, [MakeTree, Create, Stat, Remove, RemoveTree]);
    assert_eq!(workload.prepared().phases.len(), workload.phases.len(), "nothing more has to be prepared");
    workload.check().unwrap();
}

/// Nested loops as anybody would write them down.
fn naive(loops: &[(&str, Vec<u32>)], rates: &[u32]) -> Vec<String> {
    match loops.split_first() {
        None if rates.len() == 1 => vec![String::new()],
        None => rates.iter().map(|rate| format!("iorate={rate}")).collect(),
        Some(((name, values), inner)) => {
            let mut all = Vec::new();
            for value in values {
                let own = format!("{name}={value}");
                for rest in naive(inner, rates) {
                    all.push(if rest.is_empty() { own.clone() } else { format!("{own} {rest}") });
                }
            }
            all
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn loops_nest_in_the_order_of_their_keywords(
        order in Just(vec!["rdpct", "seekpct", "threads", "xfersize"]).prop_shuffle(),
        counts in proptest::collection::vec(1usize..4, 4),
        used in 0usize..5,
        rates in 1usize..4,
    ) {
        let loops: Vec<(&str, Vec<u32>)> = order.iter().zip(&counts).take(used)
            .map(|(name, count)| (*name, (1..=*count as u32).map(|n| if *name == "xfersize" { n * 4096 } else { n * 8 }).collect()))
            .collect();
        let rates: Vec<u32> = (1..=rates as u32).map(|n| n * 100).collect();
        let list = |values: &[u32]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let written: Vec<String> = loops.iter().map(|(name, values)| format!(",for{name}=({})", list(values))).collect();
        let written = written.concat();
        let text = format!("{FILE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=({}){written}\n", list(&rates));
        let expected: Vec<String> = naive(&loops, &rates).into_iter()
            .map(|text| if text.is_empty() { "None".to_owned() } else { text }).collect();
        prop_assert_eq!(points(&text), expected);
    }
}
