//! Reading the counters below a target again and again.

use std::path::{Path, PathBuf};

use fault::Result;
use units::Bytes;

use crate::{
    CounterSource, Counters, CpuTimes, Mount, System, TrafficCounter, block_device, cpu_times, lustre,
    network, nfs,
};

/// The counters that show what really moved for a target. It finds out once where they are; reading them is cheap.
///
/// - a file system on block devices: these devices, each byte once (members of a RAID below it are not counted again);
/// - Lustre: RPC bytes of the OSCs, or the network where debugfs can't be read;
/// - NFS: bytes on the wire;
/// - other network file systems and FUSE: all interfaces that lead out of the host. Not loopback: a server on the same
///   host isn't seen, and what others send is. RDMA passes by these counters;
/// - file systems in memory: nothing.
#[derive(Debug, Clone)]
pub struct Probe {
    system: System,
    mount: Mount,
    traffic: Traffic,
}

#[derive(Debug, Clone)]
enum Traffic {
    Devices(Vec<PathBuf>),
    Lustre(lustre::Traffic),
    Nfs(nfs::Traffic),
    Network(network::Traffic),
    Uncounted,
}

impl System {
    /// Finds the counters for `target`; fails only when `target` cannot be looked at.
    pub fn probe(&self, target: &Path) -> Result<Probe> {
        let mount = self.mount_of(target)?;
        let traffic = Traffic::find(self, &mount);
        Ok(Probe { system: self.clone(), mount, traffic })
    }
}

impl Probe {
    /// All counters now. One that can't be read any more is left out.
    pub fn counters(&self) -> Counters {
        let meminfo = self.system.meminfo();
        Counters {
            traffic: self.traffic.read(&self.system),
            cpu: cpu_times::read(&self.system),
            dirty_bytes: meminfo.get("Dirty"),
            writeback_bytes: meminfo.get("Writeback"),
        }
    }

    /// CPU time now.
    pub fn cpu(&self) -> CpuTimes {
        cpu_times::read(&self.system)
    }

    /// Who counts the target's bytes; `None` if nobody does.
    pub fn source(&self) -> Option<CounterSource> {
        match self.traffic {
            Traffic::Devices(_) => Some(CounterSource::Device),
            Traffic::Lustre(_) => Some(CounterSource::Lustre),
            Traffic::Nfs(_) => Some(CounterSource::Nfs),
            Traffic::Network(_) => Some(CounterSource::Network),
            Traffic::Uncounted => None,
        }
    }

    /// The file system the target is on, as it was when the probe was made.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }
}

impl Traffic {
    fn find(system: &System, mount: &Mount) -> Self {
        if mount.is_lustre_client()
            && let Some(traffic) = lustre::Traffic::find(system, mount)
        {
            return Self::Lustre(traffic);
        }
        if mount.is_nfs()
            && let Some(traffic) = nfs::Traffic::find(system, mount)
        {
            return Self::Nfs(traffic);
        }
        if mount.is_remote() {
            return network::Traffic::find(system).map_or(Self::Uncounted, Self::Network);
        }
        match block_device::own(system, mount) {
            devices if devices.is_empty() => Self::Uncounted,
            devices => Self::Devices(devices),
        }
    }

    fn read(&self, system: &System) -> Vec<TrafficCounter> {
        match self {
            Self::Devices(devices) => {
                devices.iter().filter_map(|device| device_traffic(system, device)).collect()
            }
            Self::Lustre(traffic) => vec![traffic.read(system)],
            Self::Nfs(traffic) => traffic.read(system).into_iter().collect(),
            Self::Network(traffic) => vec![traffic.read(system)],
            Self::Uncounted => Vec::new(),
        }
    }
}

/// A device's `stat`: reads, merged, sectors, ms, writes, merged, sectors, ms, in flight, busy ms, ... A sector is 512 bytes
/// whatever the device's own block size.
fn device_traffic(system: &System, device: &Path) -> Option<TrafficCounter> {
    let stat = system.text(device.join("stat"))?;
    let fields: Vec<u64> = stat.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let sectors = |field: usize| Some(Bytes::new(fields.get(field)?.saturating_mul(512)));
    Some(TrafficCounter {
        source: CounterSource::Device,
        name: block_device::name(device),
        read_bytes: sectors(2)?,
        written_bytes: sectors(6)?,
        busy_ns: fields.get(9).copied().unwrap_or(0).saturating_mul(1_000_000),
    })
}
