mod check;
mod columns;
mod diff;
mod list;
mod show;

pub use check::check;
pub use diff::diff;
pub use list::list;
pub use show::{explain, show};
