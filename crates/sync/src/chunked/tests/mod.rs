//! A chunk store in memory: broken at every call, written by several at once, pruned while others write.

mod plain;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fault::Kind as FaultKind;
use store::objects::{Bytes, Depth, Faulty, Labels, Memory, ObjectStore, Plan};

use self::plain::Plain;
use super::{ChunkStore, Chunked, Found, Opening, Role, open};
use crate::options::{Layout, Options};

type Tree = BTreeMap<String, Vec<u8>>;

fn opened(store: Box<dyn ObjectStore>, role: Role) -> fault::Result<Arc<Chunked>> {
    let layout = (role == Role::Destination).then_some(Layout::Chunks);
    let (options, stop) = (Options::default(), Arc::new(AtomicBool::new(false)));
    match open(Opening { store, role, layout, options: &options, stop })? {
        Found::Chunks(chunked) => Ok(chunked),
        Found::Files(store) => panic!("{store:?} is no chunk store"),
    }
}

fn writer(memory: &Arc<Memory>) -> Arc<Chunked> {
    opened(Box::new(memory.clone()), Role::Destination).unwrap()
}

/// The tree that a store has, every byte of it.
fn tree(memory: &Arc<Memory>) -> Tree {
    let chunked = match opened(Box::new(memory.clone()), Role::Source) {
        Ok(chunked) => chunked,
        Err(fault) => panic!("{fault}"),
    };
    let (mut entries, mut found) = (chunked.all(), Tree::new());
    while let Some(some) = entries.next(&chunked).unwrap() {
        for entry in some {
            let content = chunked.content(&entry.content, 0..entry.size).unwrap();
            found.insert(String::from_utf8(entry.path).unwrap(), content.to_vec());
        }
    }
    found
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

fn write(chunked: &Arc<Chunked>, tree: &Tree) -> fault::Result<()> {
    let store = ChunkStore(chunked.clone());
    for (name, content) in tree {
        store.write(name, Bytes::from(content.clone()), &Labels::new())?;
    }
    Ok(())
}

fn write_all(chunked: &Arc<Chunked>, tree: &Tree) -> fault::Result<()> {
    write(chunked, tree)?;
    chunked.commit()
}

fn some(seed: u64) -> Tree {
    let files = [("a", 0usize), ("b/c", 50), ("b/d", 3000), ("e", 5_000_000), ("f", 97)];
    files.iter().map(|(name, length)| ((*name).to_owned(), noise(*length, seed + *length as u64))).collect()
}

fn count(memory: &Arc<Memory>, below: &str) -> usize {
    let mut count = 0;
    let each = &mut |_| {
        count += 1;
        Ok(())
    };
    memory.list(below, Depth::All, each).unwrap();
    count
}

#[test]
fn a_tree_is_read_as_it_was_written_and_changed() {
    let memory = Arc::new(Memory::default());
    write_all(&writer(&memory), &some(1)).unwrap();
    assert_eq!(tree(&memory), some(1));
    let chunked = writer(&memory);
    let store = ChunkStore(chunked.clone());
    store.delete(&["a".to_owned()]).unwrap();
    store.write("b/x", Bytes::from_static(b"new"), &Labels::new()).unwrap();
    let mut upload = store.begin("e", &Labels::new(), 4).unwrap();
    let large = noise(9_000_000, 8);
    large.chunks(1_000_003).for_each(|part| upload.part(Bytes::copy_from_slice(part)).unwrap());
    upload.finish().unwrap();
    // Until it is committed, the tree is as it was.
    assert_eq!(tree(&memory), some(1));
    chunked.commit().unwrap();
    let mut expected = some(1);
    expected.remove("a");
    expected.insert("b/x".to_owned(), b"new".to_vec());
    expected.insert("e".to_owned(), large);
    assert_eq!(tree(&memory), expected);
    // What becomes a file takes with it what was below it.
    let chunked = writer(&memory);
    let store = ChunkStore(chunked.clone());
    store.write("b/", Bytes::new(), &Labels::new()).unwrap();
    chunked.commit().unwrap();
    let chunked = writer(&memory);
    let store = ChunkStore(chunked.clone());
    store.delete(&["b/".to_owned()]).unwrap();
    store.write("b", Bytes::from_static(b"file"), &Labels::new()).unwrap();
    chunked.commit().unwrap();
    let names: Vec<String> = tree(&memory).into_keys().collect();
    assert_eq!(names, ["b", "e", "f"]);
}

#[test]
fn a_long_list_of_chunks_stands_apart() {
    let memory = Arc::new(Memory::default());
    let text = super::Marker { average: 4096 }.encode();
    memory.write("forebay-chunks.json", text.into(), &Labels::new()).unwrap();
    let chunked = writer(&memory);
    let store = ChunkStore(chunked.clone());
    let content = noise(20_000_000, 3);
    let mut upload = store.begin("large", &Labels::new(), 1).unwrap();
    content.chunks(700_001).for_each(|part| upload.part(Bytes::copy_from_slice(part)).unwrap());
    upload.finish().unwrap();
    chunked.commit().unwrap();
    let entry = chunked.find(b"large").unwrap().unwrap();
    assert!(matches!(entry.content, super::format::Content::Lists(..)), "{:?}", entry.content);
    for range in [0..1, 5_000_000..5_000_001, 9_999_990..10_500_000, 19_999_999..20_000_000] {
        let found = store.read("large", range.clone(), None).unwrap();
        assert_eq!(found, content[range.start as usize..range.end as usize]);
    }
    // A byte at the front: the list's first piece is another, the rest is there.
    chunked.take_passed();
    let chunked = writer(&memory);
    let store = ChunkStore(chunked.clone());
    let longer = [&b"x"[..], &content].concat();
    store.write("large", longer.clone().into(), &Labels::new()).unwrap();
    chunked.commit().unwrap();
    let [sent, ..] = chunked.take_passed();
    assert!(sent < 200_000, "{sent}");
    assert_eq!(tree(&memory)["large"], longer);
}

/// A change of the tree, broken at every call that it makes.
#[test]
fn a_failure_of_any_call_leaves_the_old_tree_or_the_new() {
    // One call fails, one is done but not heard of, all fail from there on as after a kill.
    for (answer_lost, count) in [(false, 1), (true, 1), (false, u64::MAX)] {
        for from in 0.. {
            let memory = Arc::new(Memory::default());
            write_all(&writer(&memory), &some(1)).unwrap();
            let plan = Plan { from: Some(from), count, temporary: false, answer_lost };
            let faulty = Arc::new(Faulty::new(memory.clone(), plan));
            let done = opened(Box::new(faulty.clone()), Role::Destination)
                .and_then(|chunked| write_all(&chunked, &some(2)));
            let now = tree(&memory);
            assert!(now == some(1) || now == some(2), "call {from}");
            assert!(done.is_err() || now == some(2), "call {from}");
            // The next one gets there, whatever was left.
            write_all(&writer(&memory), &some(2)).unwrap();
            assert_eq!(tree(&memory), some(2), "call {from}");
            if faulty.calls() <= from {
                assert!(from > 8, "only {from} calls");
                break;
            }
        }
    }
}

#[test]
fn pruning_that_fails_at_any_call_loses_nothing_that_is_kept() {
    for from in 0.. {
        let memory = Arc::new(Memory::default());
        for seed in 1..4 {
            write_all(&writer(&memory), &some(seed)).unwrap();
        }
        let plan = Plan { from: Some(from), count: u64::MAX, temporary: false, answer_lost: false };
        let faulty = Arc::new(Faulty::new(memory.clone(), plan));
        let done =
            opened(Box::new(faulty.clone()), Role::Destination).and_then(|chunked| chunked.prune(1, false));
        assert_eq!(tree(&memory), some(3), "call {from}");
        // Whoever writes now must not build on what was going.
        write_all(&writer(&memory), &some(1)).unwrap();
        assert_eq!(tree(&memory), some(1), "call {from}");
        writer(&memory).prune(1, false).unwrap();
        assert_eq!(tree(&memory), some(1), "call {from}");
        assert_eq!((count(&memory, "manifests/"), count(&memory, "index/")), (1, 1), "call {from}");
        if done.is_ok() {
            return;
        }
    }
}

#[test]
fn of_two_writers_one_wins_and_the_other_is_told() {
    let memory = Arc::new(Memory::default());
    write_all(&writer(&memory), &some(1)).unwrap();
    let (one, two) = (writer(&memory), writer(&memory));
    write(&one, &some(2)).unwrap();
    write(&two, &some(3)).unwrap();
    two.commit().unwrap();
    let fault = one.commit().unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Refused);
    assert!(fault.message().contains("somebody else wrote manifest 2") && fault.hint_text().is_some());
    assert_eq!(tree(&memory), some(3));
    // What it sent is found.
    let again = writer(&memory);
    write_all(&again, &some(2)).unwrap();
    let [sent, ..] = again.take_passed();
    assert!(sent < 5000, "{sent}");
    assert_eq!(tree(&memory), some(2));
}

