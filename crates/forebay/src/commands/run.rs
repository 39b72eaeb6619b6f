use fault::{Fault, Kind};

use super::{Context, Result};
use crate::cli::Run;

/// Not built yet.
pub fn run(_context: &Context, _arguments: &Run) -> Result {
    Err(Fault::new(Kind::Unsupported, "`forebay run` is not built yet").into())
}
