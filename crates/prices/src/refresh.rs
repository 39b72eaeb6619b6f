use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use catalog::{Catalog, Table};
use fault::{Fault, Kind, Result};
use spec::Cloud;

use crate::aws::{self, Aws};
use crate::azure::{self, Azure};
use crate::gcp::{self, Gcp};
use crate::http::{Address, Client, Patience, Secret};
use crate::journal::{Heading, Journal, Page, Place};
use crate::meter::{Key, Meter, Quote, quotes};
use crate::sold::Sold;
use crate::summary::{self, Summary};

/// An answer of more pages is none.
const MAX_PAGES: usize = 20_000;
/// A file that changes again and again while it is read can't be read.
const CHANGES: usize = 3;

/// What to ask.
pub struct Question<'a> {
    /// Whose prices.
    pub cloud: Cloud,
    /// Of which regions.
    pub regions: Vec<String>,
    /// Another server than the provider's own.
    pub base: Option<Address>,
    /// The key that Google's price list needs.
    pub key: Option<Secret>,
    /// The machines, disks and services to be priced, and today's prices of them.
    pub catalog: &'a Catalog,
    /// Which items to price.
    pub wanted: &'a dyn Fn(&str) -> bool,
    /// Read every page again, also those of an earlier refresh that was stopped.
    pub anew: bool,
}

/// Hears how a refresh goes on.
pub trait Watch {
    /// A request is about to be made, after `kept` pages of an earlier run.
    fn asking(&self, request: &str, number: usize, of: usize, kept: usize);
    /// Pages, meters for which the catalog has an item, and bytes of this request so far.
    fn page(&self, pages: usize, matched: u64, bytes: u64);
    /// The server is given time before the next try.
    fn waiting(&self, why: &str, wait: Duration);
}

/// What came of a refresh.
#[derive(Debug, Clone, PartialEq)]
pub struct Refreshed {
    /// The differences to the catalog before.
    pub summary: Summary,
    /// Pages read by this run.
    pub pages: usize,
    /// Pages that an earlier run had read.
    pub kept: usize,
    /// Meters seen.
    pub meters: u64,
    /// Meters that nothing in the catalog is sold by.
    pub unmatched: u64,
    /// Bytes read, in both runs.
    pub bytes: u64,
}

/// A price list, read page by page.
pub(crate) trait List {
    /// What is asked, in order.
    fn requests(&self) -> Vec<String>;
    /// One page of the answer to a request; `earlier` are the pages before it.
    fn page(
        &self,
        request: usize,
        place: Option<&Place>,
        earlier: &[&Page],
        watch: &dyn Watch,
    ) -> Result<Page>;
    /// Everything that was found.
    fn meters(&self, pages: &[&Page]) -> Vec<Meter>;
}

/// The provider's own server.
pub const fn default_base(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Azure => azure::SERVER,
        Cloud::Aws => aws::SERVER,
        Cloud::Gcp => gcp::SERVER,
    }
}

/// How the sources of rows begin that a refresh wrote.
pub(crate) const fn source(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Azure => azure::SOURCE,
        Cloud::Aws => aws::SOURCE,
        Cloud::Gcp => gcp::SOURCE,
    }
}

/// Reads the prices and lays them into the overlay in `dir`. Until the last page is read the overlay stays as it is; finished
/// pages are kept in `prices.csv.partial` beside it, and the same question within a day goes on after them.
pub fn refresh(
    question: &Question<'_>,
    dir: &Path,
    patience: Patience,
    watch: &dyn Watch,
) -> Result<Refreshed> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string();
    let base = match &question.base {
        Some(base) => base.clone(),
        None => Address::parse(default_base(question.cloud))?,
    };
    let sold = Sold::new(question.catalog, question.cloud, question.wanted);
    let client = Client::new(&base, question.key.clone(), patience);
    let list: Box<dyn List + '_> = match question.cloud {
        Cloud::Azure => Box::new(Azure::new(client, base.clone(), &sold, &question.regions, &today)),
        Cloud::Aws => Box::new(Aws::new(client, base.clone(), &sold, &question.regions, watch)),
        Cloud::Gcp => Box::new(Gcp::new(client, base.clone(), &sold, &question.regions, &today)),
    };
    let mut journal = journal(question, &base, &sold, list.as_ref(), dir)?;
    let read = read_all(list.as_ref(), &mut journal, watch)?;
    let pages: Vec<&Page> = (0..list.requests().len()).flat_map(|request| journal.of(request)).collect();
    let found = quotes(list.meters(&pages), &sold);
    let sum = |of: fn(&Page) -> u64| pages.iter().map(|page| of(page)).sum::<u64>();
    let (meters, matched, bytes) = (sum(|page| page.seen), sum(|page| page.matched), sum(|page| page.bytes));
    complete(question, &sold, &found, meters)?;
    let rows = summary::rows(question, &found, &today);
    catalog::update(dir, Table::Prices, &rows)?;
    let after = Catalog::load(dir)?;
    let summary = summary::of(question, &sold, &found, &after);
    let kept = journal.kept;
    journal.done()?;
    Ok(Refreshed { summary, pages: read, kept, meters, unmatched: meters - matched, bytes })
}

