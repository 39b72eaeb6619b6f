//! Everything that is read is read again, and what others made of it is refused.

use std::collections::BTreeMap;

use chunk::Id;
use proptest::prelude::*;
use store::objects::Labels;
use store::{Kind, Stamp};

use super::pack::put_row;
use super::*;
use crate::objects::labels::Posix;
use crate::objects::scan::place_of;

fn piece(number: u64, length: u32) -> Piece {
    Piece { id: Id::of(&number.to_le_bytes()), length }
}

fn stamp() -> impl Strategy<Value = Stamp> {
    (any::<i64>(), 0u32..1_000_000_000).prop_map(|(seconds, nanos)| Stamp { seconds, nanos })
}

fn content() -> impl Strategy<Value = Content> {
    let id = any::<u64>().prop_map(|number| Id::of(&number.to_le_bytes()));
    let pieces = proptest::collection::vec((any::<u64>(), 1u32..1 << 20), 0..5);
    let pieces = pieces.prop_map(|some| some.into_iter().map(|(n, length)| piece(n, length)).collect());
    let lists = proptest::collection::vec((any::<u64>(), 1u32..1 << 20, 1u64..1 << 40), 0..4);
    let lists = lists.prop_map(|some| {
        some.into_iter().map(|(n, length, content)| Lists { list: piece(n, length), content }).collect()
    });
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..90).prop_map(Content::Inline),
        (id.clone(), pieces).prop_map(|(id, pieces): (Id, Vec<Piece>)| {
            let id = if let [one] = pieces[..] { one.id } else { id };
            Content::Chunks(id, pieces)
        }),
        (id, lists).prop_map(|(id, lists)| Content::Lists(id, lists)),
    ]
}

fn size_of(content: &Content) -> u64 {
    match content {
        Content::Inline(bytes) => bytes.len() as u64,
        Content::Chunks(_, pieces) => pieces.iter().map(|piece| u64::from(piece.length)).sum(),
        Content::Lists(_, lists) => lists.iter().map(|list| list.content).sum(),
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    let name = proptest::collection::vec(any::<u8>(), 1..9).prop_filter("a name", |name| {
        !name.contains(&0) && !name.contains(&b'/') && name != b"." && name != b".."
    });
    let path = proptest::collection::vec(name, 1..4).prop_map(|names| names.join(&b'/'));
    let kinds = [Kind::File, Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::CharDevice, Kind::BlockDevice];
    let named = proptest::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3);
    let facts = (0usize..6, any::<Option<(u32, u32)>>(), proptest::option::of(0u32..0o10000), named);
    let more = (any::<bool>(), any::<Option<[u8; 8]>>(), any::<u64>(), proptest::option::of(stamp()));
    let others = proptest::collection::btree_map(".{0,6}", ".{0,6}", 0..3);
    (path, facts, more, others, stamp(), content()).prop_map(
        move |(path, (kind, owner, mode, named), (sparse, group, node, mtime), others, modified, content)| {
            let atime = mtime;
            let bare = Posix::bare(kinds[kind]);
            let posix = Posix { mode, owner, mtime, atime, node, sparse, group, named, ..bare };
            let others: Labels = others.into_iter().collect::<BTreeMap<_, _>>();
            Entry { path, posix, others, modified, size: size_of(&content), content }
        },
    )
}

fn block(mut entries: Vec<Entry>) -> (Vec<u8>, BlockAt, Vec<Entry>) {
    entries.sort_by_key(|entry| place_of(&entry.path));
    entries.dedup_by_key(|entry| place_of(&entry.path));
    let mut builder = BlockBuilder::default();
    for entry in &entries {
        builder.push(entry);
    }
    let (bytes, at) = builder.finish();
    (bytes, at, entries)
}

fn pack() -> (Vec<u8>, Vec<Row>, Vec<Vec<u8>>) {
    let mut builder = PackBuilder::default();
    let contents: Vec<Vec<u8>> = vec![vec![7; 5000], (0..200).collect(), b"x".to_vec()];
    for content in &contents {
        let packed = pack_bytes(content).unwrap();
        let stored = packed.as_deref().map_or((&content[..], false), |packed| (packed, true));
        builder.push(Id::of(content), content.len() as u32, stored);
    }
    let (bytes, rows) = builder.finish();
    (bytes, rows, contents)
}

