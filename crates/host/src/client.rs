//! File systems whose data is on other hosts, and what their clients tell about themselves.

use crate::{Mount, Parameter, System, lustre, nfs};

/// Types of file systems that are clients of a server somewhere else.
const REMOTE: [&str; 19] = [
    "9p",
    "afs",
    "beegfs",
    "beegfs_nodev",
    "ceph",
    "cifs",
    "coda",
    "fuse",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "orangefs",
    "panfs",
    "pvfs2",
    "smb3",
    "smbfs",
    "wekafs",
];

impl Mount {
    /// Whether the data comes from other hosts. FUSE counts as such (`fuseblk` doesn't): those worth measuring are clients of
    /// a server.
    pub fn is_remote(&self) -> bool {
        match self.file_system.as_str() {
            "lustre" => self.is_lustre_client(),
            file_system => REMOTE.contains(&file_system) || file_system.starts_with("fuse."),
        }
    }

    /// A Lustre client's mount; a server's targets have the same type, but a device for source.
    pub(crate) fn is_lustre_client(&self) -> bool {
        self.file_system == "lustre" && self.source.contains(":/")
    }

    pub(crate) fn is_nfs(&self) -> bool {
        matches!(self.file_system.as_str(), "nfs" | "nfs4")
    }
}

/// Parameters of the mount's client, if it has any that we know.
pub(crate) fn parameters(system: &System, mount: &Mount) -> Vec<Parameter> {
    if mount.is_lustre_client() {
        lustre::parameters(system, mount)
    } else if mount.is_nfs() {
        nfs::parameters(system, mount)
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(file_system: &str, source: &str) -> Mount {
        Mount { file_system: file_system.to_owned(), source: source.to_owned(), ..Mount::default() }
    }

    #[test]
    fn a_lustre_server_is_not_its_own_client() {
        assert!(mount("lustre", "10.0.0.4@tcp:/lustre").is_remote());
        assert!(!mount("lustre", "/dev/vdc").is_remote());
    }

    #[test]
    fn fuse_on_a_block_device_is_local() {
        assert!(mount("fuse.glusterfs", "host:/volume").is_remote());
        assert!(!mount("fuseblk", "/dev/sda1").is_remote());
        assert!(!mount("tmpfs", "tmpfs").is_remote());
    }
}
