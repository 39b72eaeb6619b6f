//! The spec file, `grid.toml`: what a grid needs from its storage, and the tests that decide whether it gets it.
//!
//! The types are the only definition of the file's shape. The JSON Schema is derived from them, and reading holds
//! the TOML tree against that schema first, so every misspelt key and every wrong value is reported at once, each
//! with its place in the text. Only then are the types filled and the rules across keys checked.

mod constraints;
mod document;
mod exact;
mod form;
mod grid;
mod nearest;
mod places;
mod problem;
mod reading;
mod rules;
mod schema;
mod shape;
mod storage;
mod sweep;
mod template;
mod test;

pub use constraints::{Cloud, Commitment, Constraints, Encryption, Figures, Filter};
pub use document::{Document, Spec, VERSION, load, parse};
pub use form::Form;
pub use grid::{DEFAULT_MEMORY_PER_PCORE, Grid};
pub use nearest::{nearest, quoted};
pub use places::Places;
pub use problem::{LoadError, Position, Problem};
pub use schema::{BandwidthText, BytesText, DurationText, schema, schema_of};
pub use storage::{Access, DEFAULT_IO_SIZE, Durability, Role, Storage, default_per_pcore};
pub use sweep::{Sweep, SweepParameter};
pub use template::{Answers, template};
pub use test::{Engine, Test, TestKind};
