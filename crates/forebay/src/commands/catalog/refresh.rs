//! Prices from a provider's public list into the user's catalog.

use std::path::Path;
use std::time::Duration;

use ::catalog::Catalog;
use ::prices::{Address, Change, Changed, Patience, Question, Refreshed, Secret, Watch};
use console::{Reading, paint};
use fault::{Fault, Kind};
use plan::market::allows;
use serde_json::json;
use spec::{Cloud, Filter};
use units::Bytes;

use crate::cli::RefreshPrices;
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::settings::Settings;

/// Changes that a terminal has room for; JSON has all.
const SHOWN: usize = 40;
/// Where a key for Google's price list may be.
const KEYS: [&str; 2] = ["FOREBAY_GCP_API_KEY", "GOOGLE_API_KEY"];

/// Reads the price list, and says what changed.
pub fn refresh(context: &Context, arguments: &RefreshPrices) -> Result {
    let dir = Settings::overlay(arguments.to.as_deref())?;
    let catalog = Settings::catalog_with(&dir)?;
    let cloud: Cloud = arguments.cloud.into();
    let base = arguments.base_url.as_deref().map(Address::parse).transpose()?;
    let filter = Filter { allow: arguments.items.clone(), deny: Vec::new() };
    let wanted = |item: &str| allows(&filter, item);
    let key = if cloud == Cloud::Gcp { key(base.as_ref())? } else { None };
    let question = Question {
        cloud,
        regions: regions(&catalog, cloud, &arguments.region),
        base,
        key,
        catalog: &catalog,
        wanted: &wanted,
        anew: arguments.restart,
    };
    let patience = Patience { silence: Duration::from_secs(arguments.timeout), ..Patience::default() };
    let watch = Progress(Reading::new(&context.printer));
    let refreshed = ::prices::refresh(&question, &dir, patience, &watch)?;
    drop(watch);
    show(context, &dir, &refreshed)?;
    Ok(Outcome::Done)
}

/// Those asked for, or those that the catalog has prices of.
fn regions(catalog: &Catalog, cloud: Cloud, asked: &[String]) -> Vec<String> {
    if asked.is_empty() {
        return catalog.prices.regions(cloud).iter().map(ToString::to_string).collect();
    }
    let mut regions: Vec<String> = asked.to_vec();
    regions.sort_unstable();
    regions.dedup();
    regions
}

/// The key for Google's list, from the environment alone: a command line is seen by every user of a machine.
fn key(base: Option<&Address>) -> fault::Result<Option<Secret>> {
    let set = |name: &&str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    match KEYS.iter().find_map(set) {
        Some(key) => Ok(Some(Secret::new(key.trim().to_owned()))),
        None if base.is_some_and(Address::is_here) => Ok(None),
        None => Err(Fault::new(Kind::Usage, "Google's price list needs an API key")
            .hint("make one in the Google Cloud console (APIs and services, credentials), enable the Cloud Billing API, and set FOREBAY_GCP_API_KEY")),
    }
}

struct Progress(Reading);

impl Watch for Progress {
    fn asking(&self, request: &str, number: usize, of: usize, kept: usize) {
        let kept =
            if kept > 0 { format!(", going on after {kept} pages that are kept") } else { String::new() };
        self.0.step(format!("[{number}/{of}] {request}{kept}"));
    }

    fn page(&self, pages: usize, matched: u64, bytes: u64) {
        self.0.so_far(format!("{pages} pages, {matched} prices, {}", Bytes::new(bytes)));
    }

    fn waiting(&self, why: &str, wait: Duration) {
        self.0.say(format!("{why}: trying again in {:.1} s", wait.as_secs_f64()));
    }
}

fn show(context: &Context, dir: &Path, refreshed: &Refreshed) -> fault::Result<()> {
    let Refreshed { summary, pages, kept, meters, unmatched, bytes } = refreshed;
    let path = dir.join("prices.csv");
    let document = json!({
        "path": path,
        "pages": pages,
        "pages_kept": kept,
        "meters": meters,
        "meters_unmatched": unmatched,
        "read_bytes": bytes,
        "summary": summary,
    });
    context.printer.document("prices_refreshed", &document, || text(refreshed))?;
    context.printer.say(format!(
        "wrote {}: {pages} pages read{}, {}; {unmatched} of {meters} meters are of nothing in the catalog",
        path.display(),
        if *kept > 0 { format!(" and {kept} kept from before") } else { String::new() },
        Bytes::new(*bytes),
    ));
    Ok(())
}

fn text(refreshed: &Refreshed) -> String {
    let changes = &refreshed.summary.changes;
    let count = |wanted: Change| changes.iter().filter(|changed| changed.change == wanted).count();
    // What is gone comes last: a list that has become shorter must not hide what is new in it.
    let (gone, others): (Vec<&Changed>, Vec<&Changed>) =
        changes.iter().partition(|changed| changed.change == Change::Gone);
    let mut lines: Vec<String> = others.into_iter().chain(gone).take(SHOWN).map(line).collect();
    if changes.len() > SHOWN {
        lines.push(format!("... and {} more (--format json has all)", changes.len() - SHOWN));
    }
    lines.push(format!(
        "{} new, {} changed, {} gone, {} as before",
        count(Change::New),
        count(Change::Changed),
        count(Change::Gone),
        refreshed.summary.same
    ));
    let unknown = &refreshed.summary.unknown;
    if !unknown.is_empty() {
        let some: Vec<&str> = unknown.iter().take(5).map(String::as_str).collect();
        let more = if unknown.len() > some.len() { ", ..." } else { "" };
        lines.push(format!("without a price: {} ({}{more})", unknown.len(), some.join(", ")));
    }
    lines.join("\n")
}

fn line(changed: &Changed) -> String {
    let usd = |price: Option<f64>| price.map_or_else(|| "unknown".to_owned(), money);
    let (old, new) = (usd(changed.old_usd_per_month), usd(changed.new_usd_per_month));
    let what = format!("{} {} {}", changed.region, changed.item, changed.term);
    match changed.change {
        Change::New => format!("{} {what}: {new} USD a month", paint::good("+")),
        Change::Gone => format!("{} {what}: was {old} USD a month, not in the list", paint::bad("-")),
        Change::Changed => format!("{} {what}: {old} -> {new} USD a month", paint::note("~")),
    }
}

/// Four digits that mean something, whatever the size: a machine's month and a GiB's.
fn money(usd: f64) -> String {
    match usd.abs() {
        size if size >= 1.0 => format!("{usd:.2}"),
        size if size >= 0.01 => format!("{usd:.4}"),
        _ => format!("{usd:.8}"),
    }
}
