//! How many I/Os must be on their way at once (F21).

use std::time::Duration;

use units::Iops;

/// I/Os in flight at a rate when each takes `latency`, by Little's law: 110,000 IOPS of 0.5 ms each keep 55 on their way. An
/// NFS connection has at most as many as it has slots (128 for Azure NetApp Files), a rank as many as its queue depth.
pub fn in_flight(rate: Iops, latency: Duration) -> f64 {
    rate.get() * latency.as_secs_f64()
}
