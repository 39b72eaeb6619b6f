//! The only way out to a person or a program that reads us: data on standard output, everything else on standard
//! error, in the [`Format`] that was asked for.
//!
//! [`Printer`] writes, [`Table`] lines things up, [`Progress`] reads the events of a run while it goes on.

mod bar;
mod comparison;
mod envelope;
mod format;
mod lines;
pub mod paint;
mod phase_clock;
mod printer;
mod progress;
mod summary;
mod table;

pub use comparison::comparison;
pub use envelope::Envelope;
pub use format::Format;
pub use printer::Printer;
pub use progress::Progress;
pub use summary::summary;
pub use table::{Align, Cell, Table};
