//! Encrypted connections to PostgreSQL: who is believed, and that nothing ever goes in clear text instead.

use std::path::Path;
use std::process::Output;

use testkit::servers::{Authority, Over, postgres_over};
use testkit::skip::{Need, can};

use crate::place::Place;

const NEEDS: [Need; 2] = [Need::Server("postgres"), Need::Program("openssl")];

/// A mover that meets others there, with these variables.
fn mover(place: &Place, url: &str, variables: &[(&str, &Path)]) -> Output {
    let mut command = place.plain_command();
    ["SSL_CERT_FILE", "SSL_CERT_DIR", "PGSSLMODE", "PGSSLROOTCERT"].iter().for_each(|name| {
        command.env_remove(name);
    });
    command.arg(place.destination()).args(["--state", url]);
    command.envs(variables.iter().copied()).output().unwrap()
}

fn url(place: &Place, host: &str, query: &str) -> String {
    format!("{}?{query}", place.server.as_ref().unwrap().url_at(host))
}

/// It says this, with a hint, never the password, and wrote nothing anywhere.
#[track_caller]
fn assert_refused(place: &Place, output: &Output, words: &str, hint: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let hints = said.split("hint: ").nth(1).unwrap_or_default();
    assert!(said.contains("cannot use the queue") && said.contains(words) && hints.contains(hint), "{said}");
    let server = place.server.as_ref().unwrap();
    assert!(!said.contains(server.password()), "{said}");
    assert_eq!(server.ask("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'forebay%'"), "0");
    assert!(!place.destination().join("file").exists());
}

#[test]
fn a_server_that_is_vouched_for_is_met_encrypted() {
    if !can("PostgreSQL with TLS", &NEEDS) {
        return;
    }
    let authority = Authority::new();
    let place = Place::at(postgres_over(Over::Encrypted(&authority.vouch_for("DNS:localhost"))));
    let ca = authority.path();
    place.write("source/file", "0");
    // Through its socket nothing leaves this host, whatever is asked for.
    let socket = format!("{}?sslmode=verify-full", place.url());
    assert!(mover(&place, &socket, &[]).status.success());
    place
        .server
        .as_ref()
        .unwrap()
        .ask("DROP TABLE forebay_sync_job, forebay_sync_piece, forebay_sync_blob, forebay_sync_stretch");
    std::fs::remove_dir_all(place.destination()).unwrap();
    // The server itself lets nobody in who comes in clear text.
    let output = mover(&place, &url(&place, "localhost", "sslmode=disable"), &[]);
    assert_refused(&place, &output, "no encryption", "");
    let root =
        |mode: &str| format!("sslmode={mode}&sslrootcert={}", ca.display().to_string().replace('/', "%2F"));
    for (number, (query, variables)) in [
        (root("verify-full"), vec![]),
        (root("require"), vec![]),
        (root("prefer"), vec![]),
        (String::new(), vec![("PGSSLMODE", Path::new("verify-full")), ("PGSSLROOTCERT", &ca)]),
        ("sslmode=require".to_owned(), vec![("SSL_CERT_FILE", &*ca)]),
    ]
    .iter()
    .enumerate()
    {
        place.write("source/file", format!("number {number}"));
        let output = mover(&place, &url(&place, "localhost", query), variables);
        assert!(output.status.success(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
        place.assert_equal();
    }
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused_and_never_met_in_clear_text() {
    if !can("PostgreSQL with TLS", &NEEDS) {
        return;
    }
    let (authority, other) = (Authority::new(), Authority::new());
    // In clear text it would let us in.
    let place = Place::at(postgres_over(Over::Both(&authority.vouch_for("DNS:localhost"))));
    place.write("source/file", "one");
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let query = format!("sslmode={mode}&sslrootcert={}", other.path().display());
        let output = mover(&place, &url(&place, "localhost", &query), &[]);
        assert_refused(&place, &output, "nobody whom this host trusts", "sslrootcert");
        let output = mover(&place, &url(&place, "localhost", &format!("sslmode={mode}")), &[]);
        assert_refused(&place, &output, "nobody whom this host trusts", "sslrootcert");
    }
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    if !can("PostgreSQL with TLS", &NEEDS) {
        return;
    }
    let authority = Authority::new();
    let place = Place::at(postgres_over(Over::Both(&authority.vouch_for("DNS:db.example"))));
    place.write("source/file", "one");
    for host in ["localhost", "127.0.0.1"] {
        for mode in ["prefer", "require", "verify-full"] {
            let query = format!("sslmode={mode}&sslrootcert={}", authority.path().display());
            let output = mover(&place, &url(&place, host, &query), &[]);
            assert_refused(
                &place,
                &output,
                "its certificate is for another host",
                "as its certificate names it",
            );
        }
    }
}

#[test]
fn a_server_without_encryption_is_refused_where_it_is_wanted() {
    if !can("PostgreSQL with TLS", &NEEDS) {
        return;
    }
    let place = Place::at(postgres_over(Over::Clear));
    place.write("source/file", "one");
    for mode in ["require", "verify-full"] {
        let output = mover(&place, &url(&place, "localhost", &format!("sslmode={mode}")), &[]);
        assert_refused(&place, &output, "the server does not encrypt", "ssl = on");
    }
    let output = mover(&place, &url(&place, "localhost", "sslmode=wrong"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`wrong` is no sslmode"), "{output:?}");
    let output = mover(&place, &url(&place, "localhost", "sslmode=prefer"), &[]);
    assert!(output.status.success(), "{output:?}");
    place.assert_equal();
}
