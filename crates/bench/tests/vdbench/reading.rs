//! The text: comments, continuations, variables, includes, abbreviations, and places of what is wrong.

use std::path::Path;

use bench::languages::vdbench::{Overrides, read};
use proptest::prelude::*;

use crate::{points, problems, script};

#[test]
fn what_follows_a_blank_and_what_follows_eof_is_no_matter() {
    let text = "\
* a comment
/ another
# and another
sd=sd1,lun=/tmp/x,size=1m   this, is=(not read
wd=wd1,sd=sd1,
 xfersize=8k,
 * between the lines
 rdpct=50
rd=rd1,wd=wd1,iorate=max
eof
rd=broken,nonsense
";
    assert_eq!(points(text), ["None"]);
}

#[test]
fn quotes_keep_blanks_and_commas() {
    let script =
        script("sd=sd1,lun=\"/tmp/a b,c\",size=1m comment\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n")
            .unwrap();
    let targets = format!("{:?}", script.tests[0].world);
    assert!(targets.contains("/tmp/a b,c"), "{targets}");
}

#[test]
fn the_shortest_unique_beginnings_are_enough() {
    let text = "sd=sd1,lu=/tmp/x,si=1m,th=2,op=o_direct\nwd=wd1,sd=sd1,xf=8k,se=seq,rd=50\nrd=rd1,wd=wd1,io=max,el=9,in=3,pa=1,forth=(1-8,d),forx=(4k,8k)\n";
    assert_eq!(points(text).len(), 8);
    assert_eq!(points(text)[3], "threads=2 xfersize=8k");
}

#[test]
fn variables_and_includes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("storage"), "sd=sd1,lun=$dir/f,size=$size\n").unwrap();
    let text = "include=storage\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,forx=($sizes)\n".to_owned();
    let variables = [("dir", "/tmp"), ("size", "1m"), ("sizes", "4k,8k")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let overrides = Overrides { variables: &variables, ..Overrides::default() };
    let script = read(&dir.path().join("main"), text.clone(), &overrides).unwrap();
    assert_eq!(script.tests[0].shown.len(), 2, "$sizes is not $size with an s");

    let error = read(&dir.path().join("main"), text, &Overrides::default()).unwrap_err();
    assert!(error.path.ends_with("storage"), "the file that has the problem is the one shown");
    assert!(error.problems[0].message.contains("$dir"), "{:?}", error.problems);
}

#[test]
fn a_file_that_includes_itself_ends() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("again"), "include=again\n").unwrap();
    let error =
        read(&dir.path().join("main"), "include=again\n".to_owned(), &Overrides::default()).unwrap_err();
    assert!(error.problems[0].message.contains("without end"), "{:?}", error.problems);
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place_and_the_nearest_word() {
    let text = "sd=sd1,lun=/tmp/x,sise=1g,journal=x\nwd=wd1,sd=sd1,rdpct=170,xfersize=4q\nrd=rd1,wd=wd1,iorate=max,elapsed=\nrd=rd2,foo\n";
    let found = problems(text);
    let places: Vec<(usize, usize)> = found.iter().map(|(line, column, ..)| (*line, *column)).collect();
    assert_eq!(places, [(1, 19), (1, 27), (2, 21), (3, 26), (4, 4), (4, 8)]);
    assert!(found[0].3.contains("`size`"), "{found:?}");
    assert!(found[1].2.contains("without a journal"), "refused with its reason: {found:?}");
}

#[test]
fn names_that_are_not_defined_are_told_with_the_nearest() {
    let text = "sd=data1,lun=/tmp/x,size=1m\nwd=wd1,sd=date1\nrd=rd1,wd=wd1,iorate=max\n";
    let found = problems(text);
    assert_eq!((found[0].0, found[0].1), (2, 11));
    assert!(found[0].3.contains("data1"), "{found:?}");
}

