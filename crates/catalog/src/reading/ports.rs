use fault::Result;

use crate::PortRule;
use crate::cells::{Cells, Texts};

pub(super) fn read(cells: &Cells<'_>, texts: &mut Texts) -> Result<PortRule> {
    let parts = cells.needed("ports")?.split(';').map(str::trim);
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && first > 0).then_some((first, last))
    };
    let ports = parts.map(range).collect::<Option<Vec<_>>>();
    let hint = "write ports from 1 to 65535 and ranges of them: `988;1018-1023`";
    Ok(PortRule {
        rule: texts.get(cells.needed("rule")?),
        from: texts.get(cells.needed("from")?),
        to: texts.get(cells.needed("to")?),
        protocol: texts.get(cells.needed("protocol")?),
        ports: ports.ok_or_else(|| cells.wrong("ports", "is not a list of ports", hint))?,
        purpose: texts.get(cells.text("purpose")),
        notes: texts.get(cells.text("notes")),
        source: cells.source(texts)?,
    })
}
