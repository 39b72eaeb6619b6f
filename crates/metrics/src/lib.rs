//! Figures of a run for Prometheus: a registry of gauges and counters, and a small HTTP server that shows it.
//!
//! The server answers `GET /metrics` in the OpenMetrics text format and nothing else. It binds the address it is given and
//! no other, and ends when it is dropped.

mod server;

pub use prometheus_client::metrics::counter::Counter;
pub use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::gauge::Gauge;
pub use prometheus_client::registry::{Registry, Unit};
pub use server::Server;

/// A gauge of a fraction.
pub type FloatGauge = Gauge<f64, std::sync::atomic::AtomicU64>;
