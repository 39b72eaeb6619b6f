//! Facts of this host, read from `/proc`, `/sys` and the mount table: topology, memory, mounts, devices,
//! interfaces, and the counters that tell what really moved. It reads; it judges nothing.

mod counters;
mod environment;

pub use counters::{CounterSource, Counters, CpuTimes, TrafficCounter};
pub use environment::{BlockDevice, Cpu, Environment, Memory, Mount, NetworkInterface, Parameter};
