//! One suite over every object store: in memory, and real servers on loopback. What a store says it can't do is checked to be
//! refused before the call.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::Arc;
use std::time::Duration;

use fault::Kind;
use store::objects::{
    Bytes, Counted, Depth, Faulty, Labels, Location, Memory, Object, ObjectStore, Plan, Retrying, Settings,
    connect_as, is_changed, is_taken, key_of,
};
use testkit::servers::{self, Proxy, Server, Trouble};

const PATIENT: Settings = Settings { timeout: Duration::from_secs(20), tries: 4 };

fn open(server: &Server, prefix: &str) -> Box<dyn ObjectStore> {
    let location: Location = format!("{}{prefix}", server.url).parse().unwrap();
    connect_as(&location, PATIENT, &|name| server.look_up(name)).unwrap()
}

fn through(server: &Server, proxy: &Proxy, prefix: &str, settings: Settings) -> Box<dyn ObjectStore> {
    let location: Location = format!("{}{prefix}", server.url).parse().unwrap();
    let variables = server.variables_through(proxy);
    let found = |name: &str| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    connect_as(&location, settings, &found).unwrap()
}

fn listed(store: &dyn ObjectStore, prefix: &str, depth: Depth) -> Vec<Object> {
    let mut all = Vec::new();
    store
        .list(prefix, depth, &mut |object| {
            all.push(object);
            Ok(())
        })
        .unwrap();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    all
}

