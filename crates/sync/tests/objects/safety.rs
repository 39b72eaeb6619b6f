//! Guards of deletes, dry runs, filters, and what is refused.

use testkit::servers;

use crate::job::{Place, assert_equal};

fn write(place: &Place, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = place.path("source").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

#[test]
fn deletes_are_guarded_at_stores_and_from_stores() {
    let Some(server) = servers::s3("deletes") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "1"), ("b", "2"), ("d/c", "3"), ("keep.log", "4")]);
    let (source, back) = (place.path("source"), place.path("back"));
    let (up, down) = (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    place.run_well(&up);
    place.run_well(&down);
    std::fs::remove_dir_all(source.join("d")).unwrap();
    std::fs::remove_file(source.join("keep.log")).unwrap();
    // Not asked for: nothing goes.
    assert_eq!(place.run_well(&up).entries("deleted"), 0);
    let mut deleting = up.clone();
    (deleting.delete, deleting.most) = (true, Some(1));
    let report = place.run(&deleting);
    assert!(report.error.as_ref().is_some_and(|error| error.contains("more than the 1")), "{report:#?}");
    (deleting.most, deleting.exclude) = (None, vec!["*.log".to_owned()]);
    deleting.dry_run = true;
    let planned = place.run_well(&deleting).told;
    assert!(
        planned.contains(&"delete d".to_owned()) && planned.contains(&"delete d/c".to_owned()),
        "{planned:?}"
    );
    deleting.dry_run = false;
    assert_eq!(place.run_well(&deleting).entries("deleted"), 2);
    let mut down_deleting = down.clone();
    down_deleting.delete = true;
    assert_eq!(place.run_well(&down_deleting).entries("deleted"), 2);
    assert!(!back.join("d").exists() && back.join("keep.log").exists() && back.join("a").exists());
}

#[test]
fn what_was_refused_at_a_store_is_deleted_when_it_is_allowed() {
    let Some(server) = servers::s3("refused deletes") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "1"), ("old", "2"), ("gone/oldest", "3")]);
    let (first, second) = (place.path("source"), place.path("another"));
    place.run_well(&place.order(&first, &place.location("p")));
    std::fs::create_dir(&second).unwrap();
    std::fs::write(second.join("a"), "new").unwrap();
    // No sync of this source knows what is there.
    let mut order = place.order(&second, &place.location("p"));
    (order.delete, order.most) = (true, Some(2));
    let report = place.run(&order);
    assert!(report.error.as_ref().is_some_and(|error| error.contains("more than the 2")), "{report:#?}");
    order.most = Some(3);
    assert_eq!(place.run_well(&order).entries("deleted"), 3);
    let back = place.path("back");
    place.run_well(&place.order(&place.location("p"), &back));
    assert_equal(&second, &back);
}

#[test]
fn an_empty_source_deletes_nothing() {
    let Some(server) = servers::s3("an empty source") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "1")]);
    let (source, back) = (place.path("source"), place.path("back"));
    let mut up = place.order(&source, &place.location("p"));
    up.delete = true;
    place.run_well(&up);
    let mut down = place.order(&place.location("p"), &back);
    down.delete = true;
    place.run_well(&down);
    std::fs::remove_file(source.join("a")).unwrap();
    for order in [up, crate::job::Order { source: place.location("nothing-here"), ..down }] {
        let report = place.run(&order);
        let told = report.error.as_deref().unwrap_or_default();
        assert!(told.contains("empty") || told.contains("is the state of a sync"), "{report:#?}");
    }
    assert_eq!(std::fs::read_to_string(back.join("a")).unwrap(), "1");
}

#[test]
fn a_dry_run_writes_nothing() {
    let Some(server) = servers::azurite("a dry run") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "1"), ("d/b", "2")]);
    let mut up = place.order(&place.path("source"), &place.location("p"));
    up.dry_run = true;
    let report = place.run_well(&up);
    assert!(report.told.contains(&"create d/b".to_owned()), "{report:#?}");
    up.dry_run = false;
    assert_eq!(place.run_well(&up).entries("copied"), 2);
    up.dry_run = true;
    assert_eq!(place.run_well(&up).told, Vec::<String>::new());
}

#[test]
fn what_is_there_already_is_not_sent_again() {
    let Some(server) = servers::s3("a lost index") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "1"), ("d/b", "22")]);
    let (source, back) = (place.path("source"), place.path("back"));
    let (up, down) = (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    // A change of a moment ago may have a younger twin: it is not believed.
    std::thread::sleep(std::time::Duration::from_millis(4100));
    place.run_well(&up);
    std::thread::sleep(std::time::Duration::from_millis(4100));
    place.run_well(&down);
    for order in [&up, &down] {
        std::fs::remove_dir_all(&order.state).unwrap();
        let report = place.run_well(order);
        assert_eq!((report.bytes("sent_bytes"), report.entries("copied")), (0, 0), "{report:#?}");
    }
}

#[test]
fn damage_on_either_side_is_found_and_mended() {
    let Some(server) = servers::s3("damage") else { return };
    let place = Place::new(&server);
    write(&place, &[("a", "right"), ("b", "fine")]);
    let (source, back) = (place.path("source"), place.path("back"));
    let (mut up, mut down) =
        (place.order(&source, &place.location("p")), place.order(&place.location("p"), &back));
    place.run_well(&up);
    place.run_well(&down);
    std::fs::write(back.join("a"), "wrong").unwrap();
    // Another tree puts other content into the store, of the same size.
    let other = place.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("b"), "fane").unwrap();
    place.run_well(&place.order(&other, &place.location("p")));
    assert_eq!(place.run_well(&up).entries("copied"), 0);
    up.verify_all = true;
    assert_eq!(place.run_well(&up).entries("copied"), 1);
    down.verify_all = true;
    place.run_well(&down);
    let read = |name: &str| std::fs::read_to_string(back.join(name)).unwrap();
    assert_eq!((read("a"), read("b")), ("right".to_owned(), "fine".to_owned()));
}
