//! Many jobs from one file, run when they are due.
//!
//! ```text
//! sync.toml -> jobs, every problem with its place                     file, rules
//!     -> book: what is wanted of each, when it is due, what it did    book (SQLite)
//!     -> serve: starts what is due, by priority, never one job twice  serve
//!         -> run: a sync of each source to its place                  run
//!     -> what comes after a run; pure                                 after, schedule
//! ```
//!
//! Who wants something of a job that is served writes it into the book; the server reads it there. Nothing listens.

mod after;
mod book;
mod file;
mod progress;
mod rules;
mod run;
mod schedule;
mod serve;
mod view;

pub use book::{Book, Wish};
pub use file::{Job, JobFile, Source, load, parse};
pub use run::RunEnd;
pub use schedule::times;
pub use serve::{Audience, Said, Serving, Unserved, serve};
pub use view::{JobView, RunView, View, view};
