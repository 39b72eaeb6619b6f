//! Counters that the kernel keeps, read before and after a phase: what really moved, and who was busy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// Where bytes were seen by someone other than the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterSource {
    /// A block device (`/sys/dev/block/M:m/stat`).
    Device,
    /// A Lustre client's OSCs (RPC bytes): what left the page cache for the servers.
    Lustre,
    /// An NFS mount's server bytes (`/proc/self/mountstats`).
    Nfs,
    /// Network interfaces, all together (used when the file system has no counters of its own).
    Network,
}

/// Bytes moved below the file system's cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficCounter {
    /// Kind of counter.
    pub source: CounterSource,
    /// Which one (`nvme0n1`, `lustre-OST*`, `eth0`).
    pub name: String,
    /// Read from storage (or received).
    pub read_bytes: Bytes,
    /// Written to storage (or sent).
    pub written_bytes: Bytes,
    /// Time the device had at least one I/O in flight, in ns; 0 where not known.
    pub busy_ns: u64,
}

/// CPU time in ns since boot over all vCPUs, and per vCPU busy time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    /// In programs.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// In interrupts, hard and soft.
    pub interrupt_ns: u64,
    /// Waiting for I/O with nothing else to run.
    pub iowait_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// Busy time (all but idle and iowait) of each vCPU.
    pub busy_per_vcpu_ns: Vec<u64>,
    /// User time of this process.
    pub process_user_ns: u64,
    /// System time of this process.
    pub process_system_ns: u64,
}

/// All counters at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Bytes below the cache; empty where nothing counts them (tmpfs).
    pub traffic: Vec<TrafficCounter>,
    /// CPU time.
    pub cpu: CpuTimes,
    /// Dirty page cache not yet on its way.
    pub dirty_bytes: Bytes,
    /// Page cache being written.
    pub writeback_bytes: Bytes,
}

impl Counters {
    /// What happened between `before` and `self`; levels (dirty, writeback) stay those of `self`.
    pub fn since(&self, before: &Self) -> Self {
        let traffic = self
            .traffic
            .iter()
            .map(|now| {
                let then = before.traffic.iter().find(|t| t.source == now.source && t.name == now.name);
                let (read, written, busy) = then
                    .map_or((Bytes::ZERO, Bytes::ZERO, 0), |t| (t.read_bytes, t.written_bytes, t.busy_ns));
                TrafficCounter {
                    read_bytes: now.read_bytes.saturating_sub(read),
                    written_bytes: now.written_bytes.saturating_sub(written),
                    busy_ns: now.busy_ns.saturating_sub(busy),
                    ..now.clone()
                }
            })
            .collect();
        Self { traffic, cpu: self.cpu.since(&before.cpu), ..self.clone() }
    }
}

impl CpuTimes {
    /// The difference, field by field.
    pub fn since(&self, before: &Self) -> Self {
        let busy = self.busy_per_vcpu_ns.iter().enumerate();
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            interrupt_ns: self.interrupt_ns.saturating_sub(before.interrupt_ns),
            iowait_ns: self.iowait_ns.saturating_sub(before.iowait_ns),
            idle_ns: self.idle_ns.saturating_sub(before.idle_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
            busy_per_vcpu_ns: busy
                .map(|(cpu, now)| now.saturating_sub(before.busy_per_vcpu_ns.get(cpu).copied().unwrap_or(0)))
                .collect(),
            process_user_ns: self.process_user_ns.saturating_sub(before.process_user_ns),
            process_system_ns: self.process_system_ns.saturating_sub(before.process_system_ns),
        }
    }
}

impl Counters {
    /// Adds those of another host. Of devices and interfaces of one name it is the busier's time that counts; what single
    /// vCPUs did is told of single hosts only.
    pub fn add(&mut self, other: &Self) {
        for counter in &other.traffic {
            match self.traffic.iter_mut().find(|t| (t.source, &t.name) == (counter.source, &counter.name)) {
                Some(known) => {
                    known.read_bytes = known.read_bytes + counter.read_bytes;
                    known.written_bytes = known.written_bytes + counter.written_bytes;
                    known.busy_ns = known.busy_ns.max(counter.busy_ns);
                }
                None => self.traffic.push(counter.clone()),
            }
        }
        let (own, cpu) = (&mut self.cpu, &other.cpu);
        own.user_ns += cpu.user_ns;
        own.system_ns += cpu.system_ns;
        own.interrupt_ns += cpu.interrupt_ns;
        own.iowait_ns += cpu.iowait_ns;
        own.idle_ns += cpu.idle_ns;
        own.steal_ns += cpu.steal_ns;
        own.process_user_ns += cpu.process_user_ns;
        own.process_system_ns += cpu.process_system_ns;
        own.busy_per_vcpu_ns.clear();
        self.dirty_bytes = self.dirty_bytes + other.dirty_bytes;
        self.writeback_bytes = self.writeback_bytes + other.writeback_bytes;
    }
}
