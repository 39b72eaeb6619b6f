//! To an object store and back, as people type it; and no secret anywhere.

use testkit::servers::{self, Server};

use crate::place::{Call, Place, call};

fn command(server: &Server, from: &str, to: &str, flags: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["sync", from, to]).args(flags).stdin(std::process::Stdio::null());
    command.envs(server.variables.iter().cloned()).env("NO_PROXY", "127.0.0.1");
    command
}

#[test]
fn no_secret_is_printed_or_written() {
    let (Some(s3), Some(azure)) = (servers::s3("secrets of S3"), servers::azurite("secrets of Azure")) else {
        return;
    };
    for server in [s3, azure] {
        let place = Place::new();
        place.write(&[("a", "1"), ("d/b", "2")]);
        let source = place.source().display().to_string();
        let (good, bad) = (format!("{}p", server.url), server.url.replace("box-of-tests", "no-such-box"));
        let mut said = Vec::new();
        for (from, to) in
            [(&source, &good), (&good, &place.destination().display().to_string()), (&source, &bad)]
        {
            for flags in [&["--format", "json", "-vv"][..], &["--format", "jsonl", "--dry-run"]] {
                let state = place.path(&format!("state-{}", said.len()));
                let mut command = command(&server, from, to, flags);
                // Each pair its own state, and all that can be logged.
                command
                    .args(["--state", &state.display().to_string()])
                    .env("RUST_LOG", "trace")
                    .env("FOREBAY_LOG", "trace");
                let Call { code, out, err } = call(command);
                assert_eq!(code == Some(0), *to != bad, "{to}: {code:?} {err}");
                said.push(out + &err);
            }
        }
        let written = std::process::Command::new("grep")
            .args(["-r", "-a", "-l"])
            .args(&server.secrets)
            .arg(place.path(""))
            .output();
        assert_eq!(String::from_utf8(written.unwrap().stdout).unwrap(), "", "a secret is on disk");
        for (text, secret) in
            said.iter().flat_map(|text| server.secrets.iter().map(move |secret| (text, secret)))
        {
            assert!(
                !text.contains(secret.as_str()) && !text.contains("Signature=") && !text.contains("sig="),
                "{text}"
            );
        }
    }
}

/// The store copies what was renamed by itself.
#[test]
fn what_was_renamed_is_copied_by_the_store() {
    let Some(s3) = servers::s3("renamed objects") else { return };
    let place = Place::new();
    let large = vec![7; 9 << 20];
    place.write(&[("a/one", "1"), ("a/deep/two", "2"), ("b", "3")]);
    std::fs::write(place.source().join("a/large"), &large).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    let (source, url) = (place.source().display().to_string(), format!("{}renamed", s3.url));
    let sync = |from: &str, to: &str, name: &str| {
        let state = place.path(name);
        let flags = ["--state", state.to_str().unwrap(), "--delete", "--format", "json"];
        let call = call(command(&s3, from, to, &flags));
        assert_eq!(call.code, Some(0), "{call:?}");
        call.record()
    };
    sync(&source, &url, "up");
    std::thread::sleep(std::time::Duration::from_millis(60));
    std::fs::rename(place.source().join("a"), place.source().join("z")).unwrap();
    std::fs::rename(place.source().join("b"), place.source().join("z/b")).unwrap();
    let record = sync(&source, &url, "up");
    assert_eq!(record["entries"]["moved"], 4, "{record}");
    assert_eq!(record["bytes"]["sent_bytes"], 0, "{record}");
    let back = place.destination().display().to_string();
    sync(&url, &back, "down");
    place.assert_equal();
}

#[test]
fn a_url_with_a_secret_is_refused_without_repeating_it() {
    let place = Place::new();
    place.write(&[("a", "1")]);
    for url in ["s3://key:hunter2@bucket/x", "az://account/box/x?sv=1&sig=hunter2", "ftp://host/x"] {
        let call = call(place.command(&place.source(), url.as_ref(), &[]));
        call.assert_failed(2, &[]);
        assert!(!call.err.contains("hunter2"), "{call:?}");
    }
}

#[test]
fn a_missing_bucket_and_missing_credentials_are_told_in_plain_words() {
    let (Some(s3), Some(azure)) = (servers::s3("a missing bucket"), servers::azurite("a missing container"))
    else {
        return;
    };
    let place = Place::new();
    place.write(&[("a", "1")]);
    let source = place.source().display().to_string();
    for server in [&s3, &azure] {
        let bad = format!("{}p", server.url.replace("box-of-tests", "no-such-box"));
        for (from, to, name) in [(&source, &bad, "up"), (&bad, &source, "down")] {
            let state = place.path(&format!("{name}-{}", server.address().port()));
            let call = call(command(server, from, to, &["--state", state.to_str().unwrap()]));
            call.assert_failed(1, &["there is no such bucket or container", "hint: create it"]);
        }
    }
    let mut command = command(&s3, &source, &format!("{}p", s3.url), &[]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY").env("HOME", place.path(""));
    call(command).assert_failed(1, &["there are no credentials", "AWS_ACCESS_KEY_ID"]);
}

#[test]
fn chunks_are_made_read_and_pruned_as_people_type_it() {
    let Some(server) = servers::s3("chunks as people type them") else { return };
    let place = Place::new();
    place.write(&[("a", "1"), ("d/b", &"2".repeat(5000))]);
    let (source, url) = (place.source().display().to_string(), format!("{}p", server.url));
    let go = |from: &str, to: &str, flags: &[&str]| {
        let state = place.path(&format!("state-{}", from == source));
        call(command(&server, from, to, &[&["--state", state.to_str().unwrap()], flags].concat()))
    };
    let well = |from: &str, to: &str, flags: &[&str]| {
        let call = go(from, to, flags);
        assert_eq!(call.code, Some(0), "{call:?}");
        call
    };
    well(&source, &url, &["--layout", "chunks"]);
    place.write(&[("c", "3")]);
    std::fs::remove_file(place.source().join("a")).unwrap();
    well(&source, &url, &["--delete"]);
    let back = place.destination().display().to_string();
    well(&url, &back, &["--manifest", "1"]);
    assert!(place.has("a") && !place.has("c"));
    well(&url, &back, &["--delete"]);
    place.assert_equal();
    let plan = well(&source, &url, &["--prune", "1", "--dry-run"]);
    assert!((plan.out + &plan.err).contains("would remove 1 manifests"), "the plan is not shown");
    well(&source, &url, &["--prune", "1"]);
    go(&url, &back, &["--manifest", "1"]).assert_failed(1, &["has no manifest 1"]);
    // What can't be is refused with what to do.
    go(&source, &url, &["--layout", "files"]).assert_failed(1, &["holds a chunk store"]);
    go(&url, &back, &["--prune", "1"]).assert_failed(2, &["--prune needs a place in an object store"]);
    go(&source, &url, &["--manifest", "1"]).assert_failed(2, &["--manifest needs a place"]);
    for more in [&[][..], &["--watch"]] {
        let flags = [&["--layout", "chunks"], more].concat();
        go(&source, &back, &flags).assert_failed(2, &["--layout needs a place"]);
    }
}
