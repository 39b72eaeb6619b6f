//! Quantities with their unit in the type: [`Bytes`], [`Bandwidth`], [`Iops`], [`Ratio`], [`Money`] and durations.
//!
//! Every quantity parses from what people of the field type (`64k`, `100TiB`, `150 MB/s`, `80:20`, `60s`),
//! prints with its unit, and has only the arithmetic that means something: bytes / duration = bandwidth.
//!
//! In documents (JSON) a quantity is a bare number in its base unit, and the key names that unit
//! (`size_bytes`). In files that people write (TOML) it is text with a unit: use `#[serde(with = "units::text")]`.

mod bandwidth;
mod bytes;
pub mod duration;
mod iops;
mod money;
mod parse;
mod ratio;
pub mod text;

pub use bandwidth::Bandwidth;
pub use bytes::Bytes;
pub use duration::{format_duration, parse_duration};
pub use iops::Iops;
pub use money::Money;
pub use parse::ParseError;
pub use ratio::Ratio;
