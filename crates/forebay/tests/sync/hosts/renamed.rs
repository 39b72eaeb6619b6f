//! Files and directories that were renamed: the other end renames what it has, and nothing of them travels.

use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use testkit::trees::{Picture, picture, rest};

use super::Hosts;

fn number(record: &Value, group: &str, name: &str) -> u64 {
    record[group][name].as_u64().unwrap()
}

fn rename(hosts: &Hosts, from: &str, to: &str) {
    let (from, to) = (hosts.path("source").join(from), hosts.path("source").join(to));
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(from, to).unwrap();
}

#[test]
fn a_host_renames_what_was_renamed_here_and_the_other_way_round() {
    let Some(hosts) = Hosts::new("renamed files over ssh", 1) else { return };
    hosts.fill("source", 250, 3000);
    std::fs::write(hosts.path("source/large"), vec![3; 9 << 20]).unwrap();
    std::fs::hard_link(hosts.path("source/d01/1"), hosts.path("source/d01/link")).unwrap();
    rest();
    let (source, far, back) = (hosts.tree(0, "source"), hosts.tree(1, "far"), hosts.tree(0, "back"));
    hosts.sync_well(&source, &far, &[]);
    hosts.sync_well(&far, &back, &[]);
    rest();
    let before = hosts.path("far/large").metadata().unwrap().ino();
    (0..10).for_each(|dir| rename(&hosts, &format!("d{dir:02}"), &format!("new/e{dir}")));
    rename(&hosts, "large", "new/renamed");
    let file = std::fs::File::open(hosts.path("source/new/e3/13")).unwrap();
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let record = hosts.sync_well(&source, &far, &["--delete"]);
    hosts.assert_equal("source", "far");
    assert_eq!(number(&record, "bytes", "sent_bytes"), 0, "{record:#}");
    assert_eq!(number(&record, "bytes", "read_bytes"), (9 << 20) + 3000, "{record:#}");
    assert_eq!(number(&record, "entries", "moved"), 251, "{record:#}");
    assert_eq!(number(&record, "entries", "deleted"), 12, "directories, and names of one file: {record:#}");
    assert_eq!(hosts.path("far/new/renamed").metadata().unwrap().ino(), before);
    // From the host, only large ones are worth asking for each.
    let record = hosts.sync_well(&far, &back, &["--delete"]);
    hosts.assert_equal("source", "back");
    assert!(number(&record, "bytes", "sent_bytes") < 1 << 20, "{record:#}");
    let again = hosts.sync_well(&source, &far, &["--delete", "--verify", "all"]);
    assert_eq!(number(&again, "bytes", "sent_bytes"), 0, "{again:#}");
}

#[test]
fn attributes_that_change_alone_travel_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(hosts) = Hosts::new("attributes over ssh", 1) else { return };
    hosts.fill("source", 150, 3000);
    std::fs::write(hosts.path("source/middle"), vec![1; 1 << 20]).unwrap();
    std::fs::write(hosts.path("source/touched"), vec![2; 1 << 20]).unwrap();
    std::fs::write(hosts.path("source/large"), vec![3; 9 << 20]).unwrap();
    std::fs::write(hosts.path("source/one"), vec![4; 5000]).unwrap();
    std::fs::hard_link(hosts.path("source/one"), hosts.path("source/two")).unwrap();
    rest();
    let (source, far) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&source, &far, &[]);
    rest();
    let before = hosts.path("far/middle").metadata().unwrap().ino();
    for entry in picture(&hosts.path("source")).keys() {
        let path = hosts.path("source").join(std::str::from_utf8(entry).unwrap());
        if path.is_file() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        }
    }
    let touched = std::fs::File::options().write(true).open(hosts.path("source/touched")).unwrap();
    touched.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_001)).unwrap();
    // Content that changed with its time put back is no change of attributes.
    let path = hosts.path("source/d05/5");
    let time = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, vec![9; 3000]).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let record = hosts.sync_well(&source, &far, &[]);
    hosts.assert_equal("source", "far");
    assert_eq!(number(&record, "bytes", "sent_bytes"), 3000, "{record:#}");
    assert_eq!(number(&record, "entries", "updated"), 153, "{record:#}");
    assert_eq!(hosts.path("far/middle").metadata().unwrap().ino(), before);
    let again = hosts.sync_well(&source, &far, &["--verify", "all"]);
    assert_eq!(number(&again, "bytes", "sent_bytes"), 0, "{again:#}");
    // A copy that somebody changed there gets more than attributes.
    std::fs::write(hosts.path("far/middle"), "somebody's").unwrap();
    std::fs::set_permissions(hosts.path("source/middle"), std::fs::Permissions::from_mode(0o600)).unwrap();
    hosts.sync_well(&source, &far, &[]);
    hosts.assert_equal("source", "far");
}

