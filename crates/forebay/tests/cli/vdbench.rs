//! vdbench's parameter files on the command line: the expansion, the errors, and a run.

use crate::transcript::Place;

const MATRIX: &str = "\
* comment
sd=sd1,lun=$lun,size=1m,threads=2
wd=wd1,sd=sd*
rd=m,wd=wd1,iorate=max,el=1,in=1,forrdpct=(100,0),forseekpct=(100,0),forx=(4k,64k)
";

#[test]
fn the_expansion_is_printed_and_nothing_is_run() {
    let place = Place::new();
    std::fs::write(place.path().join("m.vdb"), MATRIX).unwrap();
    insta::assert_snapshot!(place.transcript(&["vdbench", "-f", "m.vdb", "-s", "lun=f"]));
    assert!(!place.path().join("f").exists());
}

#[test]
fn what_is_wrong_is_shown_where_it_is() {
    let place = Place::new();
    let text = "sd=sd1,lun=f,sise=1m\nwd=wd1,sd=sd1,rdpct=170\nrd=rd1,wd=wd1,iorate=max,startcmd=ls\n";
    std::fs::write(place.path().join("bad.vdb"), text).unwrap();
    insta::assert_snapshot!(place.transcript(&["vdbench", "-f", "bad.vdb"]));
}

#[test]
fn a_run_leaves_its_report_and_what_vdbench_would_leave() {
    let place = Place::new();
    std::fs::write(place.path().join("m.vdb"), MATRIX).unwrap();
    let call = place.call(&[
        "vdbench",
        "-f",
        "m.vdb",
        "-o",
        "out",
        "-e",
        "2",
        "--matrix",
        "m.csv",
        "--heat-map",
        "m.svg",
        "lun=f",
    ]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert_eq!(call.out.matches("Starting RD=m;").count(), 8, "{}", call.out);
    assert!(call.out.contains("avg_2-2") && call.out.contains("Little's law"), "{}", call.out);
    for name in ["out/summary.html", "out/totals.html", "out/flatfile.html", "m.csv", "m.svg"] {
        assert!(place.path().join(name).is_file(), "{name}");
    }
    assert!(!place.path().join("f").exists(), "the file was ours");
    let csv = std::fs::read_to_string(place.path().join("m.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 8);
}

#[test]
fn options_that_mean_nothing_here_say_so() {
    let place = Place::new();
    std::fs::write(place.path().join("m.vdb"), MATRIX).unwrap();
    for flag in ["-m", "-j"] {
        let call = place.call(&["vdbench", "-f", "m.vdb", flag, "4", "lun=f"]);
        assert_eq!(call.code, 2, "{flag}: {}", call.err);
        assert!(call.err.contains("hint:"), "{flag}: {}", call.err);
    }
}
