//! A plan as one page.

use maud::{Markup, html};
use record::{DesignSheet, PlanDocument};

use super::{answer, choice, figures, glossary, sheet, tables, words};
use crate::html::{Frame, Section, details};
use crate::text;

/// The whole page.
pub fn page(document: &PlanDocument) -> fault::Result<String> {
    let frame = Frame {
        title: format!("Forebay plan: {}", document.grid),
        program: super::PROGRAM.to_owned(),
        what: "plan",
        header: header(document),
        sections: sections(document)?,
        footer: html! { p { "Plan for " b { (document.grid) } ", written by " (super::PROGRAM) "." } },
    };
    Ok(frame.page())
}

fn header(document: &PlanDocument) -> Markup {
    html! {
        header {
            p.brand { "Forebay storage plan" }
            h1 { (document.grid) }
            p.facts {
                span { "pCores " b { (document.pcores) } }
                span { "Regions " b { (document.regions.join(", ")) } }
                span { "Figures " b { (document.figures) } }
                span { "Ranked by " b { (document.objective) } }
                span { "Combinations " b { (text::grouped(document.looked_at as f64)) } }
            }
        }
    }
}

fn sections(document: &PlanDocument) -> fault::Result<Vec<Section>> {
    let shown = choice::in_full(document);
    let sheets: Vec<&DesignSheet> = shown.iter().filter_map(|place| document.ranked.get(*place)).collect();
    let mut sections = vec![Section::new("answer", "What to build", verdict(document))];
    if !document.ranked.is_empty() {
        sections.push(Section::new("ranking", "Designs compared", ranking(document, &shown)?));
        sections.push(Section::new("designs", "Designs limit by limit", designs(document, &shown)?));
    }
    if !document.growth.is_empty() {
        sections.push(Section::new("growth", "If the grid grows", tables::growth(document).html()));
    }
    if !document.limits_unknown.is_empty() || !document.prices_unknown.is_empty() {
        sections.push(Section::new("apart", "Designs that cannot be ranked", apart(document)));
    }
    if !document.refused.is_empty() {
        sections.push(Section::new(
            "refused",
            "Families without a design",
            tables::refused(&document.refused).html(),
        ));
    }
    sections.push(Section::new("basis", "What the figures rest on", basis(document, &sheets)));
    sections.push(Section::new("glossary", "Words", glossary::html()));
    Ok(sections)
}

fn verdict(document: &PlanDocument) -> Markup {
    let (class, sign) = if document.ranked.is_empty() { ("bad", "✗") } else { ("good", "✓") };
    let words = answer::words(document);
    html! {
        div.verdict.(class) {
            p.answer { span aria-hidden="true" { (sign) } " " (answer::headline(document)) }
            p.plain-words { (words.first) }
            @if !words.storages.is_empty() { ul.remarks { @for storage in &words.storages { li { (storage) } } } }
            @if !words.last.is_empty() { p.plain-words { (words.last) } }
            @if let Some(best) = document.ranked.first() { p.belief { (trust(best)) } }
        }
        (tables::needs(document).html())
    }
}

/// How far the best design's figures can be trusted.
fn trust(best: &DesignSheet) -> Markup {
    html! {
        "Figures: " b { (best.confidence) } ". "
        @if words::doubtful(best) { "One or more prices are in doubt (~). " }
        a href="#basis" { "What they rest on" }
    }
}

fn ranking(document: &PlanDocument, shown: &[usize]) -> fault::Result<Markup> {
    let left = document.ranked.len().saturating_sub(tables::rows(document).len());
    Ok(html! {
        p { "◇: no design beats it in cost, throughput, capacity and servers at once. ~: a price is in doubt." }
        (tables::ranking(document).html())
        @if left > 0 { p { (text::count(left, "design")) " further down the ranking are left out here." } }
        (figures::front(document)?)
        (figures::costs(document, shown)?)
    })
}

fn designs(document: &PlanDocument, shown: &[usize]) -> fault::Result<Markup> {
    let best = choice::best_of_families(document);
    let mut parts = Vec::new();
    for place in shown {
        if let Some(sheet) = document.ranked.get(*place) {
            let family = best.iter().find(|(_, known)| known == place).map(|(family, _)| family.as_str());
            parts.push(design(*place, sheet, family)?);
        }
    }
    Ok(html! {
        p { "The first designs of the ranking, and the best of each family. A limit bounds the whole design; the smallest is its bottleneck." }
        @for part in parts { (part) }
    })
}

fn design(place: usize, sheet: &DesignSheet, family: Option<&str>) -> fault::Result<Markup> {
    let mut storages = Vec::new();
    for storage in &sheet.storages {
        let table = sheet::limits(sheet, storage).html();
        storages.push((
            figures::limits(sheet, storage)?,
            details("The same in figures, with causes and sources", &table),
        ));
    }
    let remarks = sheet::remarks(sheet);
    Ok(html! {
        details.design open[place == 0] {
            summary { h3 { (place + 1) ". " (sheet.title) } }
            p.says {
                (words::place(sheet)) ", " (words::commitment(sheet)) ", " (sheet.client_count) " x " (sheet.client_sku) ": "
                b { (words::cell(sheet.usd_per_month, words::doubtful(sheet))) } " a month"
                @if let Some(family) = family { "; best of " (family) }
            }
            @for (figure, table) in &storages { (figure) (table) }
            (sheet::costs(sheet).html())
            h4 { "Worth knowing" }
            ul.remarks { @for remark in &remarks { li { (remark) } } }
        }
    })
}

fn apart(document: &PlanDocument) -> Markup {
    html! {
        p { "They may be better than the ranked ones: what is missing has to be found out first." }
        (tables::apart("Prices that are not in the catalog", &document.prices_unknown).html())
        (tables::apart("Limits that are not in the catalog", &document.limits_unknown).html())
    }
}

fn basis(document: &PlanDocument, sheets: &[&DesignSheet]) -> Markup {
    html! {
        (sheet::basis(sheets).html())
        @if !document.rules.is_empty() {
            h3 { "Rules in force" }
            ul.remarks { @for rule in &document.rules { li { (rule) } } }
        }
        @let sources = sheet::sources(sheets);
        @if !sources.is_empty() { (details("Sources with their dates", &sources.html())) }
    }
}
