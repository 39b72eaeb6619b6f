use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{installed, quietly, tool, wait_until};

/// One host: a network namespace, and a first process whose end is the end of all others there.
#[derive(Debug)]
pub(super) struct Host {
    network: String,
    pub address: String,
    /// `unshare`, whose child is the host's first process.
    keeper: Child,
    init: u32,
    has_clock: bool,
    started: Vec<Child>,
}

impl Host {
    pub fn new(lab: &str, place: usize, address: String, switch: &str, clock: i64) -> Self {
        let network = format!("{lab}-h{place}");
        tool("ip", &["netns", "add", &network]);
        let cable = format!("e{place}");
        let pair = [
            "link", "add", &cable, "netns", switch, "type", "veth", "peer", "name", "eth0", "netns", &network,
        ];
        tool("ip", &pair);
        tool("ip", &["-n", switch, "link", "set", &cable, "master", "br0", "up"]);
        tool("ip", &["-n", &network, "link", "set", "lo", "up"]);
        tool("ip", &["-n", &network, "addr", "add", &format!("{address}/24"), "dev", "eth0"]);
        tool("ip", &["-n", &network, "link", "set", "eth0", "up"]);
        let keeper = Self::keep(&network, place, clock);
        let mut host = Self { network, address, keeper, init: 0, has_clock: clock != 0, started: Vec::new() };
        host.init = host.first_process();
        let ready = format!("/proc/{}/root/run/ready", host.init);
        wait_until("a host of the lab", || Path::new(&ready).exists());
        host
    }

    fn keep(network: &str, place: usize, clock: i64) -> Child {
        let script = format!(
            "hostname h{place}; mount --make-rprivate /; mount -t tmpfs tmpfs /run; mkdir /run/sshd /run/gluster; \
             touch /run/ready; while :; do sleep 1000; done"
        );
        let mut command = Command::new(installed("nsenter"));
        command.arg(format!("--net=/run/netns/{network}")).arg(installed("setpriv"));
        // A test that is killed can't clean up; its hosts end with it.
        command.arg("--pdeathsig=KILL").arg(installed("unshare"));
        // /proc stays this machine's, so that commands that are no processes of the host find themselves in it too.
        command.args(["--mount", "--uts", "--pid", "--fork", "--kill-child=SIGKILL"]);
        if clock != 0 {
            command.args(["--time", "--monotonic", &clock.to_string()]);
        }
        command.args(["sh", "-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn first_process(&self) -> u32 {
        let keeper = self.keeper.id();
        let children =
            || std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap_or_default();
        let first = || children().split_whitespace().next().and_then(|pid| pid.parse().ok());
        wait_until("the first process of a host", || first().is_some());
        first().unwrap()
    }

    /// What a command on this host begins with.
    pub fn enter(&self) -> Command {
        let mut command = Command::new(installed("nsenter"));
        command.args(["--target", &self.init.to_string(), "--mount", "--uts", "--net"]);
        if self.has_clock {
            command.arg("--time");
        }
        command
    }

    /// Starts something among the host's own processes.
    pub fn start(&mut self, words: &[&str], log: &Path) {
        let log = OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut command = self.enter();
        command.arg("--pid").arg(installed(words[0])).args(&words[1..]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.started.push(command.spawn().unwrap());
    }

    /// Its processes that run `program`.
    pub fn processes(&self, program: &Path) -> Vec<u32> {
        let link = |pid: u32, name: &str| std::fs::read_link(format!("/proc/{pid}/{name}")).ok();
        let own = link(self.init, "ns/net");
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| link(*pid, "exe").as_deref() == Some(program) && link(*pid, "ns/net") == own)
            .collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The end of a first process ends all others of its namespace.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        for child in &mut self.started {
            let _ = child.kill();
            let _ = child.wait();
        }
        quietly("ip", &["netns", "del", &self.network]);
    }
}
