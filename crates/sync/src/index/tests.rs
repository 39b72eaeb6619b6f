//! The index beside a map in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::known::tests::{known, name};
use super::*;

/// What the index must know: directory, then name.
type Model = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Known>>;

#[derive(Debug, Clone)]
enum Act {
    Set(usize, BTreeMap<Vec<u8>, Known>),
    Remove(usize, usize),
    RemoveTree(usize),
    Fold,
}

const DIRS: [&[u8]; 7] = [b"", b"a", b"a/b", b"a/b/c", b"a!", b"a/z", b"m"];

fn act() -> impl Strategy<Value = Act> {
    let entries = proptest::collection::btree_map(name(), known(), 0..30);
    prop_oneof![
        6 => (0..DIRS.len(), entries).prop_map(|(dir, entries)| Act::Set(dir, entries)),
        2 => (0..DIRS.len(), 0usize..30).prop_map(|(dir, at)| Act::Remove(dir, at)),
        1 => (1..DIRS.len()).prop_map(Act::RemoveTree),
        2 => Just(Act::Fold),
    ]
}

fn do_both(act: &Act, model: &mut Model, parts: &mut Parts) {
    match act {
        Act::Set(dir, entries) => {
            let mut section = Section::default();
            entries.iter().for_each(|(name, known)| section.push(name, known));
            parts.done(DIRS[*dir], &section);
            model.entry(DIRS[*dir].to_vec()).or_default().extend(entries.clone());
        }
        Act::Remove(dir, at) => {
            let Some(entries) = model.get_mut(DIRS[*dir]) else { return };
            let Some(name) = entries.keys().nth(*at).cloned() else { return };
            entries.remove(&name);
            parts.gone(DIRS[*dir], &name);
        }
        Act::RemoveTree(dir) => {
            parts.tree_gone(DIRS[*dir]);
            model.retain(|other, _| !is_within(other, DIRS[*dir]));
        }
        Act::Fold => {}
    }
}

fn seen(index: Option<&Arc<Index>>) -> Model {
    let mut all = Model::new();
    let Some(index) = index else { return all };
    let mut cache = Cache::default();
    for dir in DIRS {
        let Some(mut cursor) = index.find(dir, &mut cache).unwrap() else { continue };
        while let Some((name, known)) = cursor.next().unwrap() {
            assert!(all.entry(dir.to_vec()).or_default().insert(name.to_vec(), known).is_none());
        }
    }
    all
}

fn refold(dir: &Path, index: &mut Option<Arc<Index>>, parts: &mut Parts) {
    let (journal, new, old) = (dir.join("journal"), dir.join("new"), dir.join("index"));
    Journal::open(&journal).unwrap().append(&std::mem::take(parts)).unwrap();
    fold(index.as_ref(), &journal, &new, dir).unwrap();
    std::fs::rename(new, &old).unwrap();
    std::fs::remove_file(journal).unwrap();
    *index = Index::open(&old).unwrap().map(Arc::new);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_index_knows_what_a_map_knows(acts in proptest::collection::vec(act(), 0..25)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut model, mut parts, mut index) = (Model::new(), Parts::default(), None);
        for act in acts {
            do_both(&act, &mut model, &mut parts);
            if matches!(act, Act::Fold) {
                refold(dir.path(), &mut index, &mut parts);
                model.retain(|_, entries| !entries.is_empty());
                prop_assert_eq!(&seen(index.as_ref()), &model);
            }
        }
    }
}

