//! The few statistics that repeated measurements need: describing a sample, and telling two samples apart.
//!
//! Samples are small (3 to 20 repetitions), so everything here is by ranks and by resampling; nothing assumes
//! that throughput is normally distributed, because it isn't.

mod bootstrap;
mod describe;
mod io500;
mod mann_whitney;

pub use bootstrap::{Interval95, RESAMPLES, median_ratio_interval};
pub use describe::{coefficient_of_variation, mean, median, median_of_sorted, quantile};
pub use io500::{Io500Score, geometric_mean};
pub use mann_whitney::{MannWhitney, mann_whitney, smallest_p};
