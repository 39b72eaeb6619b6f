use fault::{Fault, Kind};

use super::{Context, Result};
use crate::cli::Clean;

/// Not built yet.
pub fn run(_context: &Context, _arguments: &Clean) -> Result {
    Err(Fault::new(Kind::Unsupported, "`forebay clean` is not built yet").into())
}
