//! Agents on other hosts, started by OpenSSH, talking over their standard input and output: no port is opened, nothing
//! stays. Beyond [`FAN_OUT`] hosts, agents start agents.

mod agent;
mod checksum;
mod command;
mod line;
mod start;
mod trouble;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind, Result};
use serde_json::Value;

use crate::greeting::{Order, Remote, Up, all_failures};
use crate::hosts::Host;
use crate::node::{Branch, Node, Place};
use crate::streams::Streams;
pub(crate) use agent::hostname;
pub use agent::{Agent, Way, join};
pub use command::split_words;
pub use line::{Line, Ssh, connect};
use start::Starter;

/// Agents that one process leads itself.
pub const FAN_OUT: usize = 64;

/// How agents are started and led.
#[derive(Clone)]
pub struct Options {
    /// ssh and its options, as words.
    pub ssh: Vec<String>,
    /// Copy the program over where it is missing or of another version.
    pub push: bool,
    /// So many processes may be lost without ending the run.
    pub allow_lost: u32,
    /// A host that says nothing for so long is lost.
    pub patience: Duration,
    /// Agents that one process leads itself.
    pub fan_out: usize,
    /// What the agents are to do; they get it from [`Agent::task`].
    pub task: Value,
    /// Gets a line of an agent's standard error, and its host.
    pub tell: Tell,
    /// Whether somebody wants the start to end.
    pub cancelled: fn() -> bool,
}

/// Gets a line of an agent's standard error, after its host.
pub type Tell = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Starts an agent on every host, and leads them: process 0 is this one, the agents follow in the order of `hosts`.
///
/// All failures of all hosts come together, before anything else happens.
pub fn lead(hosts: &[Host], options: &Options) -> Result<(Node, Vec<Up>)> {
    let numbered: Vec<(u32, Host)> = (1..).zip(hosts.iter().cloned()).collect();
    let orders = Order::tree(&numbered, options.fan_out.max(1));
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let remote = Remote { ssh: options.ssh.clone(), push: options.push, program };
    let processes = hosts.len() as u32 + 1;
    let starter = Starter {
        remote: &remote,
        processes,
        allowed: options.allow_lost,
        patience: options.patience,
        task: &options.task,
        direct: false,
        tell: &options.tell,
        cancelled: &options.cancelled,
    };
    let below = starter.start(&orders);
    if (options.cancelled)() {
        return Err(Fault::new(Kind::Interrupted, "stopped while hosts were being connected"));
    }
    if !below.failures.is_empty() {
        return Err(all_failures(&below.failures, hosts.len()));
    }
    let up = below.up.clone();
    let node = below.join(starter.place(0))?;
    node.name_hosts(
        std::iter::once("this host".to_owned()).chain(up.iter().map(|up| up.host.clone())).collect(),
    );
    Ok((node, up))
}

impl start::Below {
    /// Tells all to go, and joins them.
    fn join(mut self, mut place: Place) -> Result<Node> {
        self.go();
        place.branches =
            self.started.iter().map(|child| Branch { processes: child.order.processes() }).collect();
        let streams = self.started.into_iter().map(start::Started::into_stream).chain(self.parent).collect();
        let (carrier, wake) = Streams::new(streams)?;
        Node::start(place, wake, || Ok(Box::new(carrier)))
    }
}
