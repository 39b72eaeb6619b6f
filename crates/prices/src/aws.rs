//! The bulk price lists of AWS: one JSON file for each service and region, of gigabytes, with all products before all prices.

mod entries;
mod prices;
mod products;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::BufReader;
use std::rc::Rc;

use fault::{Fault, Kind, Result};

use self::entries::{Entries, Part, Reader};
use crate::http::{Address, Client, Stream};
use crate::journal::{Page, Place, Product};
use crate::meter::Meter;
use crate::refresh::{List, Watch, unexpected};
use crate::sold::Sold;

/// Where the price lists are.
pub const SERVER: &str = "https://pricing.us-east-1.amazonaws.com";
/// How the sources of its rows begin.
pub const SOURCE: &str = "AWS price list";

/// So much of a file is a page: what is kept when a refresh is stopped.
const PAGE: u64 = 32 << 20;
/// Bytes read from the network at once.
const BUFFER: usize = 256 << 10;

/// The files, and how the items begin that each can price.
const OFFERS: [(&str, &[&str]); 3] = [
    ("AmazonEC2", &["vm:", "gp", "io", "st1:", "sc1:", "standard:", "operations:"]),
    ("AmazonFSx", &["service:SCRATCH", "service:PERSISTENT", "service:FSx"]),
    ("AmazonEFS", &["service:EFS"]),
];

type Open<'a> = (usize, Reader<BufReader<Stream<'a>>>);

/// The price lists of AWS.
pub struct Aws<'a> {
    client: Rc<Client>,
    base: Address,
    sold: &'a Sold<'a>,
    watch: &'a dyn Watch,
    asked: Vec<(String, &'static str)>,
    /// The file of a request, between two pages of it.
    open: RefCell<Option<Open<'a>>>,
}

impl<'a> Aws<'a> {
    pub fn new(
        client: Client,
        base: Address,
        sold: &'a Sold<'a>,
        regions: &[String],
        watch: &'a dyn Watch,
    ) -> Self {
        let items = sold.items();
        let wanted =
            |starts: &[&str]| items.iter().any(|item| starts.iter().any(|start| item.starts_with(start)));
        let offers: Vec<&str> =
            OFFERS.into_iter().filter(|(_, starts)| wanted(starts)).map(|(name, _)| name).collect();
        let asked =
            regions.iter().flat_map(|region| offers.iter().map(|offer| (region.clone(), *offer))).collect();
        Self { client: Rc::new(client), base, sold, watch, asked, open: RefCell::new(None) }
    }

    /// The open file of a request at `at`, or a new connection to it.
    fn reader(
        &self,
        request: usize,
        url: Address,
        at: u64,
        version: Option<String>,
    ) -> Reader<BufReader<Stream<'a>>> {
        if let Some((of, reader)) = self.open.take()
            && of == request
            && reader.at() == at
        {
            return reader;
        }
        let stream = Stream::new(self.client.clone(), url, at, version, self.watch);
        Reader::new(BufReader::with_capacity(BUFFER, stream), at)
    }
}

impl List for Aws<'_> {
    fn requests(&self) -> Vec<String> {
        self.asked.iter().map(|(region, offer)| format!("{offer} in {region}")).collect()
    }

    fn page(&self, request: usize, place: Option<&Place>, earlier: &[&Page], _: &dyn Watch) -> Result<Page> {
        let Some((region, offer)) = self.asked.get(request) else {
            return Err(Fault::new(Kind::Bug, "a price list that was not asked for"));
        };
        let url = self.base.join(&format!("/offers/v1.0/aws/{offer}/current/{region}/index.json"))?;
        let (at, part, version, published) = match place {
            Some(Place::Byte { at, part, version, published }) => {
                (*at, Part::named(part), version.clone(), published.clone())
            }
            _ => (0, Part::Start, None, String::new()),
        };
        let mut reader = self.reader(request, url.clone(), at, version);
        let products = earlier.iter().flat_map(|page| &page.products);
        let mut found = Found {
            region,
            offer,
            sold: self.sold,
            published,
            known: products.map(|product| (product.sku.clone(), product.meters.clone())).collect(),
            page: Page { request, ..Page::default() },
            end: at + PAGE,
        };
        let next = reader.run(part, &mut found).map_err(|error| error.into_fault(&url))?;
        if at == 0 && found.published.is_empty() {
            return Err(unexpected(
                &url,
                "a price list",
                &"it has no field `publicationDate` before its products",
            ));
        }
        let mut page = Page { bytes: reader.at() - at, ..found.page };
        page.next = next.map(|part| Place::Byte {
            at: reader.at(),
            part: part.name(),
            version: reader.input().get_ref().version().map(str::to_owned),
            published: found.published,
        });
        if page.next.is_some() {
            self.open.replace(Some((request, reader)));
        }
        Ok(page)
    }

    fn meters(&self, pages: &[&Page]) -> Vec<Meter> {
        pages.iter().flat_map(|page| page.meters.iter().cloned()).collect()
    }
}

/// What a page brought so far.
struct Found<'a> {
    region: &'a str,
    offer: &'a str,
    sold: &'a Sold<'a>,
    published: String,
    known: HashMap<String, Vec<Meter>>,
    page: Page,
    end: u64,
}

impl Entries for Found<'_> {
    fn field(&mut self, name: &str, text: &[u8]) -> Result<()> {
        if name == "publicationDate" {
            let date: String = serde_json::from_slice(text).unwrap_or_default();
            date.split('T').next().unwrap_or_default().clone_into(&mut self.published);
        }
        Ok(())
    }

    fn wants(&self, part: &Part, key: &str) -> bool {
        match part {
            Part::Start => key == "publicationDate",
            Part::Products => true,
            Part::Terms(kind) => {
                matches!(kind.as_str(), "OnDemand" | "Reserved") && self.known.contains_key(key)
            }
        }
    }

    fn entry(&mut self, part: &Part, key: &str, text: &[u8]) -> Result<()> {
        let wrong = |error: serde_json::Error| {
            let message =
                format!("{} in {}: entry `{key}` is not as documented: {error}", self.offer, self.region);
            Fault::new(Kind::Corrupt, message)
                .hint("is --base-url the address of a price server? If it is, its format has changed: please report it")
        };
        match part {
            Part::Start => {}
            Part::Products if self.published.is_empty() => {
                let message = format!(
                    "{} in {} has no field `publicationDate` before its products",
                    self.offer, self.region
                );
                return Err(
                    Fault::new(Kind::Corrupt, message).hint("its format has changed: please report it")
                );
            }
            Part::Products => {
                let product = serde_json::from_slice(text).map_err(wrong)?;
                self.page.seen += 1;
                let source = format!("{SOURCE} ({})", self.offer);
                let meters = products::of(&product, self.region, self.sold, &source, &self.published);
                if !meters.is_empty() {
                    self.page.matched += 1;
                    self.page.products.push(Product { sku: key.to_owned(), meters: meters.clone() });
                    self.known.insert(key.to_owned(), meters);
                }
            }
            Part::Terms(kind) => {
                let offers = serde_json::from_slice(text).map_err(wrong)?;
                let meters = self.known.get(key).map_or(&[][..], Vec::as_slice);
                self.page.meters.extend(prices::of(&offers, kind == "Reserved", meters)?);
            }
        }
        Ok(())
    }

    fn enough(&self, at: u64) -> bool {
        at >= self.end
    }
}
