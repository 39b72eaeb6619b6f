use std::collections::HashMap;

use fault::Result;
use units::{Bandwidth, Iops, Ratio};

use super::ranges;
use crate::cells::{Cells, Texts, gib};
use crate::rows::Rows;
use crate::{ClientLimit, IopsOrder, MixedLimit, Protocol, ServiceTier, SizeRange, Table, ThroughputOrder};

/// What clients reach, by cloud and service.
pub(super) type Clients = HashMap<(String, String), Vec<ClientLimit>>;

pub(super) fn clients(rows: &Rows, texts: &mut Texts) -> Result<Clients> {
    let limits = super::each(rows, Table::ClientLimits, |cells| {
        cells.cloud()?;
        let unit = cells.rate_unit("rate_unit")?;
        let limit = ClientLimit {
            profile: texts.get(cells.needed("profile")?),
            read: cells.bandwidth("read", unit)?,
            write: cells.bandwidth("write", unit)?,
            flow: cells.bandwidth("flow", unit)?,
            special: texts.some(cells.text("special")),
            notes: texts.get(cells.text("notes")),
            source: cells.source(texts)?,
        };
        Ok(((cells.text("cloud").to_owned(), cells.needed("service")?.to_owned()), limit))
    })?;
    let mut clients = Clients::new();
    for (service, limit) in limits {
        clients.entry(service).or_default().push(limit);
    }
    Ok(clients)
}

pub(super) fn read(cells: &Cells<'_>, clients: &Clients, texts: &mut Texts) -> Result<ServiceTier> {
    let unit = cells.rate_unit("rate_unit")?;
    let rate = |column| cells.bandwidth(column, unit);
    let service = cells.needed("service")?;
    let of_service = (cells.text("cloud").to_owned(), service.to_owned());
    Ok(ServiceTier {
        cloud: cells.cloud()?,
        service: texts.get(service),
        tier: texts.get(cells.needed("tier")?),
        protocol: cells.one_of("protocol", &PROTOCOLS)?,
        sizes: sizes(cells)?,
        read_per_tib: rate("read_per_tib")?,
        write_per_tib: rate("write_per_tib")?,
        disk_read_per_tib: rate("disk_read_per_tib")?,
        disk_write_per_tib: rate("disk_write_per_tib")?,
        burst_per_tib: rate("burst_per_tib")?,
        disk_burst_per_tib: rate("disk_burst_per_tib")?,
        cache_per_tib: cells.gib("cache_gib_per_tib")?,
        read_iops_per_tib: cells.iops("read_iops_per_tib")?,
        write_iops_per_tib: cells.iops("write_iops_per_tib")?,
        iops: iops(cells)?,
        throughput: throughput(cells, unit)?,
        read_max: rate("read_max")?,
        write_max: rate("write_max")?,
        mixed_max: mixed(cells, unit)?,
        metadata_iops: metadata_iops(cells)?,
        clients: clients.get(&of_service).cloned().unwrap_or_default(),
        ports: texts.get(cells.text("ports")),
        encrypted_at_rest: cells.flag("encrypted_at_rest")?,
        customer_keys: cells.flag("customer_keys")?,
        encrypted_in_transit: cells.flag("encrypted_in_transit")?,
        durable: needed_flag(cells, "durable")?,
        regional: needed_flag(cells, "regional")?,
        caution: texts.some(cells.text("caution")),
        notes: texts.get(cells.text("notes")),
        source: cells.source(texts)?,
    })
}

const PROTOCOLS: [(&str, Protocol); 3] =
    [("lustre", Protocol::Lustre), ("nfs", Protocol::Nfs), ("other", Protocol::Other)];

fn needed_flag(cells: &Cells<'_>, column: &str) -> Result<bool> {
    cells.needed(column)?;
    Ok(cells.flag(column)?.unwrap_or_default())
}

fn sizes(cells: &Cells<'_>) -> Result<Vec<SizeRange>> {
    let ranges = ranges::read(cells, "sizes")?;
    let gib_each = cells.one_of("size_unit", &[("GiB", 1.0), ("TiB", 1024.0)])?;
    // a step of no bytes would have no end
    let size = |count: f64| gib(count * gib_each).max(units::Bytes::new(1));
    Ok(ranges
        .into_iter()
        .map(|range| SizeRange { min: size(range.min), step: size(range.step), max: range.max.map(size) })
        .collect())
}

/// I/Os per second that are ordered, where some are included.
fn iops(cells: &Cells<'_>) -> Result<Option<IopsOrder>> {
    let Some(included_per_tib) = cells.iops("iops_included_per_tib")? else { return Ok(None) };
    Ok(Some(IopsOrder { included_per_tib, max: cells.iops("iops_max")? }))
}

/// Throughput that is ordered: listed values, or any from a least one.
fn throughput(cells: &Cells<'_>, unit: f64) -> Result<Option<ThroughputOrder>> {
    let values = ranges::read(cells, "throughput_values")?;
    let Some(min) = cells.bandwidth("throughput_min", unit)? else { return Ok(None) };
    Ok(Some(ThroughputOrder {
        values: values.iter().map(|value| Bandwidth::bytes_per_second(value.min * unit)).collect(),
        included: cells.bandwidth("throughput_included", unit)?.unwrap_or_default(),
        min,
        max: cells.bandwidth("throughput_max", unit)?,
        max_per_tib: cells.bandwidth("throughput_max_per_tib", unit)?,
    }))
}

/// `80:3000`: at 80 % reads, reads and writes together reach 3000.
fn mixed(cells: &Cells<'_>, unit: f64) -> Result<Vec<MixedLimit>> {
    let parts = cells.text("mixed_max").split(';').map(str::trim).filter(|part| !part.is_empty());
    let one = |part: &str| {
        let (percent, total) = part.split_once(':')?;
        let percent: f64 = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
        let total: f64 = total.parse().ok().filter(|total: &f64| total.is_finite() && *total > 0.0)?;
        Some(MixedLimit {
            read_share: Ratio::percent(percent),
            total: Bandwidth::bytes_per_second(total * unit),
        })
    };
    parts.map(one).collect::<Option<Vec<_>>>().ok_or_else(|| {
        let hint = "write percent read, a colon, and the total: `80:3000`, with `;` between several";
        cells.wrong("mixed_max", "is not a list of mixes and totals", hint)
    })
}

/// Every value of the ranges that has an end.
fn metadata_iops(cells: &Cells<'_>) -> Result<Vec<Iops>> {
    /// More than any service offers: a range written wrongly.
    const MANY: f64 = 1000.0;
    let ranges = ranges::read(cells, "metadata_iops")?;
    let mut values = Vec::new();
    for range in ranges {
        let steps =
            range.max.map(|max| ((max - range.min) / range.step).floor()).filter(|steps| *steps < MANY);
        let Some(steps) = steps else {
            return Err(cells.wrong("metadata_iops", "has no end", "write `12000+12000..192000`"));
        };
        values.extend((0..=steps as u32).map(|step| Iops::new(range.min + f64::from(step) * range.step)));
    }
    Ok(values)
}
