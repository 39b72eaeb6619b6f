//! An NFS client: its negotiated options and the bytes it exchanged with the server, from `/proc/self/mountstats`.

use units::Bytes;

use crate::mount_table::unescape;
use crate::{CounterSource, Mount, Parameter, System, TrafficCounter};

/// The options client and server agreed on, and what else shapes the client's performance.
pub(crate) fn parameters(system: &System, mount: &Mount) -> Vec<Parameter> {
    let text = system.text("/proc/self/mountstats").unwrap_or_default();
    let mut parameters = section(&text, &mount.mount_point).map(options).unwrap_or_default();
    let settings = [
        ("bdi.read_ahead_kb", format!("/sys/class/bdi/{}/read_ahead_kb", mount.device_number)),
        ("sunrpc.tcp_slot_table_entries", "/proc/sys/sunrpc/tcp_slot_table_entries".to_owned()),
        ("sunrpc.tcp_max_slot_table_entries", "/proc/sys/sunrpc/tcp_max_slot_table_entries".to_owned()),
    ];
    for (name, file) in settings {
        parameters.extend(system.text(file).map(|value| Parameter { name: name.to_owned(), value }));
    }
    parameters
}

/// Bytes of READ and WRITE calls of one mount. Mounts of the same export share their connection and count together.
#[derive(Debug, Clone)]
pub(crate) struct Traffic {
    mount_point: String,
    name: String,
}

impl Traffic {
    /// `None` when the kernel has no statistics of this mount.
    pub(crate) fn find(system: &System, mount: &Mount) -> Option<Self> {
        let traffic = Self { mount_point: mount.mount_point.clone(), name: mount.source.clone() };
        traffic.read(system).map(|_| traffic)
    }

    pub(crate) fn read(&self, system: &System) -> Option<TrafficCounter> {
        let text = system.text("/proc/self/mountstats")?;
        let (read, written) = server_bytes(section(&text, &self.mount_point)?)?;
        Some(TrafficCounter {
            source: CounterSource::Nfs,
            name: self.name.clone(),
            read_bytes: Bytes::new(read),
            written_bytes: Bytes::new(written),
            busy_ns: 0,
        })
    }
}

/// The lines of the last NFS mount at `mount_point`, from its `device` line to the next one.
fn section<'a>(mountstats: &'a str, mount_point: &str) -> Option<&'a str> {
    let starts = mountstats.match_indices("device ").map(|(at, _)| at);
    let starts = starts.filter(|&at| at == 0 || mountstats.as_bytes()[at - 1] == b'\n');
    let starts: Vec<usize> = starts.chain([mountstats.len()]).collect();
    let mut sections = starts.windows(2).map(|pair| &mountstats[pair[0]..pair[1]]);
    sections.rfind(|section| is_nfs_at(section, mount_point))
}

/// `device server:/export mounted on /mnt/data with fstype nfs4 statvers=1.1`
fn is_nfs_at(section: &str, mount_point: &str) -> bool {
    let head = section.lines().next().unwrap_or_default();
    let place = head.split_once(" mounted on ").and_then(|(_, rest)| rest.split_once(" with fstype "));
    place.is_some_and(|(path, file_system)| file_system.starts_with("nfs") && unescape(path) == mount_point)
}

/// What follows `label:` in a section.
fn labelled<'a>(section: &'a str, label: &str) -> Option<&'a str> {
    section.lines().find_map(|line| line.trim_start().strip_prefix(label)?.strip_prefix(':')).map(str::trim)
}

/// Read and written bytes on the wire: fields 5 and 6, after what programs read and wrote, cached and direct.
fn server_bytes(section: &str) -> Option<(u64, u64)> {
    let mut fields = labelled(section, "bytes")?.split_whitespace().skip(4).map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}

/// Options with a value become a parameter each; those without are listed together as `nfs.flags`.
fn options(section: &str) -> Vec<Parameter> {
    let Some(options) = labelled(section, "opts") else { return Vec::new() };
    let (valued, flags): (Vec<&str>, Vec<&str>) = options.split(',').partition(|option| option.contains('='));
    let flags =
        (!flags.is_empty()).then(|| Parameter { name: "nfs.flags".to_owned(), value: flags.join(",") });
    let valued = valued.into_iter().filter_map(|option| option.split_once('='));
    let valued =
        valued.map(|(name, value)| Parameter { name: format!("nfs.{name}"), value: value.to_owned() });
    flags.into_iter().chain(valued).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
device /dev/vda mounted on / with fstype ext4
device server:/old mounted on /mnt/my\\040data with fstype nfs statvers=1.1
\tbytes:\t1 1 1 1 1 1 1 1
device server:/export mounted on /mnt/my\\040data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,hard
\tbytes:\t100 200 0 0 4096 8192 1 2
device proc mounted on /proc with fstype proc
";

    #[test]
    fn the_mount_on_top_counts() {
        let section = section(TEXT, "/mnt/my data").unwrap();
        assert_eq!(server_bytes(section), Some((4096, 8192)));
    }

    #[test]
    fn only_nfs_mounts_have_counters() {
        assert_eq!(section(TEXT, "/"), None);
        assert_eq!(section("", "/"), None);
        assert_eq!(server_bytes("\tbytes:\t1 2 3"), None);
        assert_eq!(server_bytes("\tbytes:\t1 2 3 4 x 6"), None);
    }

    #[test]
    fn options_become_parameters() {
        let all = options(section(TEXT, "/mnt/my data").unwrap());
        let text: Vec<String> = all.iter().map(|p| format!("{}={}", p.name, p.value)).collect();
        assert_eq!(text, ["nfs.flags=rw,hard", "nfs.vers=4.2"]);
    }
}
