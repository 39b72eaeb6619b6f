mod calibrate;
mod check;
mod columns;
mod diff;
mod list;
mod refresh;
mod show;

pub use calibrate::calibrate;
pub use check::check;
pub use diff::diff;
pub use list::list;
pub use refresh::refresh;
pub use show::{explain, show};
