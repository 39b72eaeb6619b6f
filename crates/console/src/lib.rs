//! The only way out to a person or a program that reads us: data on standard output, everything else on standard
//! error, in the [`Format`] that was asked for.
//!
//! [`Printer`] writes, [`Table`] lines things up, [`Progress`] reads the events of a run while it goes on.

mod bar;
mod comparison;
mod envelope;
mod facts;
mod format;
mod lines;
mod live;
pub mod paint;
mod phase_clock;
mod plan;
mod printer;
mod progress;
mod reading;
mod summary;
mod table;
mod wrap;

pub use comparison::comparison;
pub use envelope::Envelope;
pub use facts::{Fact, Facts, facts};
pub use format::Format;
pub use plan::{DesignCheck, check as design_check, plan, why, why_not};
pub use printer::Printer;
pub use progress::{EventLines, Progress, Showing};
pub use reading::Reading;
pub use summary::summary;
pub use table::{Align, Cell, Table};
