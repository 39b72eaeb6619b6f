use fault::Result;

use crate::cells::Cells;

/// Values `min, min + step, ... max`, in the unit of their column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub min: f64,
    pub step: f64,
    pub max: Option<f64>,
}

const FORM: &str = "write `1200` for one value, `1024+256..9984` for steps from 1024 to 9984, `2400+2400` for steps \
                    without end, and `;` between ranges";

/// Ranges as a cell states them: `1200; 2400+2400`.
pub(super) fn read(cells: &Cells<'_>, column: &str) -> Result<Vec<Range>> {
    let text = cells.text(column);
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let ranges: Option<Vec<Range>> = parts.map(one).collect();
    let ranges = ranges.ok_or_else(|| cells.wrong(column, "is not a list of ranges", FORM))?;
    if ranges.windows(2).any(|pair| pair[0].max.is_none_or(|max| max >= pair[1].min)) {
        return Err(cells.wrong(column, "has ranges that are not in ascending order", FORM));
    }
    Ok(ranges)
}

fn one(text: &str) -> Option<Range> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    let Some((min, rest)) = text.split_once('+') else {
        let only = number(text)?;
        return Some(Range { min: only, step: only, max: Some(only) });
    };
    let (step, max) = match rest.split_once("..") {
        Some((step, max)) => (number(step)?, Some(number(max)?)),
        None => (number(rest)?, None),
    };
    let min = number(min)?;
    max.is_none_or(|max| max >= min).then_some(Range { min, step, max })
}
