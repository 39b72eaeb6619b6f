//! The page in a real browser: no console message, no request, charts with marks, and no box wider than a phone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic")]

use std::path::Path;
use std::process::{Command, Output};

use testkit::samples::Sample;
use testkit::skip::Need;

const BROWSER: &str = "chromium";

fn can(what: &str) -> bool {
    testkit::skip::can(what, &[Need::Program(BROWSER)])
}

fn run(page: &Path, home: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr", "--v=0"])
        // Nothing may leave this machine, whatever the browser's own services try.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Addresses that the page asked the network for, from the browser's own log. Requests of the browser's services have
/// no page as their initiator and are left out.
fn requests(page: &Path, home: &Path) -> (Output, Vec<String>) {
    let path = home.join("net.json");
    let output = run(page, home, &["--dump-dom", &format!("--log-net-log={}", path.display())]);
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let from_a_page = |params: &serde_json::Value| {
        let initiator = params["initiator"].as_str()?;
        let url = params["url"].as_str()?;
        let network = ["http:", "https:", "ws:", "wss:", "ftp:"].iter().any(|scheme| url.starts_with(scheme));
        (network && initiator != "not an origin").then(|| url.to_owned())
    };
    let events = log["events"].as_array().unwrap();
    (output, events.iter().filter_map(|event| from_a_page(&event["params"])).collect())
}

/// Shows that the test below would see a request and a console message if there were one.
#[test]
fn the_browser_tells_of_requests_and_messages() {
    if !can("what a browser tells") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("bad.html");
    let bad =
        "<!DOCTYPE html><img src='https://picture.invalid/x.png'><script>console.error('words')</script>";
    std::fs::write(&path, bad).unwrap();
    let (output, requests) = requests(&path, home.path());
    assert!(requests.iter().any(|url| url.contains("picture.invalid")), "{requests:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("CONSOLE"));
}

/// Opens `html` and fails on any console message, any request, any chart without marks, or another number of charts.
fn shows(html: &str, charts: usize) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("report.html");
    std::fs::write(&path, html).unwrap();
    let (output, requests) = requests(&path, home.path());

    let messages = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = messages.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:#?}");
    assert_eq!(requests, Vec::<String>::new());

    let dom = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<&str> =
        dom.split("<figure>").skip(1).map(|f| f.split("</figure>").next().unwrap()).collect();
    assert_eq!(figures.len(), charts);
    for figure in figures {
        let chart = figure.split("class=\"chart\"").nth(1).unwrap().split("</svg>").next().unwrap();
        let marks = chart.matches("fill-c").count() + chart.matches("stroke-c").count();
        let axes = chart.matches("<text").count();
        assert!(marks >= 1 && axes >= 4, "{marks} marks and {axes} labels in {figure}");
    }
}

#[test]
fn a_browser_shows_the_report_without_a_word_or_a_request() {
    if !can("a report in a browser") {
        return;
    }
    let sample =
        Sample { seconds: 12, latencies_per_interval: 50, with_metadata_phase: true, ..Sample::default() };
    let record = Sample { design: Some(testkit::plans::for_a_run()), ..sample }.build();
    // One over requirements, one per test, two per phase over time, one by percentile, one by rank, and the design's
    // limits for reading and for writing.
    shows(&report::html(&record).unwrap(), 1 + 1 + 3 * 4 + 2);
}

#[test]
fn a_browser_shows_a_plan_without_a_word_or_a_request() {
    if !can("a plan in a browser") {
        return;
    }
    // Cost against throughput, what the cost is made of, and the limits of three designs.
    shows(&report::plan_html(&testkit::plans::plan()).unwrap(), 2 + 3);
}

/// Loads `html` in a frame as wide as a phone and asks for its scroll width: the page must not be wider than the screen.
fn fits_a_phone(html: &str) {
    let home = tempfile::tempdir().unwrap();
    let probe = "<script>document.title = 'width ' + document.documentElement.scrollWidth</script></body>";
    let html = html.replace("</body>", probe);
    let frame = format!(
        "<!DOCTYPE html><meta charset=utf-8><body style='margin:0'><iframe id=f style='width:390px;height:800px;border:0' srcdoc=\"{}\"></iframe>\
         <script>f.onload = () => document.title = f.contentDocument.title</script>",
        html.replace('&', "&amp;").replace('"', "&quot;")
    );
    let path = home.path().join("frame.html");
    std::fs::write(&path, frame).unwrap();
    let output = run(&path, home.path(), &["--dump-dom"]);
    let dom = String::from_utf8(output.stdout).unwrap();
    assert!(dom.contains("<title>width 390</title>"), "{}", &dom[..300.min(dom.len())]);
}

#[test]
fn the_page_fits_a_phone() {
    if !can("a report on a phone") {
        return;
    }
    let design = Some(testkit::plans::for_a_run());
    let record = Sample { seconds: 12, latencies_per_interval: 50, design, ..Sample::default() }.build();
    fits_a_phone(&report::html(&record).unwrap());
}

#[test]
fn a_plan_fits_a_phone() {
    if !can("a plan on a phone") {
        return;
    }
    fits_a_phone(&report::plan_html(&testkit::plans::plan()).unwrap());
}
