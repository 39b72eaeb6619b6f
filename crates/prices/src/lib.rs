//! The public price lists of Azure, AWS and Google Cloud, read over HTTP into rows of the catalog's price table.
//!
//! [`refresh`] asks page by page, keeps every finished page on disk, and lays the whole answer into an overlay at the end: a
//! refresh that is stopped, throttled or cut off goes on where it was, and never leaves half a price list.

mod aws;
mod azure;
mod gcp;
mod http;
mod journal;
mod meter;
mod refresh;
mod sold;
mod summary;

pub use http::{Address, Patience, Secret};
pub use refresh::{Question, Refreshed, Watch, default_base, refresh};
pub use summary::{Change, Changed, Summary};
