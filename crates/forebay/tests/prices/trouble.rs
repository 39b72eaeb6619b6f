//! Servers that are busy, broken, slow or not what they should be; refreshes that are killed.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use crate::azure::{machine, page, whole};
use crate::server::{Answer, Place, Server};

const EASTUS: [&str; 2] = ["--region", "eastus"];

/// A refresh from a server that fails the first requests as told, and then is well.
fn after(
    failures: impl Fn(usize) -> Option<Answer> + Send + Sync + 'static,
    more: &[&str],
) -> (Place, crate::server::Call) {
    let server = Server::new(move |request, before| failures(before).unwrap_or_else(|| whole(request)));
    let place = Place::new();
    let call = place.refresh(&server, "azure", &[&EASTUS[..], more].concat());
    (place, call)
}

fn expected() -> Vec<String> {
    let (place, call) = after(|_| None, &[]);
    assert_eq!(call.code, 0, "{}", call.err);
    place.prices()
}

#[test]
fn busy_broken_cut_and_slow_servers_are_asked_again() {
    let expected = expected();
    let retry = |status| Answer::Status(status, "retry-after: 0\r\n".to_owned());
    let (place, call) = after(
        move |before| match before {
            0 | 3 => Some(retry(429)),
            1 => Some(retry(500)),
            2 => Some(Answer::Cut(page(&[machine("Standard_E8s_v5", 0.1)], None))),
            _ => None,
        },
        &[],
    );
    assert_eq!(call.code, 0, "{}", call.err);
    assert_eq!(place.prices(), expected);
    assert!(call.err.contains("too many requests: trying again in 0.0 s"), "{}", call.err);
    assert!(call.err.contains("status 500") && call.err.contains("cut"), "{}", call.err);
    let slow = Server::new(|request, _| match whole(request) {
        Answer::Page(text) => Answer::Slow(text),
        other => other,
    });
    let place = Place::new();
    assert_eq!(place.refresh(&slow, "azure", &EASTUS).code, 0);
    assert_eq!(place.prices(), expected);
}

#[test]
fn a_server_that_falls_silent_is_asked_again() {
    let (_, call) = after(|before| (before == 1).then_some(Answer::Silence), &["--timeout", "1"]);
    assert_eq!(call.code, 0, "{}", call.err);
    assert!(call.err.contains("fell silent"), "{}", call.err);
}

#[test]
fn a_server_that_asks_for_too_much_patience_is_left_and_named() {
    let (place, call) = after(|_| Some(Answer::Status(429, "retry-after: 3600\r\n".to_owned())), &[]);
    assert_eq!(call.code, 1);
    assert!(
        call.err.contains("asks to come back in 3600 s") && call.err.contains("goes on where it was"),
        "{}",
        call.err
    );
    assert!(!place.file("prices.csv").exists());
}

