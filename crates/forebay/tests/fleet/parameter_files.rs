//! vdbench's parameter files over hosts: those they name themselves, and those of `--hosts` and of launchers.

use serde_json::Value;

use crate::call::{assert_nothing_is_left, call, lab, on, over, phase};

/// Two files, a random load from everywhere, a sequential one, and one of the second host alone.
fn parameters(target: &str, hosts: &str) -> String {
    format!(
        "{hosts}sd=sd1,lun={target}/f1,size=1m,threads=2\nsd=sd2,lun={target}/f2,size=1m,threads=1,host=two\n\
         wd=wd1,sd=sd1,rdpct=50\nwd=wd2,sd=sd1,seekpct=0\nwd=wd3,sd=sd*,rdpct=0,host=two\n\
         rd=all,wd=wd1,iorate=max,el=2,in=1\nrd=row,wd=wd2,iorate=max,el=2,in=1\nrd=two,wd=wd3,iorate=max,el=2,in=1\n"
    )
}

const HOSTS: &str = "hd=default,shell=ssh,user=root\nhd=one,system=h1\nhd=two,system=h2\n";

/// Operations of each host in the phase of a name, wherever it is.
fn operations(record: &Value, name: &str) -> Vec<(String, u64)> {
    let tests = record["tests"].as_array().unwrap();
    let phases = tests.iter().flat_map(|test| test["repetitions"][0]["phases"].as_array().unwrap());
    let found = phases.into_iter().find(|phase| phase["name"] == name).unwrap();
    let of = |host: &Value| (host["host"].as_str().unwrap().to_owned(), host["operations"].as_u64().unwrap());
    found["hosts"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn hosts_of_a_parameter_file_are_reached_and_do_what_it_places_there() {
    let Some((lab, shared)) = lab("vdbench over the hosts of its file") else { return };
    let file = lab.dir().join("m.vdb");
    std::fs::write(&file, parameters(shared.to_str().unwrap(), HOSTS)).unwrap();
    let words = ["vdbench", "-f", file.to_str().unwrap(), "--fill-beyond", "--ssh", &lab.ssh()];
    let data = call(on(&lab, 0, &words).args(["--format", "json"])).data();
    assert_eq!(data["state"], "complete");
    let all = operations(&data, "all");
    assert!(all.len() == 2 && all.iter().all(|(_, count)| *count > 0), "{all:?}");
    let row = operations(&data, "row");
    assert!(row[0].1 > 0 && row[1].1 == 0, "in order means one host: {row:?}");
    let two = operations(&data, "two");
    assert!(two[0].1 == 0 && two[1].1 > 0, "host=two: {two:?}");

    // The report comes while it goes on, and has figures in every column.
    let text = call(&mut on(&lab, 0, &words));
    assert_eq!(text.code, 0, "{text:?}");
    for run in ["all", "row", "two"] {
        assert_eq!(text.out.matches(&format!("Starting RD={run};")).count(), 1, "{text:?}");
    }
    assert!(text.out.contains("avg_2-2") && !text.out.contains("NaN"), "{}", text.out);
    assert_nothing_is_left(&lab, &shared);
}

#[test]
fn hosts_of_the_command_line_take_the_place_of_the_files() {
    let Some((lab, shared)) = lab("vdbench over other hosts than its file's") else { return };
    let target = shared.to_str().unwrap();
    let file = lab.dir().join("m.vdb");
    std::fs::write(&file, parameters(target, HOSTS)).unwrap();
    let words = ["vdbench", "-f", file.to_str().unwrap(), "--fill-beyond", "-e", "1"];
    let call_ = call(over(&lab, &words).args(["--format", "json"]));
    assert!(call_.err.contains("takes the place of"), "{call_:?}");
    let all = operations(&call_.data(), "all");
    assert_eq!(all.len(), 3, "{all:?}");

    // A tree whose items all hosts take from each other, each of its own.
    let tree = format!(
        "fsd=f,anchor={target}/tree,depth=1,width=2,files=12,sizes=4k\nfwd=r,fsd=f,operation=read,threads=3,skew=70\n\
         fwd=g,fsd=f,operation=getattr,threads=3\nrd=t,fwd=*,fwdrate=max,format=yes,elapsed=2,interval=1\n"
    );
    std::fs::write(&file, tree).unwrap();
    let data = call(over(&lab, &words).args(["--format", "json"])).data();
    let own = phase(&data, 0, "t");
    assert_eq!(own["error_count"], 0, "{own}");
    let hosts = operations(&data, "t");
    assert!(hosts.len() == 3 && hosts.iter().all(|(_, count)| *count > 0), "{hosts:?}");
    assert_nothing_is_left(&lab, &shared);
}

#[test]
fn a_host_that_is_not_defined_is_told_before_anybody_is_reached() {
    let Some((lab, shared)) = lab("vdbench with a host that is not defined") else { return };
    let file = lab.dir().join("m.vdb");
    let text = parameters(shared.to_str().unwrap(), HOSTS).replace("host=two", "host=three");
    std::fs::write(&file, text).unwrap();
    let words = ["vdbench", "-f", file.to_str().unwrap(), "--ssh", "/nowhere/ssh"];
    let refused = call(&mut on(&lab, 0, &words));
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("there is no hd `three`"), "{refused:?}");
}
