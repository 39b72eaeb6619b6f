//! The only way out to a person or a program that reads us: data on standard output, everything else on standard
//! error, in the [`Format`] that was asked for.
//!
//! [`Printer`] writes, [`Table`] lines things up, [`Progress`] reads the events of a run while it goes on.

mod bar;
mod envelope;
mod format;
mod lines;
mod phase_clock;
pub mod paint;
mod printer;
mod progress;
mod summary;
mod table;

pub use envelope::Envelope;
pub use format::Format;
pub use printer::Printer;
pub use progress::Progress;
pub use summary::summary;
pub use table::{Align, Cell, Table};
