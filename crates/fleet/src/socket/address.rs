use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use fault::{Fault, Kind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::rendezvous::{Address, Directory};
use crate::hosts;

/// Where task 0 listens.
#[derive(Debug)]
pub(super) enum Listeners {
    Unix(UnixListener, Address),
    Tcp(Vec<TcpListener>),
}

impl Listeners {
    /// On one host a socket in `directory`; over several, this node's addresses on the way to the others.
    pub fn open(directory: &Directory) -> Result<Self> {
        if directory.one_host {
            let path = directory.socket();
            let listener = UnixListener::bind(&path)
                .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
                .map_err(|error| Fault::os("listen at", &path, error))?;
            return Ok(Self::Unix(listener, Address::Unix(path)));
        }
        let listen = |address: IpAddr| {
            let listener = TcpListener::bind((address, 0)).ok()?;
            listener.set_nonblocking(true).ok()?;
            Some(listener)
        };
        let listeners: Vec<TcpListener> = own_addresses().into_iter().filter_map(listen).collect();
        if listeners.is_empty() {
            return Err(Fault::new(
                Kind::Io,
                "no address of this node is known at which other nodes could reach it",
            )
            .hint("does the name of this node, or of another one of the job, resolve here?"));
        }
        Ok(Self::Tcp(listeners))
    }

    pub fn addresses(&self) -> Vec<Address> {
        match self {
            Self::Unix(_, address) => vec![address.clone()],
            Self::Tcp(listeners) => {
                listeners.iter().filter_map(|one| one.local_addr().ok()).map(Address::Tcp).collect()
            }
        }
    }

    /// Somebody who connects, if anybody does in time. On a Unix socket, only our own user.
    pub fn accept(&self, wait: Duration) -> Option<OwnedFd> {
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        let fds = match self {
            Self::Unix(listener, _) => vec![listener.as_fd()],
            Self::Tcp(listeners) => listeners.iter().map(|listener| listener.as_fd()).collect(),
        };
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let _ = poll(&mut polled, Some(&wait));
        match self {
            Self::Unix(listener, _) => {
                listener.accept().ok().map(|(end, _)| end).filter(is_own).map(Into::into)
            }
            Self::Tcp(listeners) => {
                let end = listeners.iter().find_map(|listener| listener.accept().ok());
                end.map(|(end, _)| with_no_delay(end))
            }
        }
    }
}

/// Whether it is our own user at the other end.
fn is_own(end: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(end).is_ok_and(|peer| peer.uid == own)
}

fn with_no_delay(end: TcpStream) -> OwnedFd {
    let _ = end.set_nodelay(true);
    end.into()
}

/// Connects, if somebody listens there.
pub(super) fn connect(address: &Address) -> Option<OwnedFd> {
    match address {
        Address::Unix(path) => UnixStream::connect(path).ok().filter(is_own).map(Into::into),
        Address::Tcp(address) => {
            TcpStream::connect_timeout(address, Duration::from_secs(3)).ok().map(with_no_delay)
        }
    }
}

/// Addresses of this node that face the others: the ones that the system would use to send them something. Nothing is sent.
fn own_addresses() -> Vec<IpAddr> {
    let variable = |name: &str| std::env::var(name).ok();
    let nodes = variable("SLURM_STEP_NODELIST").or_else(|| variable("SLURM_JOB_NODELIST"));
    let nodes = nodes.and_then(|nodes| hosts::list(&nodes).ok()).unwrap_or_default();
    let own = variable("SLURMD_NODENAME").unwrap_or_default();
    let others = nodes.into_iter().map(|host| host.name).filter(|name| *name != own);
    let srun = ["SLURM_SRUN_COMM_HOST", "SLURM_LAUNCH_NODE_IPADDR"].into_iter().filter_map(variable);
    let mut found: Vec<IpAddr> = Vec::new();
    // A few are enough to know the networks that the nodes have in common.
    for name in others.take(4).chain(srun) {
        for address in (name.as_str(), 9).to_socket_addrs().into_iter().flatten() {
            if let Some(own) = facing(address).filter(|own| !found.contains(own)) {
                found.push(own);
            }
        }
    }
    found
}

fn facing(other: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = if other.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(other).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then_some(own)
}
