//! What a design costs, line by line.

use record::{CostRow, DesignSheet};

use super::figures::usd;
use crate::wrap::wrap;
use crate::{Align, Cell, Table, paint};

const INDENT: &str = "    ";

/// Everything that is paid for, with the source of each price.
pub fn table(sheet: &DesignSheet) -> String {
    let mut table = Table::new([("$/month", Align::Right), ("for", Align::Left), ("what", Align::Left)]);
    for cost in &sheet.costs {
        table.row(row(sheet, cost));
        let source = cost.source.as_deref().unwrap_or("no price in the catalog");
        table.note(wrap(&format!("[{source}]"), INDENT));
        if let Some(doubt) = &cost.doubt {
            table.note(wrap(&format!("{}: {doubt}", paint::note("in doubt")), INDENT));
        }
    }
    let doubtful = sheet.costs.iter().any(|cost| cost.doubt.is_some());
    table.row([Cell::new(usd(sheet.usd_per_month, doubtful)).strong(), Cell::new("all"), Cell::new("")]);
    table.to_string()
}

fn row(sheet: &DesignSheet, cost: &CostRow) -> [Cell; 3] {
    let several = sheet.storages.len() > 1;
    let part = match &cost.storage {
        Some(storage) if several => format!("{storage}: {}", cost.part),
        _ => cost.part.clone(),
    };
    [Cell::new(usd(cost.usd_per_month, cost.doubt.is_some())), Cell::new(part), Cell::new(&cost.what)]
}
