//! Moves trees of files: scan -> compare -> plan -> transfer -> verify -> commit. A kill at any arrow resumes.
//!
//! [`run`] does one job, [`watch`] goes on until it is told to stop. It prints nothing: a [`Watcher`] hears what happens, [`Counters`] say how far it is, and the
//! [`Record`] says what was done.

mod changed;
mod chunked;
mod copy;
mod counters;
mod deletes;
mod event;
mod far;
mod filter;
mod finish;
mod fresh;
mod groups;
mod guard;
mod index;
mod item;
mod job;
mod judge;
mod large;
mod ledger;
mod links;
mod look;
pub mod manager;
pub mod movers;
mod names;
mod objects;
mod options;
mod part;
mod pool;
mod ranges;
mod record;
mod renames;
mod roots;
mod run;
mod scope;
mod session;
mod span;
mod spool;
mod stages;
mod state;
mod throttle;
mod visit;
mod watch;

pub use counters::{Count, Counters};
pub use event::{Act, Event, Stage, Step, Watcher};
pub use far::{Compress, Reach, serve};
pub use filter::Filter;
pub use objects::has_location as is_elsewhere;
pub use options::{Conflict, Deletes, Delta, Layout, Options, Verify};
pub use record::{End, Entries, Failure, Record, Sizes, Watched, schema};
pub use run::run;
pub use store::{Extended, Stamp, printable};
pub use throttle::Timetable;
pub use watch::{By, Following, Reader as ChangelogReader, Status, watch};
