//! The parser and the gathering on a stream that was recorded on a Lustre 2.16 (`lfs changelog`), written as the kernel
//! writes records.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::record::{Record, length};
use super::*;
use crate::scope::Changes;

const RECORDED: &[u8] = include_bytes!("recorded.txt");
const TYPES: [&str; 25] = [
    "MARK", "CREAT", "MKDIR", "HLINK", "SLINK", "MKNOD", "UNLNK", "RMDIR", "RENME", "RNMTO", "OPEN", "CLOSE",
    "LYOUT", "TRUNC", "SATTR", "XATTR", "HSM", "MTIME", "CTIME", "ATIME", "MIGRT", "FLRW", "RESYNC", "GXATR",
    "NOPEN",
];

fn fid(text: &str) -> Fid {
    let text = text.split(['[', ']']).nth(1).unwrap();
    let mut words =
        text.split(':').map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap());
    let (sequence, object, version) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    Fid { sequence, object: object as u32, version: version as u32 }
}

/// A line of the recorded stream.
#[derive(Debug, Clone, Default)]
struct Line {
    index: u64,
    number: u32,
    target: Fid,
    parent: Fid,
    job: Option<String>,
    extra: Option<u64>,
    name: Vec<u8>,
    from: Option<(Fid, Vec<u8>)>,
}

/// The lines; a name may have a line feed in it.
fn recorded() -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for text in RECORDED.split(|byte| *byte == b'\n').filter(|text| !text.is_empty()) {
        let shown = String::from_utf8_lossy(text);
        let Some(index) = shown.split(' ').next().and_then(|word| word.parse().ok()) else {
            let last = lines.last_mut().unwrap();
            last.name.push(b'\n');
            last.name.extend_from_slice(text);
            continue;
        };
        let kind = &shown.split(' ').nth(1).unwrap()[2..];
        let field = |key: &str| shown.split(' ').find_map(|word| word.strip_prefix(key)).map(str::to_owned);
        let parent = field("p=").map_or(Fid::default(), |text| fid(&text));
        let at = text
            .windows(2)
            .position(|pair| pair == b"p=")
            .and_then(|at| text[at..].iter().position(|byte| *byte == b' ').map(|space| at + space + 1));
        lines.push(Line {
            index,
            number: TYPES.iter().position(|other| *other == kind).unwrap() as u32,
            target: fid(&field("t=").unwrap()),
            parent,
            job: field("j="),
            extra: field("ef=0x").map(|hex| u64::from_str_radix(&hex, 16).unwrap()),
            name: at.map_or_else(Vec::new, |at| text[at..].to_vec()),
            from: None,
        });
    }
    lines
}

fn put_fid(out: &mut Vec<u8>, fid: Fid) {
    out.extend_from_slice(&fid.sequence.to_ne_bytes());
    out.extend_from_slice(&fid.object.to_ne_bytes());
    out.extend_from_slice(&fid.version.to_ne_bytes());
}

/// As struct changelog_rec lies in memory.
fn encode(line: &Line) -> Vec<u8> {
    let mut names = line.name.clone();
    if let Some((_, old)) = &line.from {
        names.push(0);
        names.extend_from_slice(old);
    }
    let mut flags = 0x1000u16;
    flags |= if line.from.is_some() { 0x2000 } else { 0 };
    flags |= if line.job.is_some() { 0x4000 } else { 0 };
    flags |= if line.extra.is_some() { 0x8000 } else { 0 };
    let mut out = (names.len() as u16).to_ne_bytes().to_vec();
    out.extend_from_slice(&flags.to_ne_bytes());
    out.extend_from_slice(&line.number.to_ne_bytes());
    for word in [line.index, 0, (1_700_000_000 << 30) + 5] {
        out.extend_from_slice(&word.to_ne_bytes());
    }
    put_fid(&mut out, line.target);
    put_fid(&mut out, line.parent);
    if let Some((dir, _)) = &line.from {
        put_fid(&mut out, line.target);
        put_fid(&mut out, *dir);
    }
    if let Some(job) = &line.job {
        let mut bytes = job.clone().into_bytes();
        bytes.resize(32, 0);
        out.extend_from_slice(&bytes);
    }
    if let Some(extra) = line.extra {
        out.extend_from_slice(&extra.to_ne_bytes());
        for (flag, size) in [(1u64, 16), (2, 20), (4, 4), (8, 256)] {
            out.resize(out.len() + if extra & flag == 0 { 0 } else { size }, 0xee);
        }
    }
    out.extend_from_slice(&names);
    out
}

fn with_rename(index: u64) -> Line {
    Line {
        index,
        number: 8,
        target: Fid { sequence: 0x2_0000_0401, object: 0x99, version: 0 },
        parent: Fid { sequence: 0x2_0000_0401, object: 0x1, version: 0 },
        name: b"new name".to_vec(),
        from: Some((Fid { sequence: 0x2_4000_0402, object: 0x2, version: 0 }, b"old\xff".to_vec())),
        ..Line::default()
    }
}

