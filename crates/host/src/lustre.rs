//! A Lustre client: the parameters that shape its performance and the bytes its OSCs moved.
//!
//! Versions differ in where they keep these: all below `/proc/fs/lustre` until 2.10, then single values in
//! `/sys/fs/lustre` and statistics in debugfs, which only root may read.

use std::path::{Path, PathBuf};

use units::Bytes;

use crate::{CounterSource, Mount, Parameter, System, TrafficCounter};

const TREES: [&str; 3] = ["/sys/fs/lustre", "/proc/fs/lustre", "/sys/kernel/debug/lustre"];

const PARAMETERS: [(&str, &[&str]); 3] = [
    (
        "osc",
        &[
            "max_rpcs_in_flight",
            "max_pages_per_rpc",
            "max_dirty_mb",
            "checksums",
            "checksum_type",
            "short_io_bytes",
            "cur_grant_bytes",
        ],
    ),
    ("mdc", &["max_rpcs_in_flight", "max_mod_rpcs_in_flight", "max_pages_per_rpc"]),
    (
        "llite",
        &[
            "max_read_ahead_mb",
            "max_read_ahead_per_file_mb",
            "max_read_ahead_whole_mb",
            "max_cached_mb",
            "statahead_max",
            "checksums",
            "fast_read",
            "hybrid_io",
        ],
    ),
];

/// The parameters of this mount's client, named as `lctl get_param` does; `*` where all devices agree.
pub(crate) fn parameters(system: &System, mount: &Mount) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = version(system).into_iter().collect();
    let Some(name) = file_system_name(&mount.source) else { return parameters };
    for (kind, wanted) in PARAMETERS {
        let devices = devices(system, kind, name);
        for parameter in wanted {
            let values = devices.iter().filter_map(|device| {
                Some((
                    device.as_str(),
                    value(system, &Path::new(kind).join(device).join(parameter), parameter)?,
                ))
            });
            parameters.extend(gather(kind, parameter, values.collect()));
        }
    }
    parameters
}

/// Bytes this mount's client exchanged with its servers: RPCs of the OSCs, and of the MDCs for data on MDTs.
/// Two mounts of one file system on a host can't be told apart and count together.
#[derive(Debug, Clone)]
pub(crate) struct Traffic {
    name: String,
    statistics: Vec<PathBuf>,
}

impl Traffic {
    /// `None` when the statistics can't be read.
    pub(crate) fn find(system: &System, mount: &Mount) -> Option<Self> {
        let name = file_system_name(&mount.source)?;
        let stats = |kind: &'static str| {
            let devices = devices(system, kind, name).into_iter();
            devices.filter_map(move |device| {
                statistics_file(system, &Path::new(kind).join(device).join("stats"))
            })
        };
        let mut statistics: Vec<PathBuf> = stats("osc").collect();
        if statistics.is_empty() {
            return None;
        }
        statistics.extend(stats("mdc"));
        Some(Self { name: format!("{name}-OST*"), statistics })
    }

    pub(crate) fn read(&self, system: &System) -> TrafficCounter {
        let texts: Vec<String> = self.statistics.iter().filter_map(|file| system.text(file)).collect();
        let total = |counter: &str| Bytes::new(texts.iter().map(|text| sum(text, counter)).sum());
        TrafficCounter {
            source: CounterSource::Lustre,
            name: self.name.clone(),
            read_bytes: total("read_bytes"),
            written_bytes: total("write_bytes"),
            busy_ns: 0,
        }
    }
}

/// `lustre` in `10.0.0.4@tcp:10.0.0.5@tcp:/lustre/sub/directory`.
fn file_system_name(source: &str) -> Option<&str> {
    let (_, path) = source.split_once(":/")?;
    path.split('/').next().filter(|name| !name.is_empty())
}

