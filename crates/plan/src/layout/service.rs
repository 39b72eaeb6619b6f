//! File services the provider runs: managed Lustre and NFS.

use fault::Result;

use super::Assessment;
use crate::demand::Requirement;
use crate::design::{Family, Layout, Service};
use crate::market::Market;

/// What a service offers.
pub fn assess(_market: &Market<'_>, service: &Service, _requirement: &Requirement) -> Result<Assessment> {
    Ok(Assessment::new(Family::ManagedLustre, service.capacity))
}

/// The cheapest order of each tier that meets `requirement` by itself, clients aside.
pub fn candidates(_market: &Market<'_>, _requirement: &Requirement) -> Vec<Layout> {
    Vec::new()
}