#[test]
fn pruning_beside_a_writer_takes_nothing_from_it() {
    let memory = Arc::new(Memory::default());
    for seed in [1, 2] {
        write_all(&writer(&memory), &some(seed)).unwrap();
    }
    // This one finds the content of the first tree there, and counts on it.
    let beside = writer(&memory);
    write(&beside, &some(1)).unwrap();
    writer(&memory).prune(1, false).unwrap();
    assert_eq!(beside.commit().unwrap_err().kind(), FaultKind::Refused);
    assert_eq!(tree(&memory), some(2));
    // And the other way round: who writes first is not pruned away.
    let pruner = writer(&memory);
    write_all(&writer(&memory), &some(4)).unwrap();
    assert!(pruner.prune(1, false).is_err());
    assert_eq!(tree(&memory), some(4));
}

#[test]
fn what_is_leaving_is_sent_again_before_it_is_gone() {
    let memory = Arc::new(Memory::default());
    for seed in [1, 2] {
        write_all(&writer(&memory), &some(seed)).unwrap();
    }
    // It stops between saying what goes and removing it.
    let from = Some(calls_until_leaving(&memory));
    let plan = Plan { from, count: u64::MAX, temporary: false, answer_lost: false };
    let faulty = Faulty::new(memory.clone(), plan);
    opened(Box::new(faulty), Role::Destination).unwrap().prune(1, false).unwrap_err();
    let chunked = writer(&memory);
    assert!(!chunked.base().leaving.is_empty());
    write_all(&chunked, &some(1)).unwrap();
    let [sent, ..] = chunked.take_passed();
    assert!(sent > 5_000_000, "{sent}");
    assert!(!chunked.base().leaving.is_empty());
    writer(&memory).prune(1, false).unwrap();
    assert_eq!(tree(&memory), some(1));
}

