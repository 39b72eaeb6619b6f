//! Designs as rows.

use record::{DesignSheet, PlanDocument, RefusedFamily};

use super::{choice, words};
use crate::table::{Cell, Table, Tone};
use crate::text;

/// Rows of the ranking that are shown; the JSON document has all.
const MOST_RANKED: usize = 40;
/// Designs shown of those that can't be ranked.
const MOST_APART: usize = 12;

/// What every storage has to do.
pub fn needs(document: &PlanDocument) -> Table {
    let mut table = Table::new("What is needed, all clients together; per pCore below")
        .words(["Storage"])
        .figures(["Capacity", "Read", "Write", "Mixed", "Reads to writes"]);
    let Some(sheet) = words::any(document) else { return table };
    let pcores = f64::from(document.pcores.max(1));
    for storage in &sheet.storages {
        let rate = |rate: Option<f64>| {
            Cell::from(words::rate(rate)).note(format!("{} per pCore", words::rate(rate.map(|r| r / pcores))))
        };
        let needed = &storage.needed;
        table.row(vec![
            storage.name.as_str().into(),
            text::capacity(storage.needed_capacity_bytes).into(),
            rate(needed.read_bytes_per_second),
            rate(needed.write_bytes_per_second),
            rate(needed.mixed_bytes_per_second),
            words::mix(storage.read_share).into(),
        ]);
    }
    table
}

/// The ranking.
pub fn ranking(document: &PlanDocument) -> Table {
    let several = words::any(document).is_some_and(|sheet| sheet.storages.len() > 1);
    let together = if several { "; rates of all storages together" } else { "" };
    let mut table = columns(&format!("Designs by {}{together}", document.objective));
    let (best, places) = (choice::best_of_families(document), rows(document));
    for (place, sheet) in document.ranked.iter().enumerate().filter(|(place, _)| places.contains(place)) {
        let family = best.iter().find(|(_, known)| *known == place).map(|(family, _)| family.as_str());
        table.row(row(document, place, sheet, family));
    }
    table
}

/// Places of the designs in the table: the first ones, and those that are shown in full.
pub fn rows(document: &PlanDocument) -> Vec<usize> {
    let in_full = choice::in_full(document);
    (0..document.ranked.len()).filter(|place| *place < MOST_RANKED || in_full.contains(place)).collect()
}

fn columns(caption: &str) -> Table {
    Table::new(caption)
        .figures(["Rank"])
        .sentences(["Design"])
        .figures(["Per month", "Read", "Write", "Mixed"])
        .words(["Limited by"])
}

fn row(document: &PlanDocument, place: usize, sheet: &DesignSheet, family: Option<&str>) -> Vec<Cell> {
    let mut rank = (place + 1).to_string();
    if document.front.contains(&place) {
        rank.push_str(" ◇");
    }
    let place = format!(
        "{}, {} x {}, {}; figures {}",
        words::place(sheet),
        sheet.client_count,
        sheet.client_sku,
        words::commitment(sheet),
        sheet.confidence
    );
    let design = match family {
        Some(family) => Cell::from(sheet.title.as_str()).note(format!("best of {family}; {place}")),
        None => Cell::from(sheet.title.as_str()).note(place),
    };
    let mut cells = vec![Cell::from(rank), design];
    cells.extend(figures(sheet));
    cells
}

/// Everything right of the design's name.
fn figures(sheet: &DesignSheet) -> Vec<Cell> {
    let pcores = sheet.pcores().map(f64::from);
    let rate = |rate: Option<f64>| {
        let cell = Cell::from(words::rate(rate));
        match rate.zip(pcores) {
            Some((rate, pcores)) => {
                cell.note(format!("{} per pCore", words::rate(Some(rate / pcores.max(1.0)))))
            }
            None => cell,
        }
    };
    let doubtful = words::doubtful(sheet);
    vec![
        Cell::from(words::cell(sheet.usd_per_month, doubtful)).note(format!(
            "{} per MB/s",
            sheet.usd_per_month_per_mb_per_second.map_or_else(|| text::NONE.to_owned(), text::usd)
        )),
        rate(words::together(sheet, |rates| rates.read_bytes_per_second)),
        rate(words::together(sheet, |rates| rates.write_bytes_per_second)),
        rate(words::together(sheet, |rates| rates.mixed_bytes_per_second)),
        Cell::from(limits(sheet)).note(headrooms(sheet)),
    ]
}

