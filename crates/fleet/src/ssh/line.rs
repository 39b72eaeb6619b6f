//! Connections to one host that belong to the task itself: what travels there is its own.

use std::os::fd::OwnedFd;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use serde_json::Value;

use super::Options;
use super::start::Starter;
use super::watch::Watch;
use crate::greeting::{Failure, Order, Remote};
use crate::hosts::Host;

/// A connection to an agent, or of an agent to whoever started it. Both ends wait when they are read or written.
#[derive(Debug)]
pub struct Line {
    /// What comes.
    pub reader: OwnedFd,
    /// What goes.
    pub writer: OwnedFd,
    /// What came before anybody read.
    pub ahead: Vec<u8>,
    /// The host at the other end; empty for the one who started us.
    pub host: String,
    /// What the other end told of its host.
    pub facts: Value,
    /// The ssh that carries it, where it is ours. Dropping it ends it.
    pub ssh: Option<Ssh>,
}

/// An ssh that carries a connection.
pub struct Ssh(pub(super) Watch);

impl std::fmt::Debug for Ssh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ssh")
    }
}

impl Ssh {
    /// Why the connection ended, as far as it can be known.
    pub fn why(&self) -> String {
        self.0.why()
    }

    /// Waits until it has ended, at most so long.
    pub fn wait(&self, most: Duration) {
        let _ = self.0.status(most);
    }
}

/// Opens up to `count` connections to agents on `host`. One that can't be opened is an error only if it is the first.
pub fn connect(host: &Host, count: usize, options: &Options) -> Result<Vec<Line>> {
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let remote = Remote { ssh: options.ssh.clone(), push: options.push, program };
    let starter = Starter {
        remote: &remote,
        processes: 2,
        allowed: 0,
        patience: options.patience,
        task: &options.task,
        direct: true,
        tell: &options.tell,
        cancelled: &options.cancelled,
    };
    let order = Order { number: 1, host: host.clone(), below: Vec::new() };
    let mut lines = Vec::new();
    for orders in [vec![order.clone()], vec![order; count.max(1) - 1]] {
        let mut below = starter.start(&orders);
        if (options.cancelled)() {
            return Err(Fault::new(Kind::Interrupted, "stopped while a host was being connected"));
        }
        if let Some(failure) = below.failures.first().filter(|_| lines.is_empty()) {
            return Err(refused(failure));
        }
        below.go();
        lines.extend(below.started.into_iter().map(super::start::Started::into_line));
    }
    Ok(lines)
}

fn refused(failure: &Failure) -> Fault {
    let Failure { host, what, hint } = failure;
    Fault::new(Kind::Refused, format!("cannot use the host `{host}`: {what}")).hint(hint.as_str())
}
