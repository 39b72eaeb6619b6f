//! What is said before a run: who is there, of which version, and who is below whom.

use std::time::Duration;

use fault::{Fault, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hosts::Host;

/// Of the frames and of what this file says; processes of different ones don't work together.
pub const PROTOCOL: u32 = 2;

/// What an agent writes before anything else: a login shell may have printed something before.
pub(crate) const MAGIC: &[u8] = b"\0forebay agent\0";

/// The version of the program that this is part of.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An agent's first words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub version: String,
    pub protocol: u32,
    /// What the host calls itself.
    pub hostname: String,
    /// What else the program wants to be known of the host.
    pub facts: Value,
}

/// What an agent is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Welcome {
    pub number: u32,
    pub processes: u32,
    pub allowed: u32,
    pub patience: Duration,
    /// What the processes of this run do.
    pub task: Value,
    pub below: Vec<Order>,
    pub remote: Remote,
    /// The connection is the task's own from here on: there is no run.
    pub direct: bool,
}

/// How agents are started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Remote {
    /// ssh and its options.
    pub ssh: Vec<String>,
    /// Copy the program over where it is missing or of another version.
    pub push: bool,
    /// Where the program is on the first host, in case the others have it there too.
    pub program: Option<String>,
}

/// An agent to be started, and those it starts itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub number: u32,
    pub host: Host,
    pub below: Vec<Order>,
}

/// What came of starting an agent and those below it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub up: Vec<Up>,
    pub failures: Vec<Failure>,
}

/// A process that is there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Up {
    /// Its number.
    pub number: u32,
    /// As the list of hosts names it.
    pub host: String,
    /// As it calls itself.
    pub hostname: String,
    /// What it told of its host.
    pub facts: Value,
}

/// An agent that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub host: String,
    pub what: String,
    pub hint: String,
}

/// Said when all are there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Go {}

impl Order {
    /// All processes it brings, itself first.
    pub fn processes(&self) -> Vec<u32> {
        std::iter::once(self.number).chain(self.below.iter().flat_map(Self::processes)).collect()
    }

    /// Agents on `hosts`, none with more than `fan_out` below it.
    pub fn tree(hosts: &[(u32, Host)], fan_out: usize) -> Vec<Self> {
        let heads = hosts.len().min(fan_out);
        let mut rest = hosts;
        let order = |head: usize| {
            let (group, others) = rest.split_at(rest.len().div_ceil(heads - head));
            rest = others;
            let (number, host) = group[0].clone();
            Self { number, host, below: Self::tree(&group[1..], fan_out) }
        };
        (0..heads).map(order).collect()
    }
}

/// Everything that went wrong, of all hosts together.
pub(crate) fn all_failures(failures: &[Failure], hosts: usize) -> Fault {
    let lines = failures.iter().map(|failure| format!("\n  {}: {}", failure.host, failure.what));
    let mut hints: Vec<&str> = failures.iter().map(|failure| failure.hint.as_str()).collect();
    hints.sort_unstable();
    hints.dedup();
    let message = format!("cannot use {} of {hosts} hosts:{}", failures.len(), lines.collect::<String>());
    Fault::new(Kind::Refused, message).hint(hints.join("; "))
}

pub(crate) fn written<T: Serialize>(words: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(words).map_err(|error| Fault::new(Kind::Bug, format!("cannot say hello: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(count: u32) -> Vec<(u32, Host)> {
        let host = |number| Host { user: None, name: format!("n{number}"), port: None, slots: None };
        (1..=count).map(|number| (number, host(number))).collect()
    }

    fn widest(orders: &[Order]) -> usize {
        orders.iter().map(|order| widest(&order.below)).max().unwrap_or(0).max(orders.len())
    }

    #[test]
    fn a_tree_has_everyone_once_and_nobody_leads_too_many() {
        for (count, fan_out) in [(1, 64), (64, 64), (65, 64), (1000, 64), (5000, 64), (7, 2), (3, 1)] {
            let tree = Order::tree(&hosts(count), fan_out);
            assert!(widest(&tree) <= fan_out, "{count}");
            let all: Vec<u32> = tree.iter().flat_map(Order::processes).collect();
            assert_eq!(all, (1..=count).collect::<Vec<_>>());
        }
        assert!(Order::tree(&hosts(64), 64).iter().all(|order| order.below.is_empty()));
    }
}
