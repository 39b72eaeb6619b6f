//! Memory of the host and of this process's control group.

use units::Bytes;

use crate::{Memory, System, cgroup};

impl System {
    /// Memory, its limit and the write-back thresholds.
    pub fn memory(&self) -> Memory {
        let total = self.meminfo().get("MemTotal");
        // unlimited groups of version 1 print a huge number
        let limit = cgroup::memory_limit(self).filter(|&limit| limit < total || total == Bytes::ZERO);
        let ratio = |name: &str| self.number(format!("/proc/sys/vm/{name}")).unwrap_or(0);
        Memory {
            total_bytes: total,
            cgroup_limit_bytes: limit,
            dirty_ratio_percent: ratio("dirty_ratio"),
            dirty_background_ratio_percent: ratio("dirty_background_ratio"),
        }
    }

    /// Memory that programs can still take without swapping (`MemAvailable`), at this moment.
    pub fn available_memory(&self) -> Bytes {
        self.meminfo().get("MemAvailable")
    }

    pub(crate) fn meminfo(&self) -> MemInfo {
        MemInfo(self.text("/proc/meminfo").unwrap_or_default())
    }
}

/// The text of `/proc/meminfo`.
pub(crate) struct MemInfo(String);

impl MemInfo {
    /// The value of `name`, zero if it isn't there.
    pub(crate) fn get(&self, name: &str) -> Bytes {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = line.and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
        Bytes::new(kib.saturating_mul(1024))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_in_kib() {
        let meminfo =
            MemInfo("MemTotal:       1024 kB\nDirty:  8 kB\nDirtyOther: 9 kB\nBad: x kB\n".to_owned());
        assert_eq!(meminfo.get("MemTotal"), Bytes::mib(1));
        assert_eq!(meminfo.get("Dirty"), Bytes::kib(8));
        assert_eq!(meminfo.get("Bad"), Bytes::ZERO);
        assert_eq!(meminfo.get("Absent"), Bytes::ZERO);
    }
}