fn manifest() -> Manifest {
    let (_, at, _) = block(Vec::new());
    let blocks = (1..5u8).map(|n| BlockAt { first: vec![n, 0, 0].into(), ..at.clone() }).collect();
    let leaving = vec![[3; 16], [9; 16]];
    Manifest { sequence: 77, entries: 3, content: 9, leaving, blocks, ..Manifest::default() }
}

/// As somebody would who can write the store: damaged, and sealed again.
fn sealed_again(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let magic: [u8; 8] = *bytes.first_chunk().unwrap();
    let mut body = sealed::unseal(magic, bytes, 1 << 20, "it").unwrap();
    change(&mut body);
    sealed::seal(magic, &body).unwrap()
}

fn damage(bytes: &mut Vec<u8>, (place, byte, cut): (usize, u8, bool)) {
    if bytes.is_empty() {
        return;
    }
    let place = place % bytes.len();
    if cut { bytes.truncate(place) } else { bytes[place] ^= byte }
}

fn damages() -> impl Strategy<Value = (usize, u8, bool)> {
    (any::<usize>(), 1u8.., proptest::bool::weighted(0.2))
}

proptest! {
    #[test]
    fn entries_are_read_again(entries in proptest::collection::vec(entry(), 0..12)) {
        let (bytes, at, entries) = block(entries);
        prop_assert_eq!(read_block(&bytes, &at).unwrap(), entries.clone());
        for entry in entries {
            prop_assert_eq!(Entry::of_alone(&entry.alone()).unwrap(), entry);
        }
    }

    #[test]
    fn damaged_entries_never_panic(
        entries in proptest::collection::vec(entry(), 1..6),
        harm in proptest::collection::vec(damages(), 1..4),
    ) {
        let (mut bytes, at, _) = block(entries);
        harm.into_iter().for_each(|harm| damage(&mut bytes, harm));
        for entry in read_block(&bytes, &at).unwrap_or_default() {
            let is_path = entry.path.is_empty() || crate::objects::side::is_path(&entry.path);
            prop_assert!(is_path && size_of(&entry.content) == entry.size);
        }
    }

    #[test]
    fn no_bytes_make_any_reader_panic(bytes: Vec<u8>) {
        let (_, at, _) = block(Vec::new());
        let _ = (read_block(&bytes, &at), Entry::of_alone(&bytes), Manifest::read(&bytes, 1));
        let _ = (read_listing(&bytes), read_footer(&bytes, bytes.len() as u64), footer_length(&bytes));
        let _ = (Piece::of_list(&bytes, 5), Marker::read(&bytes, "memory://"));
        for magic in [*b"fbmanf01", *b"fbcidx01"] {
            let sealed = sealed::seal(magic, &bytes).unwrap();
            let _ = (read_listing(&sealed), Manifest::read(&sealed, 1));
        }
    }

    #[test]
    fn damaged_manifests_never_panic(harm in damages()) {
        let bytes = manifest().encode().unwrap();
        let _ = Manifest::read(&sealed_again(&bytes, |body| damage(body, harm)), 77);
        let mut plain = bytes.clone();
        damage(&mut plain, harm);
        prop_assert!(Manifest::read(&plain, 77).is_err());
    }

    #[test]
    fn damaged_packs_never_panic_and_never_give_other_content(harm in damages()) {
        let (bytes, rows, contents) = pack();
        let listing = encode_listing(&[PackRows { name: [1; 16], size: bytes.len() as u64, rows: rows.clone() }]);
        let _ = read_listing(&sealed_again(&listing.unwrap(), |body| damage(body, harm)));
        let mut damaged = bytes.clone();
        damage(&mut damaged, harm);
        for (row, content) in rows.iter().zip(contents) {
            let end = (row.offset + row.stored) as usize;
            if let Some(found) = damaged.get(row.offset as usize..end).and_then(|bytes| unpack(row, bytes)) {
                prop_assert_eq!(found, content);
            }
        }
        let start = damaged.len().saturating_sub(TAIL + 41 * 3);
        let _ = read_footer(&damaged[start..], damaged.len() as u64);
    }
}

