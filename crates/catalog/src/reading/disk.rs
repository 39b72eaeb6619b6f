use fault::Result;

use crate::cells::{Cells, Texts};
use crate::{Disk, Media, Performance, Provisioning};

pub(super) fn read(cells: &Cells<'_>, texts: &mut Texts) -> Result<Disk> {
    let unit = cells.rate_unit("bandwidth_unit")?;
    Ok(Disk {
        cloud: cells.cloud()?,
        tier: texts.get(cells.needed("tier")?),
        family: texts.get(cells.needed("family")?),
        media: cells.one_of("media", &[("hdd", Media::Hdd), ("ssd", Media::Ssd)])?,
        performance: performance(cells, unit)?,
        size_min: cells.gib("size_min_gib")?.unwrap_or_else(|| crate::cells::gib(1.0)),
        size_max: cells.gib("size_max_gib")?,
        io_unit: cells.size("io_unit")?,
        burst: cells.rate("burst_iops", "burst_bandwidth", unit)?,
        burst_kind: texts.some(cells.text("burst_kind")),
        max_attachments: cells.whole("max_attachments")?,
        caution: texts.some(cells.text("caution")),
        notes: texts.get(cells.text("notes")),
        source: cells.source(texts)?,
    })
}

/// How a row's rates follow from what is ordered.
#[derive(Clone, Copy)]
enum Model {
    Fixed,
    BySize,
    Provisioned,
    Unknown,
}

const MODELS: [(&str, Model); 4] = [
    ("fixed", Model::Fixed),
    ("by-size", Model::BySize),
    ("provisioned", Model::Provisioned),
    ("unknown", Model::Unknown),
];

fn performance(cells: &Cells<'_>, unit: f64) -> Result<Performance> {
    let min = cells.rate("iops_min", "bandwidth_min", unit)?;
    let max = cells.rate("iops_max", "bandwidth_max", unit)?;
    Ok(match cells.one_of("model", &MODELS)? {
        Model::Fixed => Performance::Fixed(cells.rate("iops", "bandwidth", unit)?),
        Model::BySize => Performance::BySize {
            bandwidth_per_tib: cells.bandwidth("bandwidth_per_tib", unit)?,
            iops_per_gib: cells.number("iops_per_gib")?,
            min,
            max,
        },
        Model::Provisioned => Performance::Provisioned(Provisioning {
            included: cells.rate("iops_included", "bandwidth_included", unit)?,
            min,
            max,
            iops_per_gib: cells.number("iops_per_gib_max")?,
            bytes_per_io: cells.size("bytes_per_io")?,
            bandwidth_follows: cells.flag("bandwidth_follows")?.unwrap_or_default(),
        }),
        Model::Unknown => Performance::Unknown,
    })
}