#[test]
fn a_recorded_stream_is_read_whole() {
    let lines = recorded();
    assert!(lines.len() > 60);
    assert!(
        lines.iter().any(|line| line.name == b"new\nline") && lines.iter().any(|line| line.name == b"sp ace")
    );
    for line in lines.iter().chain([&with_rename(900)]) {
        let bytes = encode(line);
        assert_eq!(length(&bytes), Some(bytes.len()));
        let Record { index, time, target, parent, name, from, .. } = parse(&bytes).unwrap();
        assert_eq!((index, target, parent, name), (line.index, line.target, line.parent, &line.name[..]));
        assert_eq!(from.map(|(dir, name)| (dir, name.to_vec())), line.from);
        assert_eq!(time, 1_700_000_000_000_000_005);
        // Nothing that is cut is taken for whole.
        (0..bytes.len()).for_each(|end| assert_eq!(parse(&bytes[..end]), None));
    }
}

/// Where the files of the stream are at its end.
struct Final(BTreeMap<Fid, Vec<Vec<u8>>>);

impl Places for Final {
    fn of(&self, fid: Fid) -> fault::Result<Vec<Vec<u8>>> {
        Ok(self.0.get(&fid).cloned().unwrap_or_default())
    }
}

fn gathered(lines: &[Line]) -> Gathered {
    let mut gathered = Gathered::default();
    lines.iter().for_each(|line| gathered.add(&parse(&encode(line)).unwrap()));
    gathered
}

fn number(object: u32) -> Fid {
    Fid { sequence: 0x2_0000_0401, object, version: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_order_of_the_records_says_the_same(seed: u64) {
        let mut lines = recorded();
        lines.push(with_rename(900));
        let first = gathered(&lines);
        fastrand::Rng::with_seed(seed).shuffle(&mut lines);
        prop_assert_eq!(first, gathered(&lines));
    }

    #[test]
    fn garbage_never_panics(bytes: Vec<u8>, at in 0usize..400, byte: u8, cut in 0usize..400) {
        let _ = (length(&bytes), parse(&bytes));
        let mut line = with_rename(1);
        (line.job, line.extra) = (Some("job".to_owned()), Some(0x1b));
        let mut whole = encode(&line);
        let at = at % whole.len();
        whole[at] = byte;
        whole.truncate(cut);
        let _ = parse(&whole);
    }
}

#[test]
fn what_is_gone_and_what_is_there_is_looked_at_where_it_is_now() {
    let (a, b, c, file) = (number(0xe), number(0xf), number(0x10), number(0x11));
    let places = Final(BTreeMap::from([
        (a, vec![b"a".to_vec()]),
        // Renamed since, with all in it.
        (b, vec![b"elsewhere".to_vec()]),
        (c, vec![b"elsewhere/c".to_vec()]),
        (file, vec![b"elsewhere/c/f".to_vec(), b"a/second".to_vec()]),
    ]));
    let mut changes = Changes::default();
    gathered(&recorded()).resolve(&places, &mut changes).unwrap();
    // A name that was made and removed, by where its directory is now; a file by all of its names.
    for path in ["elsewhere/l", "elsewhere/c/f", "a/second", "a/del", "a/b", "elsewhere/c/s", "a/new\nline"] {
        assert!(changes.covers(path.as_bytes()), "{path}");
    }
    assert!(!changes.covers(b"a/untouched") && !changes.is_everything());
}

#[test]
fn what_can_not_be_relied_on_is_a_gap() {
    let line = |index, number| encode(&Line { index, number, ..with_rename(0) });
    let read = |streams: &[Vec<u8>]| {
        let (mut last, mut gathered, mut told) = (10, Gathered::default(), Told::default());
        streams.iter().for_each(|bytes| read_one(bytes, "fs-MDT0000", &mut last, &mut gathered, &mut told));
        (told.gap, told.changes.is_everything(), last)
    };
    assert_eq!(read(&[line(11, 1), line(14, 1)]), (None, false, 14));
    for bad in [line(10, 1), line(11, 0), line(11, 1)[..70].to_vec()] {
        let (gap, everything, _) = read(&[bad]);
        assert!(gap.unwrap().contains("fs-MDT0000") && everything);
    }
}

#[test]
fn the_log_of_every_mdt_must_be_read() {
    let readers = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<Reader>>();
    let present: BTreeSet<String> = ["fs-MDT0000", "fs-MDT0001", "other-MDT0000"].map(str::to_owned).into();
    check_all_are_read(&readers(&["fs-MDT0000=cl1", "fs-MDT0001=cl2"]), &present).unwrap();
    let fault = check_all_are_read(&readers(&["fs-MDT0000=cl1"]), &present).unwrap_err();
    assert!(fault.message().contains("fs-MDT0001") && !fault.message().contains("other"), "{fault}");
    assert!(check_all_are_read(&[], &present).is_err());
    for wrong in ["", "fs-MDT0000", "fs-MDT0000=", "MDT=cl1", "fs-MDT00=cl1", "fs-OST0000=cl1"] {
        assert!(wrong.parse::<Reader>().is_err(), "{wrong}");
    }
}

#[test]
fn without_lustre_it_is_told_what_is_missing() {
    let Err(fault) = Lustre::load() else { return };
    assert!(fault.message().contains("liblustreapi") && fault.hint_text().is_some(), "{fault}");
}
