//! Network interfaces and what passed through them.

use std::path::{Path, PathBuf};

use units::{Bandwidth, Bytes};

use crate::{CounterSource, NetworkInterface, System, TrafficCounter};

const INTERFACES: &str = "/sys/class/net";
const IFF_UP: u32 = 0x1;
const IFF_LOOPBACK: u32 = 0x8;

/// Interfaces that are up, loopback excluded.
pub(crate) fn interfaces(system: &System) -> Vec<NetworkInterface> {
    up(system).into_iter().map(|name| describe(system, name)).collect()
}

/// Byte counts of the interfaces that lead out of the host.
///
/// Bonds, bridges, VLANs and the like pass on what a device below them counts already, so only interfaces with a device are
/// read; a virtual function that serves another such interface (`master`) isn't either. In a container, where no interface
/// has a device, all are read. Loopback never is, so a server on the same host isn't seen; nor is RDMA.
#[derive(Debug, Clone)]
pub(crate) struct Traffic {
    name: String,
    statistics: Vec<PathBuf>,
}

impl Traffic {
    /// `None` when no interface is up.
    pub(crate) fn find(system: &System) -> Option<Self> {
        let up = up(system);
        let mut names: Vec<String> = up.iter().filter(|name| leads_out(system, name)).cloned().collect();
        if names.is_empty() {
            names = up;
        }
        let statistics =
            names.iter().map(|name| Path::new(INTERFACES).join(name).join("statistics")).collect();
        (!names.is_empty()).then(|| Self { name: names.join("+"), statistics })
    }

    pub(crate) fn read(&self, system: &System) -> TrafficCounter {
        let sum = |file: &str| {
            self.statistics.iter().filter_map(|directory| system.number::<u64>(directory.join(file))).sum()
        };
        TrafficCounter {
            source: CounterSource::Network,
            name: self.name.clone(),
            read_bytes: Bytes::new(sum("rx_bytes")),
            written_bytes: Bytes::new(sum("tx_bytes")),
            busy_ns: 0,
        }
    }
}

fn up(system: &System) -> Vec<String> {
    let is_up = |name: &String| {
        let directory = Path::new(INTERFACES).join(name);
        let flags = system.text(directory.join("flags")).and_then(|text| hexadecimal(&text)).unwrap_or(0);
        let state = system.text(directory.join("operstate"));
        flags & IFF_UP != 0 && flags & IFF_LOOPBACK == 0 && state.is_none_or(|state| state != "down")
    };
    system.names(INTERFACES).into_iter().filter(is_up).collect()
}

fn leads_out(system: &System, name: &str) -> bool {
    let directory = Path::new(INTERFACES).join(name);
    let master = system.link_name(directory.join("master"));
    let served = master.is_some_and(|master| system.has(Path::new(INTERFACES).join(master).join("device")));
    system.has(directory.join("device")) && !served
}

fn describe(system: &System, name: String) -> NetworkInterface {
    let directory = Path::new(INTERFACES).join(&name);
    // megabits per second; -1 (or 2^32 - 1 in old kernels) where the driver does not know
    let speed =
        system.number::<i64>(directory.join("speed")).filter(|speed| (1..=10_000_000).contains(speed));
    NetworkInterface {
        driver: system.link_name(directory.join("device/driver")).unwrap_or_default(),
        speed_bytes_per_second: speed.map(|mbit| Bandwidth::bytes_per_second(mbit as f64 * 1e6 / 8.0)),
        mtu: system.number(directory.join("mtu")).unwrap_or(0),
        name,
    }
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_hexadecimal() {
        assert_eq!(hexadecimal("0x1003"), Some(0x1003));
        assert_eq!(hexadecimal("1003"), None);
    }
}
