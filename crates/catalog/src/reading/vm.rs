use fault::Result;
use units::Bytes;

use crate::cells::{Cells, Texts};
use crate::{Nvme, Vm};

pub(super) fn read(cells: &Cells<'_>, texts: &mut Texts) -> Result<Vm> {
    let cloud = cells.cloud()?;
    let sku = texts.get(cells.needed("sku")?);
    let series = texts.get(cells.needed("series")?);
    let vcpus = count(cells, "vcpus")?;
    let pcores = count(cells, "pcores")?;
    let memory = cells.gib("memory_gib")?;
    let memory_derived = cells.flag("memory_derived")?.unwrap_or_default();
    let max_disks = cells.whole("max_disks")?;
    let unit = cells.rate_unit("bandwidth_unit")?;
    let disks = cells.rate("disk_iops", "disk_bandwidth", unit)?;
    let disks_burst = cells.rate("burst_iops", "burst_bandwidth", unit)?;
    let disks_newest = cells.rate("newest_iops", "newest_bandwidth", unit)?;
    let disks_cached = cells.rate("cached_iops", "cached_bandwidth", unit)?;
    for column in ["hyperthreaded", "attachments_shared", "efa"] {
        cells.flag(column)?;
    }
    for column in ["cached_gib", "temp_disk_gib", "max_nics"] {
        cells.number(column)?;
    }
    let network_unit = cells.rate_unit("network_unit")?;
    Ok(Vm {
        cloud,
        sku,
        series,
        vcpus,
        pcores,
        memory,
        memory_derived,
        max_disks,
        disks,
        disks_burst,
        disks_newest,
        disks_cached,
        network: cells.bandwidth("network", network_unit)?,
        network_peak: cells.bandwidth("network_peak", network_unit)?,
        nvme: nvme(cells, unit)?,
        constrained_of: texts.some(cells.text("constrained_of")),
        block_express: cells.flag("block_express")?.unwrap_or_default(),
        notes: texts.get(cells.text("notes")),
        source: cells.source(texts)?,
    })
}

/// A count of processors: at least one.
fn count(cells: &Cells<'_>, column: &str) -> Result<u32> {
    cells.needed(column)?;
    match cells.whole(column)? {
        Some(count) if count > 0 => Ok(count),
        _ => Err(cells.wrong(column, "is not a count of processors", "write a whole number from 1")),
    }
}

/// Local NVMe; its size is stated in GB (10^9 bytes).
fn nvme(cells: &Cells<'_>, unit: f64) -> Result<Option<Nvme>> {
    let Some(count) = cells.whole("nvme_count")? else { return Ok(None) };
    let size = Bytes::new((cells.needed_number("nvme_gb_each")? * 1e9).round() as u64);
    let read = cells.rate("nvme_read_iops", "nvme_read_bandwidth", unit)?;
    Ok(Some(Nvme { count, size, read }))
}