#[test]
fn packs_and_manifests_are_read_again() {
    let (bytes, rows, contents) = pack();
    let length = footer_length(&bytes[bytes.len() - TAIL..]).unwrap();
    let footer = &bytes[bytes.len() - TAIL - length..];
    assert_eq!(read_footer(footer, bytes.len() as u64).unwrap(), rows);
    assert!(read_footer(footer, bytes.len() as u64 + 1).is_err());
    for (row, content) in rows.iter().zip(contents) {
        assert_eq!(
            unpack(row, &bytes[row.offset as usize..(row.offset + row.stored) as usize]),
            Some(content)
        );
    }
    let packs = vec![PackRows { name: [1; 16], size: bytes.len() as u64, rows }];
    assert_eq!(read_listing(&encode_listing(&packs).unwrap()).unwrap(), packs);
    let manifest = manifest();
    assert_eq!(Manifest::read(&manifest.encode().unwrap(), 77).unwrap(), manifest);
    assert!(Manifest::read(&manifest.encode().unwrap(), 78).is_err());
    assert_eq!(Manifest::number(&Manifest::key(77)), Some(77));
    assert_eq!(Manifest::number("manifests/77"), None);
}

#[test]
fn paths_that_lead_out_are_damage() {
    let good = Entry {
        path: b"a".to_vec(),
        posix: Posix::bare(Kind::File),
        others: Labels::new(),
        modified: Stamp::default(),
        size: 1,
        content: Content::Inline(vec![1]),
    };
    for path in [&b".."[..], b"../a", b"a/../b", b"/a", b"a//b", b"a/", b".", b"a\0b", b""] {
        let entry = Entry { path: path.to_vec(), ..good.clone() };
        assert!(Entry::of_alone(&entry.alone()).is_err(), "{path:?}");
    }
    let lies = [
        Entry { size: 2, ..good.clone() },
        Entry {
            content: Content::Chunks(Id::of(b""), vec![piece(1, 5), piece(2, u32::MAX)]),
            ..good.clone()
        },
        Entry { posix: Posix { mode: Some(0o100_644), ..good.posix.clone() }, ..good.clone() },
    ];
    for entry in lies {
        assert!(Entry::of_alone(&entry.alone()).is_err(), "{entry:?}");
    }
    assert!(Entry::of_alone(&good.alone()).is_ok());
}

#[test]
fn sizes_that_lie_allocate_nothing() {
    // A listing of four thousand million rows in a few bytes, and a megabyte of zeros that claims to be a manifest.
    let mut body = vec![1; 16];
    crate::index::wire::put(&mut body, 99);
    crate::index::wire::put(&mut body, u64::from(u32::MAX));
    assert!(read_listing(&sealed::seal(*b"fbcidx01", &body).unwrap()).is_err());
    let zeros = sealed::seal(*b"fbcidx01", &vec![0; 64 << 20]).unwrap();
    assert!(zeros.len() < 1 << 20 && read_listing(&zeros).is_err());
    let row = Row { id: Id::of(b""), offset: 0, stored: 5, length: MOST_PIECE + 1, compressed: true };
    let mut rows = Vec::new();
    put_row(&mut rows, &row);
    assert!(super::pack::take_rows(&mut &rows[..], 1, 8 + 5 + 41 + TAIL as u64).is_err());
}

#[test]
fn a_marker_says_what_it_is_and_nothing_else() {
    let text = Marker::default().encode();
    assert_eq!(Marker::read(&text, "memory://").unwrap(), Marker::default());
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches(':').count(), 3, "{text}");
    for (from, to) in
        [("\"version\": 1", "\"version\": 2"), ("1048576", "1000"), ("forebay chunk store", "other")]
    {
        let fault = Marker::read(text.replace(from, to).as_bytes(), "memory://").unwrap_err();
        assert!(fault.message().contains("memory://forebay-chunks.json") && fault.hint_text().is_some());
    }
}
