//! To another host and back, and from one to another: nothing of what others lose is lost, and all of them are real trees.

use testkit::trees::{Random, trap_tree};

use super::Hosts;

#[test]
fn a_tree_of_traps_goes_to_a_host_and_back_and_on_to_another() {
    let Some(hosts) = Hosts::new("a tree of traps over ssh", 2) else { return };
    trap_tree(&hosts.path("source"));
    let ways = [
        (hosts.tree(0, "source"), hosts.tree(1, "far"), "far"),
        (hosts.tree(1, "far"), hosts.tree(0, "back"), "back"),
        (hosts.tree(1, "far"), hosts.tree(2, "third"), "third"),
    ];
    for (from, to, name) in &ways {
        hosts.sync_well(from, to, &["--special-files"]);
        hosts.assert_equal("source", name);
        let sparse = hosts.path(name).join("sparse").metadata().unwrap();
        assert!(std::os::unix::fs::MetadataExt::blocks(&sparse) * 512 < 16 << 20, "holes became data");
    }
    for (from, to, name) in &ways {
        let record = hosts.sync_well(from, to, &["--special-files"]);
        assert_eq!(record["bytes"]["sent_bytes"], 0, "{record:#}");
        assert_eq!(record["entries"]["copied"], 0, "{record:#}");
        assert_eq!(record["entries"]["made"], 0, "{record:#}");
        hosts.assert_equal("source", name);
    }
}

#[test]
fn changes_and_deletes_follow_to_a_host_and_back() {
    let Some(hosts) = Hosts::new("changes over ssh", 1) else { return };
    let flags = ["--delete", "--max-delete", "100000", "--verify", "transferred"];
    let mut random = Random::new(31);
    random.largest = 300_000;
    random.grow(&hosts.path("source"), 60);
    for round in 0..5 {
        for (from, to) in
            [(hosts.tree(0, "source"), hosts.tree(1, "far")), (hosts.tree(1, "far"), hosts.tree(0, "back"))]
        {
            finish(&hosts, &from, &to, &flags);
        }
        hosts.assert_equal("source", "far");
        hosts.assert_equal("source", "back");
        random.change(&hosts.path("source"), 20);
        if round == 3 {
            // Nothing is remembered: both sides are compared.
            for entry in std::fs::read_dir(hosts.path("")).unwrap().flatten() {
                if entry.file_name().to_string_lossy().starts_with("state-") {
                    std::fs::remove_dir_all(entry.path()).unwrap();
                }
            }
        }
    }
}

/// A directory that is a file now is in the way: removed as the hint says, until nothing is.
fn finish(hosts: &Hosts, from: &str, to: &str, flags: &[&str]) {
    for _ in 0..4 {
        let call = hosts.sync(from, to, flags);
        if call.code == Some(0) {
            return;
        }
        for line in call.err.lines().filter(|line| line.contains("cannot ") || line.contains("failed")) {
            assert!(line.contains("cannot replace the directory"), "{call:?}");
            let shown = line.split('`').nth(1).unwrap();
            let path = shown.split_once("ssh://h1").map_or(shown, |(_, path)| path);
            std::fs::remove_dir_all(path).unwrap();
        }
    }
    panic!("it never ends");
}

#[test]
fn large_files_travel_in_pieces_and_read_back_right() {
    let Some(hosts) = Hosts::new("large files over ssh", 1) else { return };
    hosts.fill("source", 2, 20_000_003);
    let flags = ["--verify", "transferred"];
    let record = hosts.sync_well(&hosts.tree(0, "source"), &hosts.tree(1, "far"), &flags);
    assert_eq!(record["bytes"]["verified_bytes"], 40_000_006);
    hosts.sync_well(&hosts.tree(1, "far"), &hosts.tree(0, "back"), &flags);
    hosts.assert_equal("source", "far");
    hosts.assert_equal("source", "back");
}

#[test]
fn what_a_filter_leaves_out_on_a_host_stays_there() {
    let Some(hosts) = Hosts::new("filters over ssh", 1) else { return };
    let far = hosts.path("far");
    for (name, content) in
        [("a.txt", "1"), ("b.tmp", "2"), ("d/c.tmp", "3"), ("d/.ignored", "/x\n"), ("d/x", "4"), ("d/y", "5")]
    {
        std::fs::create_dir_all(far.join(name).parent().unwrap()).unwrap();
        std::fs::write(far.join(name), content).unwrap();
    }
    let flags = ["--exclude", "*.tmp", "--ignore-file", ".ignored"];
    hosts.sync_well(&hosts.tree(1, "far"), &hosts.tree(0, "back"), &flags);
    let has = |name: &str| hosts.path("back").join(name).exists();
    assert!(has("a.txt") && has("d/y") && !has("b.tmp") && !has("d/c.tmp") && !has("d/x"));
}

/// The sync runs beside the server, and its ssh where the hosts are.
#[test]
fn a_tree_goes_from_a_host_to_a_bucket_and_from_there_to_another_host() {
    let Some(server) = testkit::servers::s3("a host and a bucket") else { return };
    let Some(hosts) = Hosts::new("a host and a bucket", 2) else { return };
    trap_tree(&hosts.path("source"));
    let sparse = std::fs::File::options().write(true).open(hosts.path("source/sparse")).unwrap();
    sparse.set_len(3 << 20).unwrap();
    let inside = hosts.lab.command(0, "ssh");
    let mut words = vec![inside.get_program().to_string_lossy().into_owned()];
    words.extend(inside.get_args().map(|word| word.to_string_lossy().into_owned()));
    let ssh = format!("{} -F {}", words.join(" "), hosts.lab.ssh_config().display());
    let bucket = format!("{}p", server.url);
    for (number, (from, to)) in
        [(hosts.tree(1, "source"), bucket.clone()), (bucket, hosts.tree(2, "far"))].iter().enumerate()
    {
        let state = hosts.path(&format!("state-of-a-bucket-{number}"));
        let sync = || {
            let mut command = std::process::Command::new(super::forebay());
            command.args(["sync", from, to, "--special-files", "--format", "json", "--ssh", &ssh]);
            command.arg("--state").arg(&state).stdin(std::process::Stdio::null());
            command.envs(server.variables.iter().cloned()).env("NO_PROXY", "127.0.0.1");
            let call = crate::place::call(command);
            assert_eq!(call.code, Some(0), "{call:?}");
            call.record()
        };
        sync();
        assert_eq!(sync()["bytes"]["sent_bytes"], 0);
    }
    hosts.assert_equal("source", "far");
}
