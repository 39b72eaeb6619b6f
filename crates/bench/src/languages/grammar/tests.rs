use proptest::prelude::*;
use units::Bytes;

use super::*;

const KNOWN: [Known; 6] = [
    Known { directives: &["blockSize"], ..Known::value('b') },
    Known::flag('w'),
    Known::flag('r'),
    Known::flag('v'),
    Known::long_value("random-seed"),
    Known { directives: &["useO_DIRECT"], ..Known::long_flag("posix.odirect") },
];
const GRAMMAR: Grammar<'static> = Grammar { program: "ior", known: &KNOWN };

fn line(text: &str) -> Result<Line> {
    Line::read("ior", &KNOWN, &text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn all_ways_to_write_an_option() {
    for text in ["-b 4k", "-b4k", "-b=4k", "-b=\"4k\"", "-b=\\\"4k\\\"", "-b ”4k”", "-wb4k"] {
        assert_eq!(line(text).unwrap().size("-b").unwrap(), Some(Bytes::kib(4)), "{text}");
    }
    for text in ["--random-seed 7", "--random-seed=7"] {
        assert_eq!(line(text).unwrap().number("--random-seed").unwrap(), Some(7), "{text}");
    }
    let grouped = line("-wrvvv -b1m -w=0").unwrap();
    assert_eq!((grouped.count("-v"), grouped.flag("-r"), grouped.flag("-w")), (3, true, false));
    assert_eq!(line("-b 1k -b 2k").unwrap().text("-b"), Some("2k"), "the last one counts");
}

#[test]
fn directives_name_options_in_any_case() {
    let of = |text: &str| GRAMMAR.directive(text).unwrap().map(|given| (given.option, given.value.unwrap()));
    assert_eq!(of("blockSize=4k"), Some((0, "4k".to_owned())));
    assert_eq!(of(" BLOCKSIZE = \"4k\" # bytes"), Some((0, "4k".to_owned())));
    assert_eq!((of("useo_direct=1"), of("posix.odirect=1")), (Some((5, "1".into())), Some((5, "1".into()))));
    assert_eq!((of("# nothing"), of("  ")), (None, None));
    for (text, expected) in [
        ("blockSize", "has no value"),
        ("blockSize=", "has no value"),
        ("blocksiz=1", "directive `blocksiz`"),
    ] {
        let fault = GRAMMAR.directive(text).unwrap_err();
        assert!(fault.message().contains(expected), "{text}: {fault}");
    }
    let near = GRAMMAR.directive("blocksiz=1").unwrap_err();
    assert_eq!(near.hint_text(), Some("did you mean `-O blockSize=...`?"));
}

#[test]
fn wrong_words_are_named() {
    for (text, expected) in [
        ("-x", "`-x` is no option"),
        ("-wx", "`-x` is no option of ior (in `-wx`)"),
        ("--random-sed 1", "`--random-sed` is no option"),
        ("-b", "`-b` has no value"),
        ("-b=", "`-b` has no value"),
        ("-w=", "`-w` has no value"),
        ("file", "`file` is no option"),
        ("-", "`-` is no option"),
    ] {
        assert!(line(text).unwrap_err().message().contains(expected), "{text}");
    }
    assert_eq!(line("--random-sed 1").unwrap_err().hint_text(), Some("did you mean `--random-seed`?"));
    assert!(line("-b 4q").unwrap().size("-b").is_err());
    assert!(line("--random-seed x").unwrap().number("--random-seed").is_err());
    assert!(line("--random-seed -1").unwrap().number("--random-seed").is_err());
    assert_eq!(line("--random-seed -1").unwrap().signed("--random-seed").unwrap(), Some(-1));
}

#[test]
fn sizes_have_one_letter_that_counts() {
    let sizes = ["64kb", "1M", "2g", "0", "8T", "47008"].map(|text| size(text).unwrap().get());
    assert_eq!(sizes, [65_536, 1 << 20, 2 << 30, 0, 8 << 40, 47_008]);
    assert_eq!(["", "k", "1x", "-1k", "99999999999999999999", "99999999p"].map(size), [None; 6]);
}

proptest! {
    #[test]
    fn no_words_panic(words in prop::collection::vec("\\PC{0,8}|-[a-z=0-9]{0,5}|--[a-z=-]{0,9}", 0..6)) {
        let _ = GRAMMAR.read(&words);
        for word in words {
            let _ = GRAMMAR.directive(&word);
        }
    }
}
