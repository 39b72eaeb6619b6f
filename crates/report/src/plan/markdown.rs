//! A plan as Markdown: the same facts in the same order, without charts.

use record::{DesignSheet, PlanDocument};

use super::{answer, choice, glossary, sheet, tables, words};
use crate::table::{Table, escape};
use crate::text::{self, line};

/// The whole document.
pub fn document(document: &PlanDocument) -> String {
    let mut out = String::new();
    line(&mut out, format!("# Forebay plan: {}\n", escape(&document.grid)));
    answered(&mut out, document);
    line(&mut out, format!("{}\n", escape(&asked(document))));
    add(&mut out, &tables::needs(document));
    let shown: Vec<(usize, &DesignSheet)> = choice::in_full(document)
        .into_iter()
        .filter_map(|place| Some((place, document.ranked.get(place)?)))
        .collect();
    if !document.ranked.is_empty() {
        heading(&mut out, "Designs compared");
        line(
            &mut out,
            "◇: no design beats it in cost, throughput, capacity and servers at once. \\~: a price is in doubt.\n",
        );
        add(&mut out, &tables::ranking(document));
        heading(&mut out, "Designs limit by limit");
        shown.iter().for_each(|(place, sheet)| design(&mut out, *place, sheet));
    }
    if !document.growth.is_empty() {
        heading(&mut out, "If the grid grows");
        add(&mut out, &tables::growth(document));
    }
    if !document.limits_unknown.is_empty() || !document.prices_unknown.is_empty() {
        heading(&mut out, "Designs that cannot be ranked");
        add(&mut out, &tables::apart("Prices that are not in the catalog", &document.prices_unknown));
        add(&mut out, &tables::apart("Limits that are not in the catalog", &document.limits_unknown));
    }
    if !document.refused.is_empty() {
        heading(&mut out, "Families without a design");
        add(&mut out, &tables::refused(&document.refused));
    }
    let sheets: Vec<&DesignSheet> = shown.iter().map(|(_, sheet)| *sheet).collect();
    basis(&mut out, document, &sheets);
    out
}

fn answered(out: &mut String, document: &PlanDocument) {
    let words = answer::words(document);
    line(out, format!("**{}**: {}\n", escape(&answer::headline(document)), escape(&words.first)));
    if !words.storages.is_empty() {
        bullets(out, &words.storages);
    }
    if !words.last.is_empty() {
        line(out, format!("{}\n", escape(&words.last)));
    }
}

fn asked(document: &PlanDocument) -> String {
    format!(
        "{} combinations in {}; {} figures; ranked by {}.",
        text::grouped(document.looked_at as f64),
        document.regions.join(", "),
        document.figures,
        document.objective
    )
}

fn design(out: &mut String, place: usize, sheet: &DesignSheet) {
    line(out, format!("### {}. {}\n", place + 1, escape(&sheet.title)));
    let clients = format!("{} x {}", sheet.client_count, sheet.client_sku);
    let cost = words::cell(sheet.usd_per_month, words::doubtful(sheet));
    let place = words::place(sheet);
    line(out, escape(&format!("{place}, {}, {clients}: {cost} a month", words::commitment(sheet))));
    line(out, "");
    sheet.storages.iter().for_each(|storage| add(out, &sheet::limits(sheet, storage)));
    add(out, &sheet::costs(sheet));
    bullets(out, &sheet::remarks(sheet));
}

fn basis(out: &mut String, document: &PlanDocument, sheets: &[&DesignSheet]) {
    heading(out, "What the figures rest on");
    add(out, &sheet::basis(sheets));
    if !document.rules.is_empty() {
        line(out, "Rules in force:\n");
        bullets(out, &document.rules);
    }
    add(out, &sheet::sources(sheets));
    heading(out, "Words");
    for (word, meaning) in glossary::WORDS {
        line(out, format!("- **{word}**: {}", escape(meaning)));
    }
}

fn heading(out: &mut String, title: &str) {
    line(out, format!("## {title}\n"));
}

fn add(out: &mut String, table: &Table) {
    out.push_str(&table.markdown());
}

fn bullets(out: &mut String, items: &[String]) {
    items.iter().for_each(|item| line(out, format!("- {}", escape(item))));
    line(out, "");
}