#[test]
fn answers_of_another_shape_name_the_field() {
    for (text, named) in [
        ("<html>proxy</html>", "expected value"),
        (r#"{"BillingCurrency":"USD","Count":0}"#, "missing field `Items`"),
        (
            r#"{"BillingCurrency":"USD","Items":[{"currencyCode":"USD"}],"NextPageLink":null}"#,
            "missing field `tierMinimumUnits`",
        ),
        (r#"{"BillingCurrency":"USD","Items":{},"NextPageLink":null}"#, "invalid type: map"),
    ] {
        let (place, call) = after(move |_| Some(Answer::Page(text.to_owned())), &[]);
        assert_eq!(call.code, 1, "{}", call.err);
        assert!(call.err.contains(named) && call.err.contains("hint:"), "{named}: {}", call.err);
        assert!(!place.file("prices.csv").exists());
    }
}

#[test]
fn links_that_lead_in_a_circle_are_noticed() {
    let server = Server::new(|request, before| {
        let next = format!("http://{}/api/retail/prices?page={}", request.fields["host"], before % 3);
        Answer::Page(page(&[machine("Standard_E8s_v5", 0.5)], Some(&next)))
    });
    let call = Place::new().refresh(&server, "azure", &EASTUS);
    assert_eq!(call.code, 1);
    assert!(call.err.contains("lead round in a circle"), "{}", call.err);
    assert!(server.seen().len() < 10);
}

#[test]
fn links_and_redirects_to_other_servers_are_refused() {
    let other = Server::new(|request, _| whole(request));
    let away = format!("{}/api/retail/prices", other.url);
    let link = away.clone();
    let linking =
        Server::new(move |_, _| Answer::Page(page(&[machine("Standard_E8s_v5", 0.5)], Some(&link))));
    let redirecting = Server::new(move |_, _| Answer::Status(302, format!("location: {away}\r\n")));
    for server in [linking, redirecting] {
        let call = Place::new().refresh(&server, "azure", &EASTUS);
        assert_eq!(call.code, 1);
        assert!(call.err.contains("leads to another server"), "{}", call.err);
    }
    assert!(other.seen().is_empty());
    let here = Server::new(|request, before| match before {
        0 => Answer::Status(307, format!("location: {}\r\n", request.path.split('?').next().unwrap())),
        _ => whole(request),
    });
    assert!(here.seen().is_empty());
    let place = Place::new();
    let call = place.refresh(&here, "azure", &[&EASTUS[..], &["--items", "service:ANF-*"]].concat());
    assert!(here.seen().len() > 1, "a redirect on the same server is followed: {}", call.err);
}

#[test]
fn plain_http_to_other_machines_is_refused() {
    let call = Place::new().call(&[
        "catalog",
        "refresh",
        "--cloud",
        "azure",
        "--base-url",
        "http://prices.example.com",
    ]);
    assert_eq!(call.code, 2);
    assert!(call.err.contains("prices are read over https"), "{}", call.err);
}

#[test]
fn a_server_that_is_not_there_gives_a_hint() {
    let call = Place::new().call(&[
        "catalog",
        "refresh",
        "--cloud",
        "azure",
        "--to",
        "facts",
        "--base-url",
        "http://127.0.0.1:1",
    ]);
    assert_eq!(call.code, 1);
    assert!(call.err.contains("check the network and its proxy"), "{}", call.err);
}

#[test]
fn a_killed_refresh_leaves_the_old_prices_and_goes_on_where_it_was() {
    let expected = expected();
    let pages = 7;
    for killed_at in 0..pages {
        let (reached, wait) = mpsc::channel();
        let reached = Mutex::new(reached);
        let server = Server::new(move |request, before| {
            if before == killed_at {
                reached.lock().unwrap().send(()).unwrap();
                return Answer::Silence;
            }
            whole(request)
        });
        let place = Place::new();
        let old = "cloud,region,item,unit,usd,term,source,as_of\nazure,eastus,vm:Standard_E16s_v5,each-hour,9,payg,me,2020\n";
        place.write("prices.csv", old);
        let mut child = place.start(&server, "azure", &EASTUS);
        wait.recv().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(place.read("prices.csv"), old, "killed at {killed_at}");
        // The links of the kept pages lead to the first server: it goes on there.
        let call = place.refresh(&server, "azure", &EASTUS);
        assert_eq!(call.code, 0, "killed at {killed_at}: {}", call.err);
        assert_eq!(server.seen().len(), pages + 1, "no page is read twice");
        let mut prices = place.prices();
        let mut whole = expected.clone();
        prices.sort();
        whole.sort();
        assert_eq!(prices, whole, "killed at {killed_at}");
        assert!(!place.file("prices.csv.partial").exists());
    }
}

#[test]
fn another_question_or_a_restart_begins_anew() {
    let stop = Arc::new(Mutex::new(true));
    let flag = stop.clone();
    let server = Server::new(move |request, before| {
        if before >= 3 && *flag.lock().unwrap() { Answer::Status(404, String::new()) } else { whole(request) }
    });
    let place = Place::new();
    assert_eq!(place.refresh(&server, "azure", &EASTUS).code, 1);
    *stop.lock().unwrap() = false;
    let other =
        place.refresh(&server, "azure", &[&EASTUS[..], &["--items", "vm:*", "--format", "json"]].concat());
    assert_eq!((other.json()["data"]["pages_kept"].as_u64(), other.code), (Some(0), 0));
    *stop.lock().unwrap() = true;
    assert_eq!(place.refresh(&server, "azure", &EASTUS).code, 1);
    *stop.lock().unwrap() = false;
    let again = place.refresh(&server, "azure", &[&EASTUS[..], &["--restart", "--format", "json"]].concat());
    assert_eq!(again.json()["data"]["pages_kept"], 0);
}