/// The client's devices of this file system. A metadata server's own OSCs (`…-osc-MDT0000`) carry no client's data.
fn devices(system: &System, kind: &str, name: &str) -> Vec<String> {
    let prefix = format!("{name}-");
    let mut names: Vec<String> =
        TREES.iter().flat_map(|tree| system.names(Path::new(tree).join(kind))).collect();
    names.retain(|device| device.starts_with(&prefix) && !device.contains("-osc-MDT"));
    names.sort();
    names.dedup();
    names
}

fn value(system: &System, path: &Path, parameter: &str) -> Option<String> {
    let text = TREES.iter().find_map(|tree| system.text(Path::new(tree).join(path)))?;
    // some print a table of their own: `max_cached_mb: 1489` among others
    let line = text.lines().find_map(|line| line.strip_prefix(parameter)?.strip_prefix(':'));
    Some(line.unwrap_or(&text).trim().to_owned())
}

fn statistics_file(system: &System, path: &Path) -> Option<PathBuf> {
    TREES.iter().map(|tree| Path::new(tree).join(path)).find(|file| system.text(file).is_some())
}

/// One line if all devices agree, else one for each.
fn gather(kind: &str, parameter: &str, values: Vec<(&str, String)>) -> Vec<Parameter> {
    let name = |device: &str| format!("{kind}.{device}.{parameter}");
    match values.first() {
        None => Vec::new(),
        Some((_, first)) if values.iter().all(|(_, value)| value == first) => {
            vec![Parameter { name: name("*"), value: first.clone() }]
        }
        Some(_) => {
            values.into_iter().map(|(device, value)| Parameter { name: name(device), value }).collect()
        }
    }
}

fn version(system: &System) -> Option<Parameter> {
    let text = TREES.iter().find_map(|tree| system.text(Path::new(tree).join("version")))?;
    // up to 2.10 this file has several lines, `lustre: 2.10.8` first
    let first = text.lines().next()?;
    let value = first.strip_prefix("lustre:").unwrap_or(first).trim().to_owned();
    Some(Parameter { name: "lustre.version".to_owned(), value })
}

/// The sum of a counter: `read_bytes 192 samples [bytes] 65536 65536 12582912 824633720832` is
/// count, unit, smallest, largest, sum, sum of squares. Zero before the first sample.
fn sum(stats: &str, counter: &str) -> u64 {
    let lines = stats.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.into_iter().find(|fields| fields.first() == Some(&counter));
    line.and_then(|fields| fields.get(6)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_follows_the_servers() {
        assert_eq!(file_system_name("10.0.0.4@tcp:10.0.0.5@tcp:/lustre/sub"), Some("lustre"));
        assert_eq!(file_system_name("10.5.0.1@tcp:/lt"), Some("lt"));
        assert_eq!(file_system_name("/dev/vdc"), None);
        assert_eq!(file_system_name("host:/"), None);
    }

    #[test]
    fn a_counter_without_samples_is_zero() {
        assert_eq!(sum("read_bytes 2 samples [bytes] 4096 8192 12288 83886080", "read_bytes"), 12288);
        assert_eq!(sum("read_bytes 0 samples [bytes]", "read_bytes"), 0);
        assert_eq!(sum("read_bytes 2 samples [bytes] 1 1 x 1", "read_bytes"), 0);
        assert_eq!(sum("", "write_bytes"), 0);
    }

    #[test]
    fn devices_that_agree_share_a_line() {
        let value = |device, value: &str| (device, value.to_owned());
        let same = gather("osc", "checksums", vec![value("a", "1"), value("b", "1")]);
        assert_eq!(same, [Parameter { name: "osc.*.checksums".to_owned(), value: "1".to_owned() }]);
        let other = gather("osc", "checksums", vec![value("a", "1"), value("b", "0")]);
        assert_eq!(other[1], Parameter { name: "osc.b.checksums".to_owned(), value: "0".to_owned() });
        assert!(gather("osc", "checksums", Vec::new()).is_empty());
    }
}