fn journal(
    question: &Question<'_>,
    base: &Address,
    sold: &Sold<'_>,
    list: &dyn List,
    dir: &Path,
) -> Result<Journal> {
    let mut items = sold.items();
    items.sort_unstable();
    let heading = Heading {
        version: 1,
        cloud: format!("{:?}", question.cloud).to_lowercase(),
        base: base.to_string(),
        requests: list.requests(),
        items: format!("{:016x}", fingerprint(&items)),
    };
    if heading.requests.is_empty() {
        return Err(Fault::new(Kind::Usage, "nothing in the catalog matches `--items`")
            .hint("`forebay catalog list prices` shows the names of items"));
    }
    std::fs::create_dir_all(dir).map_err(|error| Fault::os("create directory", dir, error))?;
    Journal::open(&dir.join("prices.csv"), &heading, question.anew)
}

/// FNV-1a: the same in every version of the program.
fn fingerprint(items: &[String]) -> u64 {
    let bytes = items.iter().flat_map(|item| item.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads what is not in the journal yet; the number of pages read.
fn read_all(list: &dyn List, journal: &mut Journal, watch: &dyn Watch) -> Result<usize> {
    let requests = list.requests();
    let mut read = 0;
    for (number, request) in requests.iter().enumerate() {
        watch.asking(request, number + 1, requests.len(), journal.of(number).count());
        let mut changes = 0;
        loop {
            let earlier: Vec<&Page> = journal.of(number).collect();
            let (place, anew) = match earlier.last() {
                Some(Page { next: None, .. }) => break,
                Some(page) => (page.next.clone(), false),
                None => (None, false),
            };
            circle(&earlier, request)?;
            let page = match list.page(number, place.as_ref(), &earlier, watch) {
                Err(fault) if fault.may_retry() && changes < CHANGES => {
                    changes += 1;
                    watch.waiting(
                        "the price list changed: it is read again from its beginning",
                        Duration::ZERO,
                    );
                    Page { anew: true, ..list.page(number, None, &[], watch)? }
                }
                page => Page { anew, ..page? },
            };
            journal.keep(page)?;
            read += 1;
            let all: Vec<&Page> = journal.of(number).collect();
            let sum = |of: fn(&Page) -> u64| all.iter().map(|page| of(page)).sum::<u64>();
            watch.page(all.len(), sum(|page| page.matched), sum(|page| page.bytes));
        }
    }
    Ok(read)
}

/// Fails when the links of the pages lead round in a circle, or on without an end.
fn circle(pages: &[&Page], request: &str) -> Result<()> {
    let mut seen = HashSet::new();
    let again = pages.iter().filter_map(|page| page.next.as_ref()).any(|place| {
        let text = match place {
            Place::Link(text) | Place::Token(text) => text.clone(),
            Place::Byte { at, .. } => at.to_string(),
        };
        !seen.insert(text)
    });
    if again || pages.len() >= MAX_PAGES {
        let what = if again { "lead round in a circle" } else { "have no end" };
        return Err(Fault::new(Kind::Corrupt, format!("{request}: the links to the next page {what}"))
            .hint("start over with --restart; if it stays so, the server is at fault"));
    }
    Ok(())
}

/// Fails when a region has no price at all: its name is wrong, or the list is not what it was.
fn complete(
    question: &Question<'_>,
    sold: &Sold<'_>,
    found: &std::collections::BTreeMap<Key, Vec<Quote>>,
    meters: u64,
) -> Result<()> {
    let empty: Vec<&String> =
        question.regions.iter().filter(|region| !found.keys().any(|(of, _, _)| of == *region)).collect();
    let Some(region) = empty.first() else { return Ok(()) };
    let mut items = sold.items();
    items.sort_unstable();
    let some: Vec<String> = items.iter().take(3).map(|item| format!("`{item}`")).collect();
    let message = format!(
        "no price of {} was found in region `{region}`: {} items were looked for ({}, ...), and none of {meters} meters is of them",
        format!("{:?}", question.cloud).to_lowercase(),
        items.len(),
        some.join(", "),
    );
    Err(Fault::new(Kind::NotFound, message).hint(format!(
        "is `{region}` how the provider writes the region? `forebay catalog list prices` has some; nothing was changed"
    )))
}

/// An answer that is not what the price list's documentation says.
pub(crate) fn unexpected(url: &Address, what: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Kind::Corrupt, format!("the answer of {} is not {what}: {error}", url.authority())).hint(
        "is --base-url the address of a price server? If it is, its format has changed: please report it",
    )
}