fn limits(sheet: &DesignSheet) -> String {
    let several = sheet.storages.len() > 1;
    let names = sheet.storages.iter().map(|storage| {
        let limit = storage.bottleneck.as_deref().unwrap_or("nothing known");
        if several { format!("{}: {limit}", storage.name) } else { limit.to_owned() }
    });
    names.collect::<Vec<_>>().join("; ")
}

fn headrooms(sheet: &DesignSheet) -> String {
    let next = sheet.storages.iter().map(|storage| words::headroom(storage.headroom));
    format!("next limit {}", next.collect::<Vec<_>>().join(", "))
}

/// Designs that can't be ranked.
pub fn apart(caption: &str, sheets: &[DesignSheet]) -> Table {
    let left = sheets.len().saturating_sub(MOST_APART);
    let caption = if left > 0 { format!("{caption} ({left} more are left out)") } else { caption.to_owned() };
    let mut table = Table::new(caption)
        .words(["Where"])
        .sentences(["What is not known"])
        .figures(["Mixed", "Known cost per month"]);
    for sheet in sheets.iter().take(MOST_APART) {
        let known: f64 = sheet.costs.iter().filter_map(|cost| cost.usd_per_month).sum();
        table.row(vec![
            Cell::from(words::place(sheet)),
            Cell::from(missing(sheet))
                .note(format!("{}; {} x {}", sheet.title, sheet.client_count, sheet.client_sku)),
            words::rate(words::together(sheet, |rates| rates.mixed_bytes_per_second)).into(),
            format!("at least {}", text::usd(known)).into(),
        ]);
    }
    table
}

fn missing(sheet: &DesignSheet) -> String {
    let limits = sheet.storages.iter().flat_map(|storage| &storage.unknown).cloned();
    let prices = sheet.costs.iter().filter(|cost| cost.usd_per_month.is_none());
    let mut missing: Vec<String> =
        limits.chain(prices.map(|cost| format!("price of {}", cost.what))).collect();
    missing.dedup();
    missing.join("; ")
}

/// Families without a design; the same reason in several regions is told once.
pub fn refused(refused: &[RefusedFamily]) -> Table {
    let mut table =
        Table::new("Families without a design").words(["Family", "Storage", "Where"]).sentences(["Why not"]);
    let mut told: Vec<(&RefusedFamily, Vec<&str>)> = Vec::new();
    for one in refused {
        let same = |known: &&mut (&RefusedFamily, Vec<&str>)| {
            (&known.0.family, &known.0.storage, &known.0.reasons) == (&one.family, &one.storage, &one.reasons)
        };
        match told.iter_mut().find(same) {
            Some((_, regions)) => regions.push(&one.region),
            None => told.push((one, vec![&one.region])),
        }
    }
    for (one, regions) in told {
        table.row(vec![
            one.family.as_str().into(),
            one.storage.as_str().into(),
            regions.join(", ").into(),
            one.reasons.join("; ").into(),
        ]);
    }
    table
}

/// The same question for a larger grid.
pub fn growth(document: &PlanDocument) -> Table {
    let mut table = Table::new("If the grid grows, at the same rates per pCore")
        .words(["Grid"])
        .sentences(["Today's kind of design"])
        .figures(["Per month"])
        .sentences(["Best of all then"])
        .figures(["Per month, best"]);
    for step in &document.growth {
        let (kind, cost) = match &step.same_kind {
            Some(design) => (
                Cell::from(design.change.as_str()).note(design.title.as_str()),
                words::cell(design.usd_per_month, false),
            ),
            None => (
                Cell::from("✗ it stops here").note(step.stops.join("; ")).tone(Tone::Warn),
                text::NONE.to_owned(),
            ),
        };
        let (best, best_cost) = match &step.best {
            Some(design) => (Cell::from(design.title.as_str()), words::cell(design.usd_per_month, false)),
            None => (Cell::from("none").tone(Tone::Bad), text::NONE.to_owned()),
        };
        let pcores = (f64::from(document.pcores) * step.factor).round();
        table.row(vec![
            Cell::from(format!("{} times", step.factor)).note(format!("{pcores} pCores")),
            kind,
            cost.into(),
            best,
            best_cost.into(),
        ]);
    }
    table
}