#[test]
fn statements_out_of_order_and_twice() {
    let found = problems(
        "wd=wd1,sd=sd1\nsd=sd1,lun=/tmp/x,size=1m\nsd=sd1,lun=/tmp/x,size=1m\nrd=rd1,wd=wd1,iorate=max\n",
    );
    assert!(found.iter().any(|(line, _, message, _)| *line == 2 && message.contains("after")), "{found:?}");
    assert!(found.iter().any(|(line, _, message, _)| *line == 3 && message.contains("twice")), "{found:?}");
}

#[test]
fn what_the_model_can_not_do_is_refused_by_name() {
    let base = "sd=sd1,lun=/tmp/x,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max";
    let fs = |more: &str| {
        format!("fsd=f,anchor=/tmp,files=3,size=4k\nfwd=w,fsd=f,{more}\nrd=r,fwd=w,fwdrate=max\n")
    };
    for (text, word) in [
        (format!("journal=/tmp\n{base}\n"), "journal"),
        (format!("{base},startcmd=reboot\n"), "commands"),
        (fs("fileio=(random,delete)"), "removed first"),
        (
            format!("{},offset=100\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n", "sd=sd1,lun=/tmp/x,size=1m"),
            "512",
        ),
        (
            "fsd=a,anchor=/tmp,files=3,size=4k\nfsd=b,anchor=/tmp,files=4,size=4k\nfwd=w,fsd=*\nrd=r,fwd=w,fwdrate=max\n".to_owned(),
            "another shape",
        ),
        ("sd=a,lun=/nowhere/a\nwd=w,sd=*\nrd=r,wd=w,iorate=max\n".to_owned(), "size"),
        ("sd=a,lun=/tmp/a,size=1m\nwd=w,sd=a\nrd=r,wd=w\n".to_owned(), "iorate"),
        ("sd=a,lun=/tmp/a,size=1m\nwd=w,sd=a\n".to_owned(), "no rd"),
    ] {
        let found = problems(&text);
        assert!(
            found.iter().any(|(.., message, hint)| message.contains(word) || hint.contains(word)),
            "{text}: {found:?}"
        );
        assert!(found.iter().all(|(.., hint)| !hint.is_empty()), "{text}: {found:?}");
    }
}

/// Pieces that a parameter file is made of, so that chance comes further than the first letter.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "sd=sd1",
        "sd=default",
        "wd=wd1",
        "wd=*",
        "rd=rd1",
        "fsd=f",
        "fwd=w",
        "hd=h",
        "lun=/tmp/x",
        "size=1m",
        "xfersize=4k",
        "xfersize=(4k,50,8k,50)",
        "forxfersize=(4k-64k,d)",
        "fort=(1-4,1)",
        "iorate=max",
        "iorate=curve",
        "iorate=(1,2)",
        "curve=(10,0)",
        "elapsed=1",
        "rdpct=50",
        "seekpct=-1",
        "count=(1,3)",
        "anchor=/tmp",
        "files=3",
        "depth=2",
        "fwdrate=max",
        "operation=create",
        "include=x",
        "$a",
        "\"",
        "(",
        ")",
        ",",
        ",\n",
        "\n",
        " ",
        "=",
        "-",
        "*",
        "é",
        "eof\n",
        "skew=50",
        "range=(1,2)",
        "distribution=variable",
    ];
    prop_oneof![4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn no_text_makes_it_panic_and_what_is_wrong_has_a_hint(pieces in proptest::collection::vec(piece(), 0..24), joined in proptest::bool::ANY) {
        let text = pieces.join(if joined { "," } else { "" });
        if let Err(error) = read(Path::new("/nowhere/x"), text.clone(), &Overrides::default()) {
            prop_assert!(!error.problems.is_empty());
            for problem in &error.problems {
                prop_assert!(problem.hint.is_some(), "{}", problem.message);
                if let Some(span) = &problem.span {
                    prop_assert!(error.text.get(span.clone()).is_some());
                }
            }
        }
    }
}
