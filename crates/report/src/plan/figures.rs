//! The charts of a plan.

use maud::{Markup, html};
use record::{DesignSheet, PlanDocument, RatesRow, StorageSheet};

use super::{choice, words};
use crate::charts::{self, Entry, Ink, Link, LinkBar, Look, Point, Stack};
use crate::html::figure;
use crate::text;

type Way = (usize, &'static str, fn(&RatesRow) -> Option<f64>);
/// The ways of using a storage, with the series of each: as in a run's report, and both together.
const WAYS: [Way; 3] = [
    (1, "read", |rates| rates.read_bytes_per_second),
    (0, "write", |rates| rates.write_bytes_per_second),
    (2, "mixed", |rates| rates.mixed_bytes_per_second),
];
/// Series of a bar of costs, in the order they are stacked.
const PARTS: [&str; 6] = ["clients", "servers", "disks", "service", "metadata servers", "disk operations"];

/// The chain of limits of one storage.
pub fn limits(sheet: &DesignSheet, storage: &StorageSheet) -> fault::Result<Markup> {
    if storage.limits.is_empty() {
        return Ok(html! {});
    }
    let mb = |rate: f64| rate / 1e6;
    let links: Vec<Link> = storage
        .limits
        .iter()
        .map(|row| Link {
            name: row.name.clone(),
            bottleneck: storage.bottleneck.as_ref() == Some(&row.name),
            bars: WAYS
                .map(|(series, _, of)| LinkBar {
                    series,
                    rate: of(&row.reached).map(mb),
                    required: of(&storage.needed).map(mb),
                })
                .into(),
        })
        .collect();
    let mut legend: Vec<Entry> = WAYS.map(|(series, name, _)| Entry::bar(Look::series(series), name)).into();
    legend.push(Entry::line(Look::solid(Ink::Required), "needed"));
    let name = if sheet.storages.len() > 1 { format!(" of {}", storage.name) } else { String::new() };
    let caption = format!("What each limit{name} lets through, all clients together (MB/s)");
    let says = says(storage);
    let chart = charts::chain(&links, &[], "MB/s", format!("{caption}. {says}"))?;
    Ok(figure(&caption, &chart, Some(charts::legend(&legend)), &html! { p.says { (says) } }))
}

/// The chain in words.
fn says(storage: &StorageSheet) -> String {
    let ways = WAYS.map(|(_, name, of)| {
        let delivered = words::rate(of(&storage.delivered));
        format!("{name} {delivered} of {} needed", words::rate(of(&storage.needed)))
    });
    let limit = match (&storage.bottleneck, &storage.next_limit) {
        (Some(limit), Some(next)) => format!(
            "The bottleneck (▸, tightest for {}) is the {limit}; the {next} comes next, {}.",
            storage.tightest,
            words::higher(storage.headroom)
        ),
        (Some(limit), None) => {
            format!("The bottleneck (▸, tightest for {}) is the {limit}.", storage.tightest)
        }
        (None, _) => "Nothing known bounds it.".to_owned(),
    };
    let unknown = match storage.unknown.as_slice() {
        [] => String::new(),
        unknown => format!(" Not known: {}.", unknown.join("; ")),
    };
    format!("Delivered: {}. {limit}{unknown}", ways.join(", "))
}

/// Cost against throughput of every ranked design.
pub fn front(document: &PlanDocument) -> fault::Result<Markup> {
    let best = choice::best_of_families(document);
    let shown = choice::in_full(document);
    let points: Vec<Point> = document
        .ranked
        .iter()
        .enumerate()
        .filter_map(|(place, sheet)| {
            let family = choice::family(sheet);
            Some(Point {
                rate: words::together(sheet, |rates| rates.mixed_bytes_per_second)? / 1e6,
                cost: sheet.usd_per_month?,
                series: best.iter().position(|(known, _)| *known == family),
                front: document.front.contains(&place),
                label: (shown.contains(&place) || document.front.contains(&place))
                    .then(|| (place + 1).to_string()),
            })
        })
        .filter(|point| point.rate > 0.0 && point.cost > 0.0)
        .collect();
    if points.is_empty() {
        return Ok(html! {});
    }
    let mut legend: Vec<Entry> = best
        .iter()
        .enumerate()
        .map(|(index, (family, _))| {
            let looks = Look { ink: Ink::Series(index), dash: 0 };
            Entry::line(looks, family.as_str())
        })
        .collect();
    legend.push(Entry::line(Look { ink: Ink::Required, dash: 1 }, "needed"));
    let says = format!(
        "{} Figures are ranks in the table; a ring (◇ in the table) marks the {} that none beats in cost, throughput, capacity and servers at once. The cheapest costs {} a month.",
        count(&points),
        text::count(points.iter().filter(|point| point.front).count(), "design"),
        text::usd(points.iter().map(|point| point.cost).fold(f64::INFINITY, f64::min)),
    );
    let needed = words::needed(document).map(|needed| needed / 1e6);
    let chart = charts::front(&points, needed, says.clone())?;
    let caption = "Cost against throughput, one mark per ranked design";
    let figure = figure(caption, &chart, Some(charts::legend(&legend)), &html! { p.says { (says) } });
    Ok(html! { div.wide { (figure) } })
}

fn count(points: &[Point]) -> String {
    let edge = |pick: fn(f64, f64) -> f64| points.iter().map(|p| p.rate).reduce(pick).unwrap_or_default();
    format!(
        "{} from {} to {}.",
        text::count(points.len(), "design"),
        text::whole_mb(edge(f64::min)),
        text::whole_mb(edge(f64::max))
    )
}

/// What the best designs' cost is made of.
pub fn costs(document: &PlanDocument, shown: &[usize]) -> fault::Result<Markup> {
    let sheets = || shown.iter().filter_map(|place| Some((*place, document.ranked.get(*place)?)));
    let stacks: Vec<Stack> = sheets().map(|(place, sheet)| stack(place, sheet)).collect();
    if stacks.is_empty() {
        return Ok(html! {});
    }
    let used = |name: &str| sheets().any(|(_, sheet)| part(sheet, name) > 0.0);
    let legend: Vec<Entry> = PARTS
        .iter()
        .enumerate()
        .filter(|(_, name)| used(name))
        .map(|(index, name)| Entry::bar(Look::series(index), *name))
        .collect();
    let says: Vec<String> = sheets()
        .map(|(place, sheet)| {
            let parts = PARTS.iter().filter(|name| part(sheet, name) > 0.0);
            let parts: Vec<String> =
                parts.map(|name| format!("{name} {}", text::usd(part(sheet, name)))).collect();
            let total = words::cell(sheet.usd_per_month, words::doubtful(sheet));
            format!("{}: {total}, of it {}", place + 1, text::list(&parts))
        })
        .collect();
    let says = format!("{}. ~ means that a price is in doubt.", says.join("; "));
    let chart = charts::stacks(&stacks, "US dollars per month", says.clone())?;
    let caption = "What the cost is made of: the first designs, and the best of each family";
    Ok(figure(caption, &chart, Some(charts::legend(&legend)), &html! { p.says { (says) } }))
}

fn stack(place: usize, sheet: &DesignSheet) -> Stack {
    let parts = PARTS.iter().enumerate().map(|(series, name)| (series, part(sheet, name)));
    Stack {
        name: format!("{} {}", place + 1, choice::family(sheet)),
        parts: parts.filter(|(_, amount)| *amount > 0.0).collect(),
        figure: words::cell(sheet.usd_per_month, words::doubtful(sheet)),
    }
}

fn part(sheet: &DesignSheet, name: &str) -> f64 {
    sheet.costs.iter().filter(|cost| cost.part == name).filter_map(|cost| cost.usd_per_month).sum()
}