/// How many calls a pruning makes before it removes anything.
fn calls_until_leaving(memory: &Arc<Memory>) -> u64 {
    for from in 0.. {
        let copy = copy_of(memory);
        let plan = Plan { from: Some(from), count: u64::MAX, temporary: false, answer_lost: false };
        let faulty = Box::new(Faulty::new(copy.clone(), plan));
        let _ = opened(faulty, Role::Destination).and_then(|chunked| chunked.prune(1, false));
        if !writer(&copy).base().leaving.is_empty() {
            return from;
        }
    }
    0
}

fn copy_of(memory: &Arc<Memory>) -> Arc<Memory> {
    let (copy, mut keys) = (Arc::new(Memory::default()), Vec::new());
    let each = &mut |object: store::objects::Object| {
        keys.push(object.key);
        Ok(())
    };
    memory.list("", Depth::All, each).unwrap();
    for key in keys {
        let (_, bytes) = memory.read_whole(&key, u64::MAX).unwrap();
        copy.write(&key, bytes, &Labels::new()).unwrap();
    }
    copy
}

#[test]
fn a_store_without_conditions_is_written_with_care_and_not_pruned() {
    let memory = Arc::new(Memory::default());
    let plain = || opened(Box::new(Plain(memory.clone())), Role::Destination).unwrap();
    write_all(&plain(), &some(1)).unwrap();
    let (one, two) = (plain(), plain());
    write_all(&one, &some(2)).unwrap();
    assert_eq!(write_all(&two, &some(3)).unwrap_err().kind(), FaultKind::Refused);
    assert_eq!(tree(&memory), some(2));
    assert_eq!(plain().prune(1, false).unwrap_err().kind(), FaultKind::Unsupported);
}

#[test]
fn a_list_that_repeats_itself_is_read_piece_by_piece() {
    // An entry of a few hundred bytes that says it has a thousand million chunks.
    let memory = Arc::new(Memory::default());
    let chunked = writer(&memory);
    let piece = chunked.keep(super::packer::Of::Files, &noise(1000, 1)).unwrap();
    let list = super::format::Piece::list(&vec![piece; 100_000]);
    let list = chunked.keep(super::packer::Of::Tree, &list).unwrap();
    let lists = vec![super::format::Lists { list, content: 100_000_000 }; 10_000];
    let content = super::format::Content::Lists(chunk::Id::of(b""), lists);
    chunked.flush().unwrap();
    let at = 999_999_000_000;
    let (first, pieces) = chunked.pieces(&content, &(at..at + 1500)).unwrap();
    assert_eq!((first, pieces.len()), (at, 2));
    let found = chunked.content(&content, at + 500..at + 1500).unwrap();
    assert_eq!(found, [&noise(1000, 1)[500..], &noise(1000, 1)[..500]].concat());
}
