use fault::Result;
use units::Ratio;

use crate::cells::{Cells, Texts};
use crate::{Factor, Per, Published};

pub(super) fn read(cells: &Cells<'_>, texts: &mut Texts) -> Result<Published> {
    let text = |texts: &mut Texts, column| texts.get(cells.text(column));
    let needed = |texts: &mut Texts, column| Ok::<_, fault::Fault>(texts.get(cells.needed(column)?));
    Ok(Published {
        id: cells.needed("id")?.into(),
        study: needed(texts, "study")?,
        cloud: if cells.text("cloud").is_empty() { None } else { Some(cells.cloud()?) },
        architecture: needed(texts, "architecture")?,
        clients: cells.whole("clients")?,
        client_sku: texts.some(cells.text("client_sku")),
        pcores: cells.whole("pcores")?,
        servers: cells.whole("servers")?,
        server_sku: texts.some(cells.text("server_sku")),
        storage: text(texts, "storage"),
        test: needed(texts, "test")?,
        operation: needed(texts, "operation")?,
        transfer_size: cells.size("transfer_size")?,
        read_share: read_share(cells)?,
        access: text(texts, "access"),
        variant: text(texts, "variant"),
        metric: needed(texts, "metric")?,
        value: cells.needed_number("value")?,
        unit: needed(texts, "unit")?,
        per: cells.one_of("per", &[("aggregate", Per::Aggregate), ("pcore", Per::Pcore)])?,
        dataset: cells.gib("dataset_gib")?,
        server_memory: cells.gib("server_memory_gib")?,
        cached: texts.some(cells.text("cached")),
        error: texts.some(cells.text("error")),
        corrected: cells.number("corrected")?,
        notes: text(texts, "notes"),
        source: cells.source(texts)?,
    })
}

fn read_share(cells: &Cells<'_>) -> Result<Option<Ratio>> {
    match cells.number("read_percent")? {
        Some(percent) if percent > 100.0 => {
            Err(cells.wrong("read_percent", "is more than 100", "write a percentage from 0 to 100"))
        }
        percent => Ok(percent.map(Ratio::percent)),
    }
}

pub(super) fn factor(cells: &Cells<'_>, texts: &mut Texts) -> Result<Factor> {
    let architecture = texts.get(cells.needed("architecture")?);
    cells.one_of("operation", &[("read", ()), ("write", ())])?;
    let operation = texts.get(cells.text("operation"));
    let factor = cells.needed_number("factor")?;
    cells.needed("n")?;
    let n = cells.whole("n")?.unwrap_or_default();
    let (min, max) = (cells.needed_number("min")?, cells.needed_number("max")?);
    if !(factor > 0.0 && min <= factor && factor <= max) {
        return Err(cells.wrong(
            "factor",
            "is not above 0 and between `min` and `max`",
            "the factor is the median of the ratios; `min` and `max` are the least and the largest of them",
        ));
    }
    let (notes, source) = (texts.get(cells.text("notes")), cells.source(texts)?);
    Ok(Factor { architecture, operation, factor, n, min, max, notes, source })
}
