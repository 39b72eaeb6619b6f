use std::sync::Arc;

use fault::Result;
use spec::{Cloud, Commitment};
use units::Money;

use super::twice;
use crate::cells::{Cells, Texts};
use crate::rows::{Row, Rows};
use crate::{Band, HOURS_PER_MONTH, Price, PriceUnit, Prices, Source, Table};

/// One row: a band of a price.
struct Line<'a> {
    row: &'a Row,
    cloud: Cloud,
    region: Arc<str>,
    item: Arc<str>,
    commitment: Commitment,
    unit: PriceUnit,
    band: Band,
    doubt: Option<Arc<str>>,
    source: Source,
}

impl Line<'_> {
    fn of_same(&self, other: &Self) -> bool {
        self.cloud == other.cloud
            && self.commitment == other.commitment
            && self.item == other.item
            && self.region == other.region
    }
}

const TERMS: [(&str, Commitment); 3] =
    [("payg", Commitment::Payg), ("1y", Commitment::OneYear), ("3y", Commitment::ThreeYears)];

pub(super) fn read(rows: &Rows, texts: &mut Texts) -> Result<Prices> {
    let mut lines = Vec::with_capacity(rows.of(Table::Prices).len());
    for row in rows.of(Table::Prices) {
        lines.push(line(&Cells::new(Table::Prices, row), texts)?);
    }
    lines.sort_by(|a, b| {
        let key = |line: &Line<'_>| (line.cloud as u8, line.commitment as u8);
        key(a)
            .cmp(&key(b))
            .then_with(|| a.region.cmp(&b.region))
            .then_with(|| a.item.cmp(&b.item))
            .then(a.band.from.total_cmp(&b.band.from))
    });
    let mut prices = Prices::default();
    for bands in lines.chunk_by(Line::of_same) {
        let first = &bands[0];
        let price = joined(bands)?;
        prices.set((first.cloud, first.region.clone()), (first.item.clone(), first.commitment), price);
    }
    Ok(prices)
}

fn line<'a>(cells: &Cells<'a>, texts: &mut Texts) -> Result<Line<'a>> {
    let cloud = cells.cloud()?;
    let region = texts.get(cells.needed("region")?);
    let item = texts.get(cells.needed("item")?);
    let (unit, per_unit_and_month) = unit(cells)?;
    let per_month = Money::usd(cells.needed_number("usd")? * per_unit_and_month);
    let from = cells.number("band_from")?.unwrap_or_default();
    let to = cells.number("band_to")?;
    if to.is_some_and(|to| to <= from) {
        let hint = "`band_from` is what comes before the band, `band_to` its last unit; leave it blank when there is no end";
        return Err(cells.wrong("band_to", "is not above `band_from`", hint));
    }
    Ok(Line {
        row: cells.row,
        cloud,
        region,
        item,
        commitment: cells.one_of("term", &TERMS)?,
        unit,
        band: Band { from, to, per_month },
        doubt: texts.some(cells.text("doubt")),
        source: cells.source(texts)?,
    })
}

const UNITS: [(&str, (PriceUnit, f64)); 8] = [
    ("each", (PriceUnit::Each, 1.0)),
    ("GB", (PriceUnit::Gb, 1.0)),
    ("GiB", (PriceUnit::Gib, 1.0)),
    ("IOPS", (PriceUnit::Iops, 1.0)),
    ("MBps", (PriceUnit::MbPerSecond, 1.0)),
    ("MiBps", (PriceUnit::MibPerSecond, 1.0)),
    ("10k-operations", (PriceUnit::TenThousandOperations, 1.0)),
    ("1M-operations", (PriceUnit::TenThousandOperations, 0.01)),
];

/// What is counted, and the factor from the stated price to one per month.
fn unit(cells: &Cells<'_>) -> Result<(PriceUnit, f64)> {
    let text = cells.needed("unit")?;
    let (thing, per_month) = match text.rsplit_once('-') {
        Some((thing, "hour")) => (thing, HOURS_PER_MONTH),
        Some((thing, "month")) => (thing, 1.0),
        Some((thing, "year")) => (thing, 1.0 / 12.0),
        _ => (text, 1.0),
    };
    let known = UNITS.iter().find(|(name, (unit, _))| {
        *name == thing && (thing == text) == (*unit == PriceUnit::TenThousandOperations)
    });
    let Some((_, (unit, factor))) = known else {
        let hint = "write what is counted (each, GB, GiB, IOPS, MBps, MiBps), a dash, and hour, month or year: \
                    `GiB-month`; or 10k-operations, 1M-operations";
        return Err(cells.wrong("unit", "is not a unit of prices", hint));
    };
    let unit =
        if cells.text("billed_unit").is_empty() { *unit } else { cells.one_of("billed_unit", &UNITS)?.0 };
    Ok((unit, per_month * factor))
}

/// The bands of one price, which must adjoin and count the same.
fn joined(bands: &[Line<'_>]) -> Result<Price> {
    for pair in bands.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let cells = Cells::new(Table::Prices, after.row);
        if before.band.from.total_cmp(&after.band.from).is_eq() {
            return Err(twice(Table::Prices, after.row, before.row));
        }
        if before.band.to != Some(after.band.from) {
            let hint = format!("the band before it is {}:{}", before.row.origin.file, before.row.line);
            return Err(cells.wrong("band_from", "is not where the band before it ends", &hint));
        }
        if before.unit != after.unit {
            let hint = format!("the other row is {}:{}", before.row.origin.file, before.row.line);
            return Err(cells.wrong("unit", "differs from that of another band of the same price", &hint));
        }
    }
    let first = &bands[0];
    Ok(Price {
        unit: first.unit,
        bands: bands.iter().map(|line| line.band).collect(),
        doubt: bands.iter().find_map(|line| line.doubt.clone()),
        source: first.source.clone(),
    })
}
