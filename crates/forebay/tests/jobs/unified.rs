//! Several sources that become one tree.

use testkit::trees::{Random, differences, picture};

use crate::server::Place;

#[test]
fn sources_become_one_tree_at_their_own_paths() {
    let (place, mut random) = (Place::new(), Random::new(43));
    random.grow(&place.path("projects/a"), 25);
    random.grow(&place.path("export/b"), 25);
    let own = place.path("projects/a");
    place.jobs(&format!(
        "[[job]]\nname = 'all'\ndestination = 'to'\ndelete = true\nspecial_files = true\n\
         [[job.source]]\npath = '{}'\n[[job.source]]\npath = 'export/b'\nat = 'deep/er/b'\n",
        own.display()
    ));
    place.once(0);
    let a = place.path("to").join(own.strip_prefix("/").unwrap());
    let assert_both = || {
        let same = |from, to| assert_eq!(differences(&picture(from), &picture(to)), Vec::<String>::new());
        same(&own, &a);
        same(&place.path("export/b"), &place.path("to/deep/er/b"));
    };
    assert_both();
    // Deletes stay below the places of the sources.
    place.write("to/beside", "mine");
    place.write("to/deep/beside", "mine too");
    random.change(&own, 10);
    random.change(&place.path("export/b"), 10);
    place.once(0);
    assert_both();
    assert_eq!((place.read("to/beside"), place.read("to/deep/beside")), ("mine".into(), "mine too".into()));
    let records = place.job("all")["runs"][0]["records"].clone();
    assert_eq!(records.as_array().unwrap().len(), 2, "{records}");
}

#[test]
fn no_symlink_leads_from_the_destination_to_a_source_s_place() {
    let place = Place::new();
    place.write("a/file", "one");
    place.write("elsewhere/keep", "mine");
    place.write("to/keep", "");
    std::os::unix::fs::symlink("../elsewhere", place.path("to/led")).unwrap();
    for at in ["led", "led/below"] {
        place.jobs(&format!(
            "[[job]]\nname = 'a'\ndestination = 'to'\ndelete = true\nretries = 0\n[[job.source]]\npath = 'a'\nat = '{at}'\n"
        ));
        let said = place.once(3);
        assert!(said.contains("cannot open") && said.contains("to/led"), "{said}");
    }
    assert!(place.has("elsewhere/keep") && !place.has("elsewhere/file") && !place.has("elsewhere/below"));
}

#[test]
fn one_source_that_fails_does_not_keep_the_others() {
    let place = Place::new();
    place.write("a/file", "one");
    place.jobs(
        "[[job]]\nname = 'a'\ndestination = 'to'\nretries = 0\n[[job.source]]\npath = 'missing'\nat = 'm'\n\
         [[job.source]]\npath = 'a'\nat = 'a'\n",
    );
    let said = place.once(3);
    assert!(said.contains("a: failed: cannot find") && said.contains("missing"), "{said}");
    assert_eq!(place.read("to/a/file"), "one");
}
