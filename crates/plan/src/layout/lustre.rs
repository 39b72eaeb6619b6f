use fault::Result;
use units::Bytes;

use super::Assessment;
use crate::demand::Requirement;
use crate::design::{Family, LustreOnVms};
use crate::market::Market;

/// What it offers.
pub fn assess(_market: &Market<'_>, _layout: &LustreOnVms, _requirement: &Requirement) -> Result<Assessment> {
    Ok(Assessment::new(Family::LustreOnVms, Bytes::new(0)))
}