/// The other way round: the host says that the content is what is known, and nothing of it travels.
#[test]
fn attributes_that_change_alone_at_a_host_come_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(hosts) = Hosts::new("attributes from a host", 1) else { return };
    hosts.fill("source", 150, 3000);
    let source = hosts.path("source");
    for (name, bytes) in [("middle", 1 << 20), ("touched", 1 << 20), ("large", 9 << 20), ("one", 5000)] {
        std::fs::write(source.join(name), vec![bytes as u8 | 1; bytes]).unwrap();
    }
    std::fs::hard_link(source.join("one"), source.join("two")).unwrap();
    rest();
    let (far, back) = (hosts.tree(1, "source"), hosts.tree(0, "back"));
    hosts.sync_well(&far, &back, &[]);
    rest();
    let inode = |name: &str| hosts.path("back").join(name).metadata().unwrap().ino();
    let before = ["middle", "large", "one", "d01/1"].map(inode);
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for entry in picture(&source).keys() {
        let path = source.join(std::str::from_utf8(entry).unwrap());
        if path.is_file() {
            mode(&path, 0o640);
        }
    }
    let touch = |name: &str, seconds: u64| {
        let file = std::fs::File::options().write(true).open(source.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    touch("touched", 1_000_000_001);
    touch("d03/3", 1_000_000_002);
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(source.join("d04/4"), "user.note", b"of a file", flags).unwrap();
    // Content that changed with its time put back is no change of attributes.
    let path = source.join("d05/5");
    let time = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, vec![9; 3000]).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let record = hosts.sync_well(&far, &back, &[]);
    hosts.assert_equal("source", "back");
    assert_eq!(number(&record, "bytes", "sent_bytes"), 3000, "{record:#}");
    assert_eq!(number(&record, "entries", "updated"), 153, "{record:#}");
    assert_eq!(before, ["middle", "large", "one", "d01/1"].map(inode));
    let again = hosts.sync_well(&far, &back, &["--verify", "all"]);
    assert_eq!(number(&again, "bytes", "sent_bytes"), 0, "{again:#}");
    // Copies that somebody changed here get more than attributes.
    for name in ["middle", "d06/6"] {
        std::fs::write(hosts.path("back").join(name), "somebody's").unwrap();
        mode(&source.join(name), 0o600);
    }
    let damaged = hosts.path("back/d07/7");
    let time = damaged.metadata().unwrap().modified().unwrap();
    std::fs::write(&damaged, vec![9; 3000]).unwrap();
    std::fs::File::options().write(true).open(&damaged).unwrap().set_modified(time).unwrap();
    mode(&source.join("d07/7"), 0o600);
    hosts.sync_well(&far, &back, &["--verify", "transferred"]);
    hosts.assert_equal("source", "back");
}

#[test]
fn a_copy_at_a_host_that_is_not_what_it_was_is_not_renamed() {
    let Some(hosts) = Hosts::new("doubtful copies over ssh", 1) else { return };
    hosts.fill("source", 20, 3000);
    rest();
    let (source, far) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&source, &far, &[]);
    rest();
    let (there, other) = (hosts.path("far/d01/1"), hosts.path("far/d02/2"));
    std::fs::write(&there, "somebody's").unwrap();
    let time = other.metadata().unwrap().modified().unwrap();
    std::fs::write(&other, vec![9; 3000]).unwrap();
    std::fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
    rename(&hosts, "d01", "e01");
    rename(&hosts, "d02", "e02");
    let record = hosts.sync_well(&source, &far, &["--delete", "--verify", "transferred"]);
    hosts.assert_equal("source", "far");
    assert_eq!(number(&record, "entries", "moved"), 2, "{record:#}");
    assert_eq!(number(&record, "entries", "copied"), 2, "{record:#}");
}

fn contents(tree: &Picture) -> Vec<String> {
    let mut all: Vec<_> = tree.values().map(|entry| format!("{:?}", entry.content)).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn kills_while_a_host_renames_lose_nothing() {
    let Some(hosts) = Hosts::new("kills while renaming over ssh", 1) else { return };
    hosts.fill("source", 2000, 500);
    rest();
    let (source, far) = (hosts.tree(0, "source"), hosts.tree(1, "far"));
    hosts.sync_well(&source, &far, &[]);
    rest();
    for kill in 1..=8_u64 {
        for dir in 0..10 {
            let old = if kill == 1 { format!("d{dir:02}") } else { format!("{}/{dir}", kill - 1) };
            rename(&hosts, &old, &format!("{kill}/{dir}"));
        }
        let mut command = hosts.command(&source, &far, &["--delete", "--max-delete", "9999"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(250 + 40 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        // Half of the time it is renamed back, to where the index may still believe it to be.
        if kill % 2 == 0 {
            for dir in 0..10 {
                rename(&hosts, &format!("{kill}/{dir}"), &format!("{}/{dir}", kill - 1));
            }
        }
        let (wanted, found) =
            (contents(&picture(&hosts.path("source"))), contents(&picture(&hosts.path("far"))));
        assert!(wanted.iter().all(|file| found.binary_search(file).is_ok()), "kill {kill} lost content");
        hosts.sync_well(&source, &far, &["--delete", "--max-delete", "9999"]);
        hosts.assert_equal("source", "far");
        if kill % 2 == 0 {
            for dir in 0..10 {
                rename(&hosts, &format!("{}/{dir}", kill - 1), &format!("{kill}/{dir}"));
            }
            hosts.sync_well(&source, &far, &["--delete", "--max-delete", "9999"]);
            hosts.assert_equal("source", "far");
        }
    }
}
