use fault::{Fault, Kind};

use super::{Context, Result};
use crate::cli::Prove;

/// Not built yet.
pub fn run(_context: &Context, _arguments: &Prove) -> Result {
    Err(Fault::new(Kind::Unsupported, "`forebay prove` is not built yet").into())
}
