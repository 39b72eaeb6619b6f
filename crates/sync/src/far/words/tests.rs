use proptest::prelude::*;

use store::objects::{Bytes, Object};
use store::{Extended, Stamp};

use super::super::content::{Compress, Press};
use super::*;
use crate::objects::{Joining, Moving};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..40)
}

fn labels() -> impl Strategy<Value = Labels> {
    proptest::collection::btree_map(".{0,8}", ".{0,8}", 0..4)
}

fn content() -> impl Strategy<Value = Bytes> {
    prop_oneof![bytes(), Just(vec![0; 5000])].prop_map(Bytes::from)
}

fn asked() -> impl Strategy<Value = Ask> {
    let list = || proptest::collection::vec(bytes(), 0..4);
    let opening =
        (bytes(), ".{0,9}", any::<[bool; 4]>(), ".{0,9}").prop_map(|(path, shown, flags, drafts)| {
            let [writes, locks, acls, others] = flags;
            let extended = Extended { acls, others };
            let compress = Compress::Zstd;
            Ask::Open(Opening { path, shown, writes, locks, drafts, extended, compress })
        });
    let wanted =
        (any::<[bool; 3]>(), bytes()).prop_map(|([filtered, special_files, cross_mounts], filter)| {
            Ask::List(Wanted { filtered, special_files, cross_mounts, filter })
        });
    prop_oneof![
        Just(Ask::Beat),
        Just(Ask::Sync),
        opening,
        wanted,
        bytes().prop_map(Ask::Look),
        (proptest::collection::vec((bytes(), bytes()), 0..4), any::<u64>())
            .prop_map(|(paths, most)| Ask::Whole(paths, most)),
        (bytes(), any::<(u64, u64)>(), ".{0,9}").prop_map(|(path, (from, to), tag)| Ask::Read {
            path,
            from,
            to,
            tag
        }),
        (bytes(), labels(), content()).prop_map(|(path, labels, content)| Ask::Write {
            path,
            labels,
            content
        }),
        (any::<(u64, bool)>(), bytes()).prop_map(|((upload, from_old), path)| Ask::Begin {
            upload,
            path,
            from_old
        }),
        any::<(u64, u64, u64, u64)>().prop_map(|(upload, from, at, length)| Ask::Copy {
            upload,
            from,
            at,
            length
        }),
        (bytes(), any::<(u64, u64)>(), ".{0,9}").prop_map(|(path, (from, to), tag)| Ask::Sums {
            path,
            from,
            to,
            tag
        }),
        (bytes(), any::<u64>(), ".{0,9}").prop_map(|(path, average, tag)| Ask::Chunks { path, average, tag }),
        (any::<(u64, u64, bool)>(), content()).prop_map(|((upload, at, sparse), content)| Ask::Part {
            upload,
            at,
            sparse,
            content
        }),
        (any::<(u64, u64)>(), bytes(), bytes(), labels())
            .prop_map(|((upload, size), path, id, labels)| Ask::End { upload, path, size, id, labels }),
        any::<u64>().prop_map(|upload| Ask::Discard { upload }),
        bytes().prop_map(Ask::Directory),
        (bytes(), bytes()).prop_map(|(from, to)| Ask::Link(from, to)),
        proptest::collection::vec((bytes(), labels()), 0..4).prop_map(Ask::Finish),
        (bytes(), list()).prop_map(|(trash, paths)| Ask::Delete { trash, paths }),
        proptest::collection::vec((bytes(), bytes(), any::<(u64, i64, u32, [bool; 2])>(), labels()), 0..3)
            .prop_map(|all| {
                type Parts = (Vec<u8>, Vec<u8>, (u64, i64, u32, [bool; 2]), Labels);
                let moving = |(from, to, (size, seconds, nanos, [goes, shared]), labels): Parts| Moving {
                    id: from.clone(),
                    from,
                    to,
                    size,
                    mtime: Stamp { seconds, nanos },
                    goes,
                    shared,
                    labels,
                };
                Ask::Rename(all.into_iter().map(moving).collect())
            }),
        proptest::collection::vec((bytes(), bytes(), any::<(u64, i64)>()), 0..3).prop_map(|all| {
            let joining = |(from, to, (size, seconds))| Joining { from, to, size, seconds };
            Ask::Join(all.into_iter().map(joining).collect())
        }),
        bytes().prop_map(Ask::Hash),
        list().prop_map(Ask::Clean),
        list().prop_map(Ask::Sweep),
        (any::<u64>(), bytes()).prop_map(|(upload, path)| Ask::GoOn { upload, path }),
        any::<(u64, u64, u64)>().prop_map(|(upload, from, to)| Ask::Kept { upload, from, to }),
    ]
}

proptest! {
    #[test]
    fn questions_arrive_as_they_were_asked(ask in asked()) {
        let (mut head, tail) = ask.written(&Press::default());
        head.extend_from_slice(&tail);
        prop_assert_eq!(Ask::read(&head).unwrap(), ask);
    }

    #[test]
    fn no_bytes_panic_as_questions_or_answers(bytes: Vec<u8>) {
        let _ = Ask::read(&bytes);
        let _ = Opened::take(&bytes);
        let _ = Listed::take(&bytes);
        let _ = take_object(&mut &bytes[..], "k");
        let _ = take_outcome(&mut &bytes[..]);
        let _ = Words::take(&mut &bytes[..]);
    }

    #[test]
    fn questions_that_are_cut_or_damaged_never_panic(ask in asked(), at: usize, byte: u8) {
        let (mut head, tail) = ask.written(&Press::default());
        head.extend_from_slice(&tail);
        let at = at % head.len().max(1);
        let _ = Ask::read(&head[..at]);
        head[at] = byte;
        let _ = Ask::read(&head);
    }
}

#[test]
fn failures_arrive_with_all_their_answers() {
    for fault in [
        Fault::new(Kind::NoSpace, "no room").hint("make some"),
        Fault::new(Kind::Denied, "not allowed"),
        store::objects::changed("x", "y"),
    ] {
        let mut out = Vec::new();
        put_outcome(&mut out, Err(Fault::new(fault.kind(), fault.message().to_owned())));
        assert!(take_outcome(&mut &out[..]).unwrap().is_err());
        let again = Words::of(&fault).fault();
        assert_eq!(again.kind(), fault.kind());
        assert_eq!(store::objects::is_changed(&again), store::objects::is_changed(&fault));
        assert!(again.message().contains(fault.message().split('`').next().unwrap_or_default()));
    }
    let mut out = Vec::new();
    put_outcome(&mut out, Ok(b"fine".to_vec()));
    assert_eq!(take_outcome(&mut &out[..]).unwrap().unwrap(), b"fine");
}

#[test]
fn looks_arrive_as_they_were() {
    let object = Object {
        key: "k".to_owned(),
        size: 7,
        tag: "t".to_owned(),
        modified: Stamp { seconds: -3, nanos: 9 },
        labels: Some(Labels::from([("a".to_owned(), "b".to_owned())])),
    };
    let mut out = Vec::new();
    put_object(&mut out, &object);
    assert_eq!(take_object(&mut &out[..], "k").unwrap(), object);
}