fn keys(store: &dyn ObjectStore, prefix: &str, depth: Depth) -> Vec<String> {
    listed(store, prefix, depth).into_iter().map(|object| object.key).collect()
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn text(length: usize) -> Bytes {
    (0..length).map(|at| (at % 251) as u8).collect::<Vec<_>>().into()
}

fn suite(store: &dyn ObjectStore) {
    whole_objects(store);
    odd_keys(store);
    listing(store);
    parts(store);
    if store.abilities().labels {
        labels_stay(store);
    }
    if store.abilities().tied_reads {
        reads_are_tied(store);
    }
    if store.abilities().copies {
        copies(store);
    }
    if store.abilities().takes_parts {
        parts_are_taken(store);
    } else {
        let mut upload = store.begin("taken/to", &Labels::new(), 1).unwrap();
        assert_eq!(upload.part_of("taken/from", 0..9, "\"1\"").unwrap_err().kind(), Kind::Unsupported);
        upload.discard();
    }
    writes_new(store);
}

fn writes_new(store: &dyn ObjectStore) {
    if !store.abilities().writes_new {
        assert_eq!(store.write_new("new", text(5)).unwrap_err().kind(), Kind::Unsupported);
        return;
    }
    store.write_new("new", text(5)).unwrap();
    let fault = store.write_new("new", text(6)).unwrap_err();
    assert!(is_taken(&fault) && !fault.may_retry(), "{fault}");
    assert_eq!(store.read_whole("new", 100).unwrap().1, text(5));
    store.delete(&["new".to_owned()]).unwrap();
    store.write_new("new", text(7)).unwrap();
    assert_eq!(store.read_whole("new", 100).unwrap().1, text(7));
    store.delete(&["new".to_owned()]).unwrap();
}

fn whole_objects(store: &dyn ObjectStore) {
    let none = Labels::new();
    assert_eq!(store.stat("whole/none").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(store.read("whole/none", 0..1, None).unwrap_err().kind(), Kind::NotFound);
    store.delete(&["whole/none".to_owned()]).unwrap();
    for length in [0usize, 1, 70_000] {
        let tag = store.write("whole/object", text(length), &none).unwrap();
        let object = store.stat("whole/object").unwrap();
        assert_eq!((object.size, object.key.as_str()), (length as u64, "whole/object"));
        if store.abilities().tags {
            assert!(!object.tag.is_empty() && (tag.is_empty() || tag == object.tag), "{tag} {object:?}");
        }
        let (found, bytes) = store.read_whole("whole/object", 1 << 20).unwrap();
        assert_eq!((bytes, found.size), (text(length), length as u64));
        assert_eq!(store.read("whole/object", 0..length as u64, None).unwrap(), text(length));
    }
    assert_eq!(store.read("whole/object", 100..200, None).unwrap(), text(70_000).slice(100..200));
    assert_eq!(store.read("whole/object", 69_999..70_000, None).unwrap(), text(70_000).slice(69_999..));
    assert!(store.read("whole/object", 69_999..70_010, None).is_err());
    assert!(store.read_whole("whole/object", 10).is_err());
    store.delete(&["whole/object".to_owned(), "whole/none".to_owned()]).unwrap();
    assert_eq!(store.stat("whole/object").unwrap_err().kind(), Kind::NotFound);
}

fn odd_keys(store: &dyn ObjectStore) {
    let names: [&[u8]; 14] = [
        b"plain",
        b"with blank",
        b" blanks ",
        b"#%23?&=+;,@!$'()*~",
        b"100%",
        b"%41",
        b"back\\slash",
        b"line\nbreak",
        b"\xff\xfe",
        b"end.",
        "NFC-\u{e9} NFD-e\u{301} \u{1f600}".as_bytes(),
        b"Case",
        b"case",
        b"<&>\"",
    ];
    for (number, name) in names.iter().enumerate() {
        let key = key_of(&[b"odd/", *name].concat(), ".forebay");
        store.write(&key, text(number), &Labels::new()).unwrap();
    }
    let mut expected: Vec<String> =
        names.iter().map(|name| key_of(&[b"odd/", *name].concat(), ".forebay")).collect();
    expected.sort();
    assert_eq!(keys(store, "odd/", Depth::All), expected);
    for (number, name) in names.iter().enumerate() {
        let key = key_of(&[b"odd/", *name].concat(), ".forebay");
        assert_eq!(store.read_whole(&key, 100).unwrap().1, text(number), "{key}");
        assert_eq!(store.stat(&key).unwrap().size, number as u64, "{key}");
    }
    store.delete(&expected).unwrap();
    assert_eq!(keys(store, "odd/", Depth::All), Vec::<String>::new());
}

fn listing(store: &dyn ObjectStore) {
    let names = ["list/a", "list/b/c", "list/b/d/e", "list/b!", "list/z"];
    names.iter().for_each(|key| drop(store.write(key, text(3), &Labels::new()).unwrap()));
    assert_eq!(keys(store, "list/", Depth::All), ["list/a", "list/b!", "list/b/c", "list/b/d/e", "list/z"]);
    assert_eq!(keys(store, "list/", Depth::One), ["list/a", "list/b!", "list/b/", "list/z"]);
    assert_eq!(keys(store, "list/b/", Depth::All), ["list/b/c", "list/b/d/e"]);
    assert_eq!(keys(store, "nothing/", Depth::All), Vec::<String>::new());
    let first = &listed(store, "list/", Depth::All)[0];
    let seen = store.stat("list/a").unwrap();
    assert_eq!((first.size, &first.tag, first.modified.seconds), (3, &seen.tag, seen.modified.seconds));
    if store.abilities().directory_marks {
        store.write("list/m/", Bytes::new(), &Labels::new()).unwrap();
        store.write("list/m/x", text(1), &Labels::new()).unwrap();
        assert_eq!(keys(store, "list/m/", Depth::All), ["list/m/", "list/m/x"]);
        let mark = store.stat("list/m/").unwrap();
        assert_eq!((mark.key.as_str(), mark.size), ("list/m/", 0));
        let marks: Vec<Object> =
            listed(store, "list/", Depth::All).into_iter().filter(|object| object.key == "list/m/").collect();
        assert!(marks.len() == 1 && marks[0].tag == mark.tag, "{marks:?} {mark:?}");
        store.delete(&["list/m/".to_owned()]).unwrap();
        assert_eq!(keys(store, "list/m/", Depth::All), ["list/m/x"]);
    } else {
        assert_eq!(
            store.write("list/m/", Bytes::new(), &Labels::new()).unwrap_err().kind(),
            Kind::Unsupported
        );
    }
    // More than one page of any of them.
    let many: Vec<String> = (0..1100).map(|number| format!("many/{number:04}")).collect();
    std::thread::scope(|scope| {
        for part in many.chunks(275) {
            scope.spawn(|| {
                part.iter().for_each(|key| drop(store.write(key, text(1), &Labels::new()).unwrap()));
            });
        }
    });
    assert_eq!(keys(store, "many/", Depth::All), many);
    store.delete(&many).unwrap();
    assert_eq!(keys(store, "many/", Depth::All), Vec::<String>::new());
}

fn parts(store: &dyn ObjectStore) {
    let size = store.abilities().least_part.max(1 << 20) as usize;
    let content = text(2 * size + 12_345);
    let carried = labels(&[("one", "1")]);
    let carried = if store.abilities().labels { carried } else { Labels::new() };
    let mut upload = store.begin("parts/object", &carried, 2).unwrap();
    for at in (0..content.len()).step_by(size) {
        upload.part(content.slice(at..content.len().min(at + size))).unwrap();
        assert_eq!(keys(store, "parts/", Depth::All), Vec::<String>::new(), "a part can be seen");
    }
    upload.finish().unwrap();
    let object = store.stat("parts/object").unwrap();
    assert_eq!((object.size, object.labels.unwrap()), (content.len() as u64, carried));
    assert!(store.read("parts/object", 0..content.len() as u64, None).unwrap() == content);
    let mut given_up = store.begin("parts/object", &Labels::new(), 2).unwrap();
    given_up.part(text(size)).unwrap();
    given_up.discard();
    assert_eq!(store.stat("parts/object").unwrap().size, content.len() as u64);
}

fn labels_stay(store: &dyn ObjectStore) {
    let pairs = [("mtime", "1595002920.000000001"), ("file_owner", "1000"), ("long", &"v".repeat(900))];
    let carried = labels(&pairs);
    store.write("labels/a", text(5), &carried).unwrap();
    assert_eq!(store.stat("labels/a").unwrap().labels.unwrap(), carried);
    let with_content = store.read_whole("labels/a", 10).unwrap().0.labels;
    assert_eq!(with_content, store.abilities().labels_with_content.then(|| carried.clone()));
    if !store.abilities().plain_label_names {
        let dashed = labels(&[("file-permissions", "0100644")]);
        store.write("labels/b", Bytes::new(), &dashed).unwrap();
        assert_eq!(store.stat("labels/b").unwrap().labels.unwrap(), dashed);
    }
    if store.abilities().directory_marks {
        store.write("labels/dir/", Bytes::new(), &carried).unwrap();
        assert_eq!(store.stat("labels/dir/").unwrap().labels.unwrap(), carried);
    }
    store.write("labels/a", text(5), &Labels::new()).unwrap();
    assert_eq!(store.stat("labels/a").unwrap().labels.unwrap(), Labels::new());
}

fn reads_are_tied(store: &dyn ObjectStore) {
    store.write("tied", text(10), &Labels::new()).unwrap();
    let tag = store.stat("tied").unwrap().tag;
    assert_eq!(store.read("tied", 2..5, Some(&tag)).unwrap(), text(10).slice(2..5));
    store.write("tied", text(11), &Labels::new()).unwrap();
    let fault = store.read("tied", 2..5, Some(&tag)).unwrap_err();
    assert!(is_changed(&fault) && !fault.may_retry(), "{fault:?}");
}

/// Content stays in the store, also where an object is made anew of itself with other labels.
fn parts_are_taken(store: &dyn ObjectStore) {
    let size = store.abilities().least_part + (1 << 20);
    let content = text(size as usize);
    store.write("taken/from", content.clone(), &labels(&[("one", "1")])).unwrap();
    let tag = store.stat("taken/from").unwrap().tag;
    for (key, last) in [("taken/to", 1), ("taken/from", 0)] {
        let carried = labels(&[("two", key)]);
        let mut upload = store.begin(key, &carried, 2).unwrap();
        (0..=last).for_each(|_| upload.part_of("taken/from", 0..size, &tag).unwrap());
        upload.part(text(7)).unwrap();
        upload.finish().unwrap();
        let whole = [content.repeat(last + 1), text(7).to_vec()].concat();
        let object = store.stat(key).unwrap();
        assert_eq!((object.size, object.labels.unwrap()), (whole.len() as u64, carried));
        assert!(store.read(key, 0..whole.len() as u64, None).unwrap() == whole);
    }
    let mut upload = store.begin("taken/to", &Labels::new(), 1).unwrap();
    // S3 looks at the tag; the server that stands for it here does not.
    if !store.shown().starts_with("s3://") {
        let fault = upload.part_of("taken/from", 0..size, &tag).unwrap_err();
        assert!(is_changed(&fault), "{fault:?}");
    }
    upload.discard();
    assert_eq!(store.stat("taken/to").unwrap().size, 2 * size + 7);
}

fn copies(store: &dyn ObjectStore) {
    let carried = labels(&[("one", "1")]);
    store.write("copy/from", text(100), &carried).unwrap();
    store.copy("copy/from", "copy/to").unwrap();
    assert_eq!(store.read_whole("copy/to", 100).unwrap().1, text(100));
    assert_eq!(store.stat("copy/to").unwrap().labels.unwrap(), carried);
    assert_eq!(store.copy("copy/none", "copy/to").unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn memory_conforms() {
    suite(&Memory::default());
}

#[test]
fn layers_change_nothing() {
    let stop = Arc::default();
    let store = Counted::new(Retrying::new(Faulty::new(Memory::default(), Plan::default()), 3, stop));
    suite(&store);
    assert!(store.tally().written_bytes.load(std::sync::atomic::Ordering::Relaxed) > 100_000);
}

#[test]
fn an_s3_server_conforms() {
    let Some(server) = servers::s3("a store over S3") else { return };
    suite(&*open(&server, "a prefix/x"));
}

#[test]
fn an_azure_server_conforms() {
    let Some(server) = servers::azurite("a store over Azure's protocol") else { return };
    suite(&*open(&server, "a prefix/x"));
}

#[test]
fn troubles_pass_or_are_told() {
    let Some(server) = servers::s3("a store in trouble") else { return };
    let content = text(50_000);
    open(&server, "").write("there", content.clone(), &Labels::new()).unwrap();
    let all = [
        Trouble::Busy,
        Trouble::Broken,
        Trouble::Cut,
        Trouble::Dropped,
        Trouble::Unheard,
        Trouble::Slow(3000),
    ];
    for trouble in all {
        let settings = Settings { timeout: Duration::from_secs(1), tries: 1 };
        let proxy = Proxy::new(server.address(), move |_, _| Some(trouble));
        let always = through(&server, &proxy, "", settings);
        let fault = always.read_whole("there", 50_000).map(drop).unwrap_err();
        assert!(fault.may_retry() && fault.hint_text().is_some(), "{trouble:?}: {fault:?}");
        // Two in three requests get into trouble: trying again is enough.
        let proxy = Proxy::new(server.address(), move |number, _| (number % 3 != 2).then_some(trouble));
        let often = Retrying::new(through(&server, &proxy, "", settings), 5, Arc::default());
        assert!(often.read_whole("there", 50_000).unwrap().1 == content, "{trouble:?}");
        assert_eq!(
            often.write("new", content.clone(), &Labels::new()).map(drop).err().map(|f| f.to_string()),
            None
        );
        assert!(often.read("new", 0..content.len() as u64, None).unwrap() == content, "{trouble:?}");
        assert!(proxy.troubles() > 0);
    }
}

#[test]
fn parts_that_get_into_trouble_are_sent_again() {
    let Some(server) = servers::s3("parts in trouble") else { return };
    for trouble in [Trouble::Busy, Trouble::Dropped, Trouble::Unheard] {
        let proxy = Proxy::new(server.address(), move |number, line| {
            (line.contains("partNumber") && number % 2 == 0).then_some(trouble)
        });
        let store = through(&server, &proxy, "", PATIENT);
        let size = store.abilities().least_part as usize;
        let content = text(4 * size + 1);
        let mut upload = store.begin("object", &Labels::new(), 2).unwrap();
        for at in (0..content.len()).step_by(size) {
            upload.part(content.slice(at..content.len().min(at + size))).unwrap();
        }
        upload.finish().unwrap();
        assert!(store.read("object", 0..content.len() as u64, None).unwrap() == content, "{trouble:?}");
        assert!(proxy.troubles() > 0, "{trouble:?}");
    }
}

#[test]
fn what_is_missing_or_forbidden_is_told_with_a_hint() {
    let Some(server) = servers::azurite("a store that says no") else { return };
    let location: Location = server.url.replace("box-of-tests", "no-such-box").parse().unwrap();
    let none = connect_as(&location, PATIENT, &|name| server.look_up(name)).unwrap();
    let fault = none.list("", Depth::All, &mut |_| Ok(())).unwrap_err();
    assert!(fault.kind() == Kind::NotFound && fault.hint_text().is_some(), "{fault:?}");
    let location: Location = server.url.parse().unwrap();
    let wrong = |name: &str| {
        let key = "d3Jvbmcga2V5LCB3aGljaCBvcGVucyBub3RoaW5nIGF0IGFsbCE=".to_owned();
        if name == "AZURE_STORAGE_KEY" { Some(key) } else { server.look_up(name) }
    };
    let denied = connect_as(&location, PATIENT, &wrong).unwrap();
    let fault = denied.list("", Depth::All, &mut |_| Ok(())).unwrap_err();
    assert!(fault.kind() == Kind::Denied && !fault.may_retry(), "{fault:?}");
    assert!(!format!("{fault:?}").contains("d3Jvbmcg"), "{fault:?}");
}
