use super::{Findings, Severity};
use crate::{Catalog, Published, Table};

const TABLE: Table = Table::Published;

pub(super) fn check(catalog: &Catalog, found: &mut Findings) {
    for (result, row) in catalog.published.iter().zip(catalog.rows.of(TABLE)) {
        if cached_unsaid(result) {
            let why =
                "reads of data that fits the servers' memory say nothing about disks; `cached` must say so";
            found.add(
                Severity::Error,
                TABLE,
                row,
                "what it read fits into the memory of the servers".to_owned(),
                why,
            );
        }
        if result.corrected.is_some() && result.error.is_none() {
            let why = "a corrected value needs to say what was wrong";
            found.add(Severity::Error, TABLE, row, "it is corrected without an `error`".to_owned(), why);
        }
        if result.unit.ends_with("B/s") && result.bandwidth().is_none() {
            let why = "it can't be set beside a user's run";
            found.add(
                Severity::Warning,
                TABLE,
                row,
                "its total follows from neither unit nor pCores".to_owned(),
                why,
            );
        }
    }
}

fn cached_unsaid(result: &Published) -> bool {
    &*result.operation == "read" && result.fits_server_memory() && result.cached.is_none()
}
