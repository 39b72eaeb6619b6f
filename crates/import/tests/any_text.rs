//! Whatever a file holds, reading it gives a record or an error that names the file, and never a panic.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::Path;

use import::{Tool, read};
use proptest::prelude::*;

const TOOLS: [Tool; 7] =
    [Tool::RhelIotest, Tool::Ior, Tool::Mdtest, Tool::Vdbench, Tool::Io500, Tool::Fio, Tool::Elbencho];

fn files() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn holds(bytes: &[u8], tool: Option<Tool>) {
    match read(Path::new("some.txt"), bytes, tool) {
        Ok(record) => {
            let text = serde_json::to_string(&record).unwrap();
            assert!(serde_json::from_str::<record::RunRecord>(&text).is_ok());
            assert!(record.imported.is_some());
        }
        Err(fault) => assert!(fault.message().contains("some.txt") && fault.hint_text().is_some(), "{fault}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn damaged_results(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            Just(b"".to_vec()), Just(b"-".to_vec()), Just(b"1e308".to_vec()), Just(b"99999999999999999999".to_vec()), Just(b"0".to_vec()),
            Just(b"NaN".to_vec()), Just(b"\n".to_vec()), Just(b":".to_vec()), Just(b",".to_vec()), Just("ä".as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..4)], 0usize..12), 1..6),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let files = files();
        let mut bytes = which.get(&files).clone();
        for (place, with, length) in edits {
            let start = place.index(bytes.len().max(1)).min(bytes.len());
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, with);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len().max(1)));
        }
        holds(&bytes, None);
        for tool in TOOLS { holds(&bytes, Some(tool)); }
    }

    #[test]
    fn numbers_of_any_size(which in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(),
        number in prop_oneof!["[0-9]{1,25}", "[0-9]{1,4}e[0-9]{1,3}", "0\\.0{1,30}1"]) {
        let files = files();
        let text = String::from_utf8_lossy(which.get::<Vec<u8>>(&files)).into_owned();
        let words: Vec<(usize, &str)> = text.match_indices(|c: char| c.is_ascii_digit()).collect();
        let start = place.get(&words).0;
        let end = text[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |end| start + end);
        let changed = format!("{}{number}{}", &text[..start], &text[end..]);
        holds(changed.as_bytes(), None);
    }

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        holds(&bytes, None);
        for tool in TOOLS { holds(&bytes, Some(tool)); }
    }
}
