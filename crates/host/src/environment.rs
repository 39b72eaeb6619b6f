//! What a run's record says about the machine it ran on. Facts only; judging them is the business of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Bytes};

/// The host and the storage below the target, as found before a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Name of the host.
    pub hostname: String,
    /// Kernel release, such as `6.1.0-18-amd64`.
    pub kernel: String,
    /// Operating system's pretty name.
    pub operating_system: String,
    /// Virtualization or cloud vendor as the firmware (DMI) names it; empty if unknown.
    pub machine: String,
    /// Processor.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// The kernel's clock source (`tsc`, `kvm-clock`, `hpet`).
    pub clock_source: String,
    /// The file system the target is on.
    pub target: Option<Mount>,
    /// Block devices below that file system, the file system's own first, then what it is made of (RAID members, LVM, loop backing).
    pub devices: Vec<BlockDevice>,
    /// Network interfaces that are up, loopback excluded.
    pub interfaces: Vec<NetworkInterface>,
    /// Parameters of a network file system's client that shape its performance (Lustre `osc.*`, NFS mount), as `name = value`.
    pub client_parameters: Vec<Parameter>,
}

/// The processor as the scheduler and the topology show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// Sockets (packages).
    pub sockets: u32,
    /// Physical cores: SMT siblings counted once.
    pub pcores: u32,
    /// Schedulable threads that are online.
    pub vcpus: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// vCPUs this process may use at the same time (affinity and cgroup CPU quota), if fewer than all.
    pub vcpus_allowed: f64,
}

/// Memory this process can fill with cached data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// All memory of the host.
    pub total_bytes: Bytes,
    /// The cgroup's limit, if it is below the total.
    pub cgroup_limit_bytes: Option<Bytes>,
    /// `vm.dirty_ratio` in percent (0 when `dirty_bytes` rules).
    pub dirty_ratio_percent: u32,
    /// `vm.dirty_background_ratio` in percent (0 when bytes rule).
    pub dirty_background_ratio_percent: u32,
}

impl Memory {
    /// What limits the page cache: the cgroup's limit if there is one, else all memory.
    pub fn cacheable(&self) -> Bytes {
        self.cgroup_limit_bytes.map_or(self.total_bytes, |limit| limit.min(self.total_bytes))
    }
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mount {
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted (`/dev/nvme0n1`, `10.0.0.4@tcp:/lustre`).
    pub source: String,
    /// File system type as in mountinfo (`ext4`, `lustre`, `nfs4`, `fuse.glusterfs`).
    pub file_system: String,
    /// Mount and super-block options, joined.
    pub options: String,
    /// Device number `major:minor`.
    pub device_number: String,
    /// Size of the file system.
    pub size_bytes: Bytes,
    /// Available to unprivileged users.
    pub available_bytes: Bytes,
    /// Bytes nobody uses, those that are kept for the superuser among them.
    #[serde(default)]
    pub free_bytes: Bytes,
    /// Inodes in all, 0 when the file system has no fixed number.
    pub inodes: u64,
    /// Free inodes.
    pub inodes_free: u64,
}

/// A block device and its queue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// Kernel name (`nvme0n1`).
    pub name: String,
    /// Model or backing file, if known.
    pub model: String,
    /// Size.
    pub size_bytes: Bytes,
    /// Spinning disk as the kernel believes.
    pub rotational: bool,
    /// I/O scheduler in use.
    pub scheduler: String,
    /// Requests the queue holds.
    pub nr_requests: u64,
    /// Read-ahead.
    pub read_ahead_bytes: Bytes,
    /// Largest request.
    pub max_request_bytes: Bytes,
    /// Logical block size.
    pub logical_block_bytes: Bytes,
    /// `write back` or `write through`.
    pub write_cache: String,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkInterface {
    /// Kernel name (`eth0`).
    pub name: String,
    /// Driver, if known (`ena`, `mlx5_core`, `gve`, `virtio_net`).
    pub driver: String,
    /// Link speed; `None` where the driver does not say (most cloud NICs).
    pub speed_bytes_per_second: Option<Bandwidth>,
    /// MTU in bytes.
    pub mtu: u32,
}

/// One `name = value`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Its full name.
    pub name: String,
    /// Its value as printed by the system.
    pub value: String,
}
