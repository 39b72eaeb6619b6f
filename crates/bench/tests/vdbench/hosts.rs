//! Hosts of a parameter file: who they are, and who does what.

use std::path::Path;

use bench::languages::vdbench::{Overrides, Script, read};

use super::{problems, script};

const HOSTS: &str = "hd=default,user=me,shell=ssh\nhd=one,system=node1\nhd=two,system=node2,clients=2\n";

fn over(text: &str, groups: u32) -> Script {
    let overrides = Overrides { groups: Some(groups), ..Overrides::default() };
    read(Path::new("test.vdb"), text.to_owned(), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn hosts_are_reached_as_the_file_says() {
    let text = format!("{HOSTS}sd=sd1,lun=/x/f,size=1m\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max\n");
    let script = script(&text).unwrap();
    assert_eq!(script.hosts.list().unwrap(), "me@node1 slots=1,me@node2 slots=2");
    assert_eq!(script.hosts.groups(), 3);
    let here = "hd=localhost,jvms=4\nsd=sd1,lun=/x/f,size=1m\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max\n";
    assert_eq!(super::script(here).unwrap().hosts.list(), None);
}

#[test]
fn every_host_does_all_loads_unless_it_is_placed() {
    let text = format!(
        "{HOSTS}sd=sd1,lun=/x/f,size=1m,threads=2\nsd=sd2,lun=/x/g,size=1m,threads=2,hd=two\n\
         wd=wd1,sd=sd*\nwd=wd2,sd=sd1,seekpct=seq\nrd=r,wd=wd1,iorate=max\nrd=s,wd=wd2,iorate=900\n"
    );
    let script = over(&text, 3);
    let workload = &script.tests[0].workload;
    let phase = &workload.phases[1];
    assert_eq!((workload.ranks, phase.group, phase.ranks), (6, Some(2), None));
    let placed: Vec<_> = phase.jobs.iter().map(|job| (job.ranks, job.only_groups.clone())).collect();
    assert_eq!(placed, [(Some(1), vec![]), (Some(1), vec![1, 2])]);
    // Ranks of all hosts work on the same two files.
    let files: Vec<Option<u32>> = (0..6)
        .map(|rank| {
            let (job, _) = phase.job_of(rank, 6)?;
            let bench::workload::Activity::Transfer(transfer) = &job.activity else { return None };
            Some(transfer.rank_shift.apply(rank, 6))
        })
        .collect();
    assert_eq!(files, [Some(0), None, Some(0), Some(1), Some(0), Some(1)]);
    assert!(script.notes.iter().any(|note| note.contains("wd `wd2` is sequential")), "{:?}", script.notes);
    let sequential = &script.tests[1].workload.phases[1];
    assert_eq!(sequential.jobs[0].only_groups, [0]);
    script.tests.iter().for_each(|test| test.workload.check().unwrap());
}

#[test]
fn threads_on_trees_are_shared_out_to_the_hosts() {
    let text = format!(
        "{HOSTS}fsd=f,anchor=/x,depth=1,width=1,files=24\nfwd=a,fsd=f,threads=4\nfwd=b,fsd=f,threads=2,host=two\n\
         rd=r,fwd=*,fwdrate=max,format=yes\n"
    );
    let script = over(&text, 3);
    let workload = &script.tests[0].workload;
    let phase = workload.phases.last().unwrap();
    let dealt: Vec<_> = phase.jobs.iter().map(|job| (job.ranks, job.only_groups.clone())).collect();
    assert_eq!(dealt, [(Some(2), vec![]), (Some(1), vec![1, 2])]);
    assert_eq!((workload.ranks, workload.files.tree.items), (9, 3), "24 files over 9 ranks");
    workload.check().unwrap();
}

#[test]
fn what_is_wrong_with_hosts_is_told_where_it_is() {
    let of = |text: &str| problems(&format!("{HOSTS}{text}"));
    let sd = "sd=sd1,lun=/x/f,size=1m";
    let found = of(&format!("{sd}\nwd=wd1,sd=sd1,host=three\nrd=r,wd=wd1,iorate=max\n"));
    assert_eq!((found[0].0, found[0].2.as_str()), (5, "there is no hd `three`"));
    let found = of(&format!("{sd},host=one\nwd=wd1,sd=sd1,host=two\nrd=r,wd=wd1,iorate=max\n"));
    assert!(found[0].2.contains("not among those"), "{found:?}");
    let found =
        of("sd=sd1,lun=/x/f,host=one,lun=/x/g,host=two,size=1m\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max\n");
    assert!(found[0].2.contains("another file on another host"), "{found:?}");
    let twice = "hd=a,system=node1\nhd=b,system=node1\nsd=sd1,lun=/x/f,size=1m\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max\n";
    assert!(problems(twice)[0].3.contains("clients=2"));
}

#[test]
fn an_error_names_the_parameter_file_the_line_and_the_keyword() {
    let wrong = |text: &str| script(text).unwrap_err().to_string();
    let one = "sd=sd1,lun=/x/f,size=1m\nwd=wd1,sd=sd1,rdpct=170\nrd=r,wd=wd1,iorate=max\n";
    assert!(wrong(one).starts_with("cannot read parameter file `test.vdb`, line 2: "), "{}", wrong(one));
    let several = "sd=sd1,lun=/x/f,sise=1m\nwd=wd1,sd=sd1,rdpct=170\nrd=r,wd=wd1,iorate=max\n";
    assert_eq!(
        wrong(several),
        "cannot read parameter file `test.vdb`: 2 problems: line 1 (sise), line 2 (rdpct)"
    );
}
