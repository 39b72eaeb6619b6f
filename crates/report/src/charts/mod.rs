//! Charts as SVG text that follows the page's colours. Drawn by plotters; see [`theme`] for how colours get out of it.

mod bars;
mod chain;
mod front;
mod heat;
mod legend;
mod percentiles;
pub mod plot;
mod ranks;
pub mod scale;
mod search;
mod series;
mod stack;
mod theme;
mod timeline;

pub use bars::{Bar, bars};
pub use chain::{Link, LinkBar, Mark, chain};
pub use front::{Point, front};
pub use heat::{Heat, HeatCell, heat, heat_size};
pub use legend::{Entry, legend};
pub use percentiles::percentiles;
pub use ranks::{hosts, ranks};
pub use search::{latency as search_latency, throughput as search_throughput};
pub use series::{latency_over_time, rate_over_time};
pub use stack::{Stack, stacks};
pub use theme::{Ink, Look};
pub use timeline::timeline;

/// More ranks than this are shown as a curve instead of bars.
pub const MOST_BARS: usize = 64;
