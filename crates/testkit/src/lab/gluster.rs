use std::path::PathBuf;

use super::{Lab, wait_until};
use crate::skip::Need;

/// What [`Gluster::serve`] needs.
impl Gluster {
    /// What it needs of a machine.
    pub const NEEDS: [Need; 3] =
        [Need::Program("glusterd"), Need::Program("glusterfs"), Need::File("/dev/fuse")];
}

/// A GlusterFS volume of one server, a shared file system that hosts of a lab mount.
#[derive(Debug)]
pub struct Gluster {
    server: String,
}

impl Gluster {
    /// Serves a volume from a host.
    pub fn serve(lab: &mut Lab, host: usize) -> Self {
        let dir = lab.dir().join("gluster");
        for name in ["lib", "log", "brick1", "brick2"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
        }
        let dir = dir.display().to_string();
        std::fs::create_dir_all("/var/lib/glusterd").unwrap();
        lab.run(host, &["mount", "--bind", &format!("{dir}/lib"), "/var/lib/glusterd"]);
        let (pid, log) =
            (format!("--pid-file={dir}/glusterd.pid"), format!("--log-file={dir}/log/glusterd.log"));
        lab.start(host, &["glusterd", "-N", &pid, &log]);
        let gluster = |words: &[&str]| lab.try_run(host, &[&["gluster", "--mode=script"], words].concat());
        wait_until("glusterd", || gluster(&["volume", "list"]).status.success());
        let server = lab.address(host).to_owned();
        let bricks = [1, 2].map(|brick| format!("{server}:{dir}/brick{brick}/data"));
        // 127.0.0.1 is refused as the host of a brick; the address is the host's own.
        let made = gluster(&["volume", "create", "lab", &bricks[0], &bricks[1], "force"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        assert!(gluster(&["volume", "start", "lab"]).status.success());
        Self { server }
    }

    /// Mounts it on hosts, at the same place everywhere; returns that place.
    pub fn mount(&self, lab: &mut Lab, hosts: &[usize]) -> PathBuf {
        let place = lab.dir().join("shared");
        std::fs::create_dir_all(&place).unwrap();
        let path = place.display().to_string();
        for host in hosts {
            let (server, log) = (
                format!("--volfile-server={}", self.server),
                format!("--log-file={}/log.{host}", lab.dir().display()),
            );
            lab.start(*host, &["glusterfs", "-N", "--volfile-id=lab", &server, &log, &path]);
        }
        for host in hosts {
            wait_until("a mount of GlusterFS", || {
                lab.try_run(*host, &["stat", "-f", "-c", "%T", &path]).stdout.starts_with(b"fuse")
            });
        }
        place
    }
}
