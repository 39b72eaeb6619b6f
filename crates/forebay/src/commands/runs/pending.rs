//! Stands in until the report room is built.

use fault::{Fault, Kind};
use record::RunRecord;

fn not_yet() -> Fault {
    Fault::new(Kind::Unsupported, "reports are not built yet")
}

pub fn phases_csv(_: &RunRecord) -> fault::Result<String> {
    Err(not_yet())
}

pub fn series_csv(_: &RunRecord) -> fault::Result<String> {
    Err(not_yet())
}

pub fn html(_: &RunRecord) -> fault::Result<String> {
    Err(not_yet())
}

pub fn markdown(_: &RunRecord) -> fault::Result<String> {
    Err(not_yet())
}
