use fault::Result;
use units::Bytes;

use super::Assessment;
use crate::demand::Requirement;
use crate::design::{Family, SharedVolumes};
use crate::market::Market;

/// What it offers.
pub fn assess(
    _market: &Market<'_>,
    _layout: &SharedVolumes,
    _requirement: &Requirement,
    _clients: super::ClientSide<'_>,
) -> Result<Assessment> {
    Ok(Assessment::new(Family::SharedVolumes, Bytes::new(0)))
}
