use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Lab, tool, wait_until};

impl Lab {
    /// Starts a real sshd on these hosts, and makes a key that all of them accept. [`Lab::ssh_config`] makes it used.
    pub fn start_sshd(&mut self, hosts: &[usize]) {
        let dir = self.dir().to_owned();
        if !dir.join("key").exists() {
            tool("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", dir.join("key").to_str().unwrap()]);
            tool(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-f", dir.join("host_key").to_str().unwrap()],
            );
            std::fs::copy(dir.join("key.pub"), dir.join("authorized")).unwrap();
            std::fs::set_permissions(dir.join("authorized"), std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let file = dir.join("sshd.conf");
        std::fs::write(&file, Self::sshd_config(&dir)).unwrap();
        for host in hosts {
            self.start(*host, &["sshd", "-D", "-e", "-f", file.to_str().unwrap()]);
        }
        for host in hosts {
            wait_until("sshd", || self.log(*host).contains("Server listening"));
        }
        self.know(hosts);
        std::fs::write(self.ssh_config(), self.client_config(&dir)).unwrap();
    }

    fn sshd_config(dir: &Path) -> String {
        let dir = dir.display();
        format!(
            "Port 22\nHostKey {dir}/host_key\nAuthorizedKeysFile {dir}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 200\n\
             PrintMotd no\nPrintLastLog no\n"
        )
    }

    fn client_config(&self, dir: &Path) -> String {
        let dir = dir.display();
        let names = self.hosts.iter().enumerate();
        let names: Vec<String> =
            names.map(|(place, host)| format!("Host h{place}\n  HostName {}\n", host.address)).collect();
        names.concat()
            + &format!(
                "Host *\n  User root\n  IdentityFile {dir}/key\n  IdentitiesOnly yes\n  UserKnownHostsFile {dir}/known\n  \
             GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
            )
    }

    /// Makes the hosts' keys known; the others' are forgotten.
    pub fn know(&self, hosts: &[usize]) {
        let public = std::fs::read_to_string(self.dir().join("host_key.pub")).unwrap();
        let key = public.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> =
            hosts.iter().map(|host| format!("{} {key}\n", self.address(*host))).collect();
        std::fs::write(self.dir().join("known"), lines.concat()).unwrap();
    }

    /// The file that `ssh -F` takes.
    pub fn ssh_config(&self) -> PathBuf {
        self.dir().join("ssh.conf")
    }

    /// ssh with that file, for `--ssh`.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.ssh_config().display())
    }
}
