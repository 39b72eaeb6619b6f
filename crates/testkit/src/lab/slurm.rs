use std::path::PathBuf;
use std::process::Command;

use super::{Lab, tool, wait_until};
use crate::skip::Need;

/// A real Slurm: its controller on the first host of a lab, a node on every host.
#[derive(Debug)]
pub struct Slurm {
    config: PathBuf,
}

impl Slurm {
    /// What it needs of a machine.
    pub const NEEDS: [Need; 6] = [
        Need::Program("munged"),
        Need::Program("slurmctld"),
        Need::Program("slurmd"),
        Need::Program("srun"),
        Need::Program("setpriv"),
        Need::Program("chown"),
    ];

    /// Starts it on the first `nodes` hosts, each with so many CPUs, whatever the machine has.
    pub fn start(lab: &mut Lab, nodes: usize, cpus: usize) -> Self {
        let dir = lab.dir().join("slurm");
        for name in ["munge", "state", "spool", "run"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
        }
        let path = dir.display().to_string();
        Self::start_munge(lab, &path);
        let config = dir.join("slurm.conf");
        std::fs::write(&config, Self::text(lab, &path, nodes, cpus)).unwrap();
        let file = config.to_str().unwrap().to_owned();
        lab.start(0, &["slurmctld", "-D", "-f", &file]);
        for node in 0..nodes {
            std::fs::create_dir_all(dir.join(format!("tmp-h{node}"))).unwrap();
            lab.start(node, &["slurmd", "-D", "-N", &format!("h{node}"), "-f", &file]);
        }
        let slurm = Self { config };
        wait_until("idle nodes of Slurm", || {
            let output = slurm.command(lab, "sinfo").args(["-h", "-t", "idle", "-o", "%D"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim() == nodes.to_string()
        });
        slurm
    }

    fn start_munge(lab: &mut Lab, path: &str) {
        let munge = format!("{path}/munge");
        std::fs::write(format!("{munge}/key"), [7u8; 128]).unwrap();
        tool("chown", &["-R", "munge:munge", &munge]);
        tool("chmod", &["700", &munge]);
        tool("chmod", &["400", &format!("{munge}/key")]);
        // munged insists on directories that others can reach but not change.
        for folder in [lab.dir().to_str().unwrap(), path, &munge] {
            tool("chmod", &["755", folder]);
        }
        let key = format!("--key-file={munge}/key");
        let socket = format!("--socket={munge}/socket");
        let files = ["pid", "log", "seed"].map(|name| format!("--{name}-file={munge}/{name}"));
        let as_munge = ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups"];
        let munged = ["munged", "-F", "-f", &key, &socket, &files[0], &files[1], &files[2]];
        lab.start(0, &[as_munge.as_slice(), &munged].concat());
        let socket = format!("{munge}/socket");
        wait_until("munged", || std::path::Path::new(&socket).exists());
    }

    fn text(lab: &Lab, path: &str, nodes: usize, cpus: usize) -> String {
        let node = |node: usize| {
            format!("NodeName=h{node} NodeAddr={} NodeHostname=h{node} CPUs={cpus}\n", lab.address(node))
        };
        let all: String = (0..nodes).map(node).collect();
        format!(
            "ClusterName=lab\nSlurmctldHost=h0({address})\nSlurmUser=root\nAuthType=auth/munge\n\
             AuthInfo=socket={path}/munge/socket\nCredType=cred/munge\nMpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             ReturnToService=2\nSlurmctldPidFile={path}/run/ctld.pid\nSlurmdPidFile={path}/run/slurmd-%n.pid\n\
             SlurmdSpoolDir={path}/spool/%n\nStateSaveLocation={path}/state\nTmpFS={path}/tmp-%n\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             SlurmctldDebug=info\nSlurmdDebug=info\nJobAcctGatherType=jobacct_gather/none\nInactiveLimit=0\nKillWait=5\n\
             {all}PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            address = lab.address(0),
        )
    }

    /// A command of Slurm (`srun`, `squeue`) on the first host.
    pub fn command(&self, lab: &Lab, name: &str) -> Command {
        let mut command = lab.command(0, name);
        command.env("SLURM_CONF", &self.config);
        command
    }
}
