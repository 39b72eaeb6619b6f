//! Facts of this host, read from `/proc`, `/sys` and the mount table: topology, memory, mounts, devices,
//! interfaces, and the counters that tell what really moved. It reads; it judges nothing.
//!
//! ```no_run
//! # fn main() -> fault::Result<()> {
//! let target = std::path::Path::new("/srv/data");
//! let system = host::System::here();
//! let environment = system.environment(Some(target))?;
//! let probe = system.probe(target)?;
//! let before = probe.counters();
//! // … work …
//! let moved = probe.counters().since(&before);
//! # Ok(())
//! # }
//! ```

mod block_device;
mod cgroup;
mod client;
mod counters;
mod cpu_times;
mod environment;
mod identity;
mod layout;
mod lustre;
mod memory;
mod mount_table;
mod network;
mod nfs;
mod probe;
mod process;
mod system;
mod topology;
mod vcpu_list;

pub use counters::{CounterSource, Counters, CpuTimes, TrafficCounter};
pub use cpu_times::thread_cpu_time;
pub use environment::{BlockDevice, Cpu, Environment, Memory, Mount, NetworkInterface, Parameter};
pub use layout::{Component, FileLayout, layout_of};
pub use probe::Probe;
pub use process::process_alive;
pub use system::System;
