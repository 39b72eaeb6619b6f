//! The page holds what the record says, in order, and nothing that does not belong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic")]

use record::{Check, Direction, OperationError, OperationKind, RunError, RunRecord, RunState};
use report::Answer;
use testkit::samples::{Sample, over_hosts};
use units::Bytes;

fn page(record: &RunRecord) -> String {
    report::html(record).unwrap()
}

fn small() -> Sample {
    Sample { seconds: 6, latencies_per_interval: 50, ..Sample::default() }
}

#[test]
fn every_section_is_there_and_the_verdict_comes_first() {
    let page = page(&small().build());
    let ids = [
        "verdict",
        "throughput",
        "latency",
        "ranks",
        "ends",
        "checks",
        "limits",
        "environment",
        "repeat",
        "glossary",
    ];
    let places: Vec<usize> =
        ids.iter().map(|id| page.find(&format!("<section id=\"{id}\"")).expect(id)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_answer_follows_the_record() {
    let met = small();
    let cases = [
        (met.clone(), Answer::Met, "Yes, this storage feeds the grid"),
        (Sample { write_mb: 90.0, ..met.clone() }, Answer::NotMet, "where 150.0 MB/s are required"),
        (Sample { with_failed_check: true, ..met.clone() }, Answer::NotMet, "cannot be believed"),
        (Sample { required_mb: None, ..met.clone() }, Answer::NoRequirement, "No requirement was given"),
        (Sample { state: RunState::Failed, ..met }, Answer::Unfinished, "did not come to its end"),
    ];
    for (sample, answer, words) in cases {
        let record = sample.build();
        assert_eq!(report::answer(&record), answer);
        let page = page(&record);
        assert!(page.contains(answer.word()) && page.contains(words), "{answer:?} needs `{words}`");
        assert!(report::markdown(&record).contains(words), "{answer:?}");
    }
}

#[test]
fn figures_are_those_of_the_record_with_their_units() {
    let record = small().build();
    let (page, markdown) = (page(&record), report::markdown(&record));
    for requirement in &record.requirements {
        let spread = requirement.measured_per_pcore.unwrap();
        let median = spread.median_bytes_per_second;
        let margin = format!("+{:.1} %", requirement.margin.unwrap() * 100.0);
        let range = format!(
            "{:.1} – {:.1} MB/s",
            spread.min_bytes_per_second.as_mb(),
            spread.max_bytes_per_second.as_mb()
        );
        let figures =
            [format!("{:.1} MB/s", median.as_mb()), format!("{:.1} MiB/s", median.as_mib()), margin, range];
        for figure in figures {
            assert!(page.contains(&figure), "{figure} is not on the page");
            assert!(markdown.contains(&figure), "{figure} is not in the Markdown");
        }
    }
    for phase in record.tests[0].repetitions.iter().flat_map(|repetition| &repetition.phases) {
        let seconds = format!("{:.2} s", phase.closed().as_secs_f64());
        assert!(page.contains(&seconds) && markdown.contains(&seconds), "{seconds}");
    }
    let write = record.tests[0].phases(Direction::Write.word()).next().unwrap();
    let slowest = format!("Slowest is rank {}", write.slowest_rank().unwrap().rank);
    assert!(page.contains(&slowest), "{slowest}");
}

#[test]
fn an_early_end_is_said_loudly_with_its_hint() {
    let error = RunError {
        message: "cannot write `rank-3`: no space left on device".to_owned(),
        hint: Some("free some space".to_owned()),
    };
    let record = Sample { state: RunState::Failed, error: Some(error), repetitions: 1, ..small() }.build();
    let page = page(&record);
    assert!(page.contains("role=\"alert\"") && page.contains("This run failed"));
    assert!(page.contains("no space left on device") && page.contains("Hint: free some space"));
    assert!(page.contains("not valid") && page.contains("so far"));
}

#[test]
fn failed_checks_come_first_and_repetitions_are_joined() {
    let record = Sample { with_failed_check: true, ..small() }.build();
    let page = page(&record);
    let fail = page.find("Failed: do not use").unwrap();
    let note = page.find("Notes: the numbers stand").unwrap();
    let pass = page.find("Passed (").unwrap();
    assert!(fail < note && note < pass);
    assert_eq!(page.matches("working-set").count(), 1, "three repetitions, one row");
    assert!(page.contains("repetitions 1–3"));
}

#[test]
fn failed_operations_and_verification_are_shown() {
    let mut record = small().build();
    let phase = &mut record.tests[0].repetitions[1].phases[0];
    phase.error_count = 7;
    phase.errors = vec![OperationError {
        rank: 3,
        kind: OperationKind::Write,
        file: "rank-3".to_owned(),
        offset: Some(65536),
        message: "input/output error".to_owned(),
        hint: Some("look at `dmesg`".to_owned()),
    }];
    phase.verified_bytes = Bytes::mib(12);
    phase.verify_failures = 2;
    for report in [page(&record), report::markdown(&record)] {
        assert!(report.contains("rank-3 at byte 65536") && report.contains("input/output error"));
        assert!(report.contains("Words that differ") && report.contains("12 MiB"));
    }
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "<script>alert(1)</script>\"'&";
    let mut record =
        Sample { label: Some(hostile.to_owned()), hostname: hostile.to_owned(), ..small() }.build();
    record.id = hostile.to_owned();
    record.command.push(hostile.to_owned());
    record.spec.as_mut().unwrap().text = hostile.to_owned();
    record.requirements[0].storage = hostile.to_owned();
    let test = &mut record.tests[0];
    test.name = hostile.to_owned();
    test.checks.push(Check::fail("rule", hostile, hostile));
    for phase in test.repetitions.iter_mut().flat_map(|repetition| &mut repetition.phases) {
        phase.name = format!("{hostile} {}", phase.name);
    }
    let page = page(&record);
    assert!(!page.contains("<script"), "a script got in");
    assert!(page.contains("&lt;script&gt;"));
    let markdown = report::markdown(&record);
    let outside_code = markdown.split("```").step_by(2).collect::<String>();
    assert!(!outside_code.contains("<script"), "a script got into the Markdown");
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(&small().build());
    let links = page.match_indices("href=\"").map(|(at, key)| &page[at + key.len()..]);
    for link in links {
        assert!(link.starts_with('#') || link.starts_with("data:,\""), "links to {}", &link[..40]);
    }
    for needless in ["http://", "https://", " src=", "@import", "url(", "<script", "<iframe", "onload="] {
        assert!(!page.contains(needless), "the page has `{needless}`");
    }
}

#[test]
fn every_chart_has_words_and_a_caption() {
    let page = page(&small().build());
    let figures: Vec<&str> = page.split("<figure>").skip(1).collect();
    assert!(figures.len() >= 10, "{}", figures.len());
    for figure in figures {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("<figcaption>") && figure.contains("role=\"img\" aria-label=\""));
        assert!(figure.contains("<details>") || figure.contains("class=\"says\""), "no equivalent: {figure}");
        assert!(!figure.contains("#F7"), "a stand-in colour was left");
    }
}

#[test]
fn headings_do_not_skip_levels() {
    let page = page(&small().build());
    assert_eq!(page.matches("<h1").count(), 1);
    let levels: Vec<u32> =
        page.match_indices("<h").filter_map(|(at, _)| page[at + 2..].chars().next()?.to_digit(10)).collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn the_command_can_be_pasted_into_a_shell() {
    let page = page(&small().build());
    assert!(page.contains("forebay prove grid.toml --target '/srv/sas work'"));
}

#[test]
fn hosts_are_shown_where_there_are_several_and_only_there() {
    let sample = Sample { ranks: 8, ..small() };
    let alone = page(&sample.build());
    assert!(!alone.contains("Spread over the hosts"));
    let record = over_hosts(sample.build(), &["node1", "node2", "node3", "node4"]);
    let several = page(&record);
    assert!(several.contains("<section id=\"hosts\"") && several.contains("4 hosts. Slowest is node"));
    assert!(several.contains("client NIC"), "the limit of each host");
    let markdown = report::markdown(&record);
    assert!(markdown.contains("## Spread over the hosts") && markdown.contains("| node3 |"), "{markdown}");
    if let Some(path) = std::env::var_os("FOREBAY_PAGE") {
        std::fs::write(path, several).unwrap();
    }
}
