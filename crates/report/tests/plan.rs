//! The page of a plan holds what the document says, the best design first, and every chart has its words.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may panic")]

use record::PlanDocument;
use testkit::plans::{Sketch, plan};
use testkit::samples::Sample;

fn page(document: &PlanDocument) -> String {
    report::plan_html(document).unwrap()
}

#[test]
fn every_section_is_there_and_the_answer_comes_first() {
    let page = page(&plan());
    let ids = ["answer", "ranking", "designs", "growth", "apart", "refused", "basis", "glossary"];
    let places: Vec<usize> =
        ids.iter().map(|id| page.find(&format!("<section id=\"{id}\"")).expect(id)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_answer_says_what_where_how_fast_what_limits_it_and_what_it_costs() {
    let document = plan();
    let (page, markdown) = (page(&document), report::plan_markdown(&document));
    let words = [
        "$30,386 a month in azure eastus",
        "Lustre: 21 x Standard_E16s_v3 with 7 x S40",
        "read 7,258 MB/s (7,200 MB/s needed)",
        "limited by the server VM disk limit",
        "Storage costs $27,023 a month, the clients $3,364.",
    ];
    for word in words {
        assert!(page.contains(word), "`{word}` is not on the page");
    }
    for word in ["$30,386 a month", "limited by the server VM disk limit", "Storage costs $27,023"] {
        assert!(markdown.contains(word), "`{word}` is not in the Markdown");
    }
}

#[test]
fn everything_the_document_knows_is_shown() {
    let document = plan();
    let words = [
        "best of managed-lustre",
        "list price of 2024-05",
        "client mount: what one client reaches",
        "price of 100 TiB of Tier-X",
        "azure eastus, gcp us-central1",
        "its content is lost when a client stops",
        "a file system has at most 160 OSTs",
        "21 more OSSs (42)",
        "an OST has at least 256 GiB",
        "0.90 (0.85-0.95, n=4, published)",
        "Provider documentation, disk pages (2026-05-20)",
        "next step up: one more OSS",
        "a file is striped over one OST",
        "of 8,064 MB/s",
        "151 MB/s per pCore",
    ];
    for (name, text) in [("page", page(&document)), ("Markdown", report::plan_markdown(&document))] {
        let text = text.replace('\\', "");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in the {name}");
        }
    }
}

#[test]
fn the_same_document_gives_the_same_page() {
    assert_eq!(page(&plan()), page(&plan()));
    assert_eq!(report::plan_markdown(&plan()), report::plan_markdown(&plan()));
}

#[test]
fn the_whole_document_as_markdown() {
    insta::assert_snapshot!(report::plan_markdown(&plan()));
}

#[test]
fn every_chart_has_words_and_a_caption() {
    let page = page(&plan());
    let figures: Vec<&str> = page.split("<figure>").skip(1).collect();
    // The front, the costs, and the limits of three designs.
    assert_eq!(figures.len(), 5);
    for figure in figures {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("<figcaption>") && figure.contains("role=\"img\" aria-label=\""));
        assert!(figure.contains("class=\"says\""), "no equivalent: {figure}");
        assert!(!figure.contains("#F7"), "a stand-in colour was left");
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(&plan());
    for needless in ["http://", "https://", " src=", "@import", "url(", "<script", "<iframe", "onload="] {
        assert!(!page.contains(needless), "the page has `{needless}`");
    }
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "<script>alert(1)</script>\"'&";
    let mut document = plan();
    document.grid = hostile.to_owned();
    document.ranked[0].title = hostile.to_owned();
    document.ranked[0].storages[0].limits[0].name = hostile.to_owned();
    document.refused[0].reasons = vec![hostile.to_owned()];
    document.rules.push(hostile.to_owned());
    assert!(!page(&document).contains("<script"), "a script got in");
    assert!(!report::plan_markdown(&document).contains("<script"), "a script got into the Markdown");
}

#[test]
fn nothing_found_is_an_answer_too() {
    let mut document = plan();
    document.ranked.clear();
    document.front.clear();
    let page = page(&document);
    assert!(page.contains("No design whose limits and prices are known meets what sample needs"));
    assert!(page.contains("2 designs cannot be ranked"));
    document.limits_unknown.clear();
    document.prices_unknown.clear();
    document.growth.clear();
    document.refused.clear();
    document.rules.clear();
    report::plan_html(&document).unwrap();
    report::plan_markdown(&document);
}

#[test]
fn figures_that_are_missing_or_no_numbers_become_words() {
    let mut document = plan();
    let sheet = &mut document.ranked[0];
    sheet.usd_per_month = None;
    sheet.usd_per_month_per_mb_per_second = None;
    let storage = &mut sheet.storages[0];
    storage.limits[0].reached.read_bytes_per_second = None;
    storage.limits[1].reached.read_bytes_per_second = Some(f64::INFINITY);
    storage.limits[2].reached.read_bytes_per_second = Some(f64::NAN);
    storage.delivered.mixed_bytes_per_second = None;
    storage.headroom = None;
    document.ranked[1].storages[0].limits.clear();
    for text in [page(&document), report::plan_markdown(&document)] {
        for nonsense in ["NaN", "inf ", "inf<", ">inf"] {
            assert!(!text.contains(nonsense), "`{nonsense}` is in it");
        }
    }
}

#[test]
fn several_storages_are_told_apart() {
    let mut document = plan();
    let other = Sketch { storage: "work", family: "striped-volumes", ..Sketch::default() };
    for sheet in &mut document.ranked {
        sheet.storages.push(other.sheet().storages.remove(0));
    }
    let page = page(&document);
    assert!(page.contains("<li>work: Lustre: 21 x"), "the answer names both");
    assert!(page.contains("best of lustre-on-vms + striped-volumes"));
    assert!(page.contains("14,515 MB/s"), "rates of both together");
}

#[test]
fn a_run_with_a_design_shows_its_limits() {
    let sample = Sample { seconds: 6, latencies_per_interval: 50, ..Sample::default() };
    let without = report::html(&sample.build()).unwrap();
    assert!(!without.contains("id=\"design\""));
    let record = Sample { design: Some(testkit::plans::for_a_run()), ..sample }.build();
    let (page, markdown) = (report::html(&record).unwrap(), report::markdown(&record));
    for text in [&page, &markdown] {
        assert!(text.contains("Measured against the design"));
        assert!(text.contains("% of the server VM disk limit (219.4 MB/s per pCore): this limits it"));
        assert!(text.contains("8 of the design's 16 pCores, on 1 of its 2 clients"));
    }
    assert!(page.contains("work read: what each limit lets through (MB/s per pCore)"));
}
