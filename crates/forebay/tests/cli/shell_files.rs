//! Completions and manual pages.

use std::process::Command;

use testkit::skip::{Need, can};

use crate::transcript::Place;

#[test]
fn completions_are_scripts_their_shells_accept() {
    let place = Place::new();
    let shells = [("bash", "complete -F"), ("zsh", "#compdef forebay"), ("fish", "complete -c forebay")];
    for (shell, word) in shells {
        let call = place.call(&["completions", shell]);
        assert_eq!((call.code, call.err.as_str()), (0, ""), "{shell}");
        assert!(call.out.contains(word) && call.out.contains("iotest"), "{shell}");
        place.write(shell, &call.out);
        if can("syntax of completions", &[Need::Program(shell)]) {
            let status = Command::new(shell).arg("-n").arg(place.path().join(shell)).status().unwrap();
            assert!(status.success(), "{shell} does not accept its completions");
        }
    }
}

#[test]
fn manual_pages_name_every_command_and_are_roff() {
    let place = Place::new();
    let main = place.call(&["man"]).out;
    assert!(main.contains(".TH forebay 1") && main.contains("SUBCOMMANDS"), "{main}");
    assert_eq!(place.call(&["man", "--dir", "pages"]).code, 0);
    for page in ["forebay.1", "forebay-prove.1", "forebay-runs-compare.1"] {
        let text = place.read(&format!("pages/{page}"));
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
        if can("formatting of manual pages", &[Need::Program("groff")]) {
            let path = place.path().join("pages").join(page);
            let output = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(path).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{page}");
        }
    }
}
