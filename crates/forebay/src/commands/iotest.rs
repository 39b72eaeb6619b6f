use fault::{Fault, Kind};

use super::{Context, Result};
use crate::cli::Iotest;

/// Not built yet.
pub fn run(_context: &Context, _arguments: &Iotest) -> Result {
    Err(Fault::new(Kind::Unsupported, "`forebay iotest` is not built yet").into())
}