fn recalled(knowledge: &Knowledge) -> Model {
    let mut all = Model::new();
    for dir in DIRS {
        let Some(mut recall) = knowledge.find(dir, &mut Cache::default()).unwrap() else { continue };
        while let Some((name, known)) = recall.next().unwrap() {
            assert!(all.entry(dir.to_vec()).or_default().insert(name.to_vec(), known).is_none());
            assert_eq!(recall.name(), all[dir].last_key_value().unwrap().0);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_changed_since_is_known_before_it_is_in_the_index(acts in proptest::collection::vec(act(), 0..25)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut model, mut all, mut index) = (Model::new(), Vec::new(), None);
        let mut knowledge = Knowledge::default();
        for act in acts {
            let mut parts = Parts::default();
            do_both(&act, &mut model, &mut parts);
            knowledge.overlay().apply(&parts).unwrap();
            all.push(parts);
            if matches!(act, Act::Fold) {
                let mut journal = Journal::open(&dir.path().join("journal")).unwrap();
                all.drain(..).for_each(|parts| journal.append(&parts).unwrap());
                refold(dir.path(), &mut index, &mut Parts::default());
                knowledge = Knowledge::new(index.clone());
            }
            model.retain(|_, entries| !entries.is_empty());
            prop_assert_eq!(&recalled(&knowledge), &model);
            let inodes = model.values().flat_map(|names| names.values()).map(|known| known.inode).take(3).collect();
            let wanted: usize = model.values().flat_map(|names| names.values()).filter(|known| std::collections::HashSet::contains(&inodes, &known.inode)).count();
            let mut found = 0;
            knowledge.with_inodes(&inodes, |_, _| { found += 1; Ok(()) }).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}

#[test]
fn a_large_directory_is_read_piece_by_piece() {
    let dir = tempfile::tempdir().unwrap();
    let (mut parts, mut index) = (Parts::default(), None);
    let entry = |number: u32| (format!("file-{number:07}").into_bytes(), sample(u64::from(number)));
    // Two halves that interleave, so that they must be merged.
    for half in 0..2 {
        let mut section = Section::default();
        (0..20_000)
            .filter(|n| n % 2 == half)
            .map(entry)
            .for_each(|(name, known)| section.push(&name, &known));
        parts.done(b"large", &section);
    }
    parts.done(b"later", &Section::new(Some(itself())));
    refold(dir.path(), &mut index, &mut parts);
    let index = index.unwrap();
    assert_eq!(index.entries(), 20_000);
    assert!(index.blocks() > 2);
    let mut cursor = index.find(b"large", &mut Cache::default()).unwrap().unwrap();
    for number in 0..20_000 {
        let (name, known) = entry(number);
        assert_eq!(cursor.next().unwrap(), Some((&name[..], known)));
    }
    assert_eq!(cursor.next().unwrap(), None);
    let later = index.find(b"later", &mut Cache::default()).unwrap().unwrap();
    assert_eq!(later.itself(), Some(itself()));
    assert!(index.find(b"large/none", &mut Cache::default()).unwrap().is_none());
}

#[test]
fn damage_is_an_error_and_never_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (mut parts, mut index) = (Parts::default(), None);
    let mut section = Section::default();
    (0..2000u32).for_each(|n| section.push(format!("{n:05}").as_bytes(), &sample(u64::from(n))));
    parts.done(b"d", &section);
    refold(dir.path(), &mut index, &mut parts);
    let path = dir.path().join("index");
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(41).chain(whole.len() - 40..whole.len()) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let read = Index::open(&path).and_then(|index| read_all(&Arc::new(index.unwrap())));
        // Only the count of entries, which nothing rests on, may be wrong.
        assert!(read.is_err() || read.unwrap() == 2000, "{at}");
    }
}

fn read_all(index: &Arc<Index>) -> fault::Result<usize> {
    let Some(mut cursor) = index.find(b"d", &mut Cache::default())? else { return Ok(0) };
    let mut count = 0;
    while let Some((name, known)) = cursor.next()? {
        assert_eq!((name, known), (format!("{count:05}").as_bytes(), sample(count as u64)));
        count += 1;
    }
    Ok(count)
}

fn sample(number: u64) -> Known {
    let stamp = store::Stamp { seconds: 1_700_000_000 + number.cast_signed(), nanos: 5 };
    Known {
        kind: store::Kind::File,
        racy: false,
        linked: false,
        size: number,
        mtime: stamp,
        ctime: stamp,
        inode: number,
        mode: 0o644,
        uid: 0,
        gid: 0,
        id: Some([number as u8; 16]),
    }
}

fn itself() -> Itself {
    let stamp = store::Stamp { seconds: 1, nanos: 2 };
    Itself { mode: 0o755, uid: 1, gid: 2, mtime: stamp, ctime: stamp, inode: 9 }
}
