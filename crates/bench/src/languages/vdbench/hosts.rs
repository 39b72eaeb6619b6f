//! hd: the hosts of a parameter file, and which of them do what.
//!
//! Every host is a group of ranks ([`Phase::group`](crate::workload::Phase::group)), and does all loads unless `host=` says
//! otherwise; `clients=n` makes n groups on one host.

use std::ops::Range;

use super::compile::Compiler;
use super::keys::Kind;
use super::lexer::Word;
use super::statements::Definitions;
use super::trouble::Place;
use super::values::{Reader, means};

/// A host that the file defines.
#[derive(Debug, Clone)]
pub struct HostDefinition {
    /// What it is called in the file.
    label: String,
    /// How it is reached: `name`, or `user@name`.
    address: String,
    /// Groups of ranks on it.
    clients: u32,
    place: Place,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct Hosts(Vec<HostDefinition>);

impl Hosts {
    /// What `hd=` statements say.
    pub fn read(definitions: &Definitions, reader: &mut Reader<'_>) -> Self {
        let mut all = Vec::new();
        for definition in definitions.of(Kind::Host) {
            let text = |name| definition.get(name).map(|parameter| parameter.values[0].text.clone());
            let system = text("system").unwrap_or_else(|| definition.name.text.clone());
            let address = match text("user").filter(|_| !is_here(&system)) {
                Some(user) => format!("{user}@{system}"),
                None => system,
            };
            let clients = match definition.get("clients") {
                Some(parameter) => reader.one(parameter).and_then(|word| reader.count(word)).unwrap_or(1),
                None => 1,
            };
            let label = definition.name.text.clone();
            all.push(HostDefinition { label, address, clients, place: definition.name.place.clone() });
        }
        Self(all)
    }

    /// Groups that all of them make.
    pub fn groups(&self) -> u32 {
        self.0.iter().map(|host| host.clients).sum::<u32>().max(1)
    }

    /// As `--hosts` takes them; `None` when there is no other host than this one.
    pub fn list(&self) -> Option<String> {
        if self.0.iter().all(|host| is_here(&host.address)) {
            return None;
        }
        let one = |host: &HostDefinition| format!("{} slots={}", host.address, host.clients);
        Some(self.0.iter().map(one).collect::<Vec<_>>().join(","))
    }

    /// The groups of the hosts that `word` means; `None` when there is none.
    fn of(&self, word: &Word) -> Option<Vec<u32>> {
        let mut first = 0;
        let mut found = Vec::new();
        for host in &self.0 {
            let own: Range<u32> = first..first + host.clients;
            first = own.end;
            if means(&word.text, &host.label) {
                found.extend(own);
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Whether a name is this host's.
fn is_here(name: &str) -> bool {
    let here = host::System::here().hostname();
    name == "localhost" || name == here || here.split('.').next() == Some(name)
}

impl Compiler<'_> {
    /// The groups that `host=` at several places leaves; empty for all. What is wrong has been told when there is `None`.
    pub(super) fn groups_of(&mut self, all: &[&[Word]]) -> Option<Vec<u32>> {
        let mut left: Option<Vec<u32>> = None;
        let mut last: Option<&Word> = None;
        for words in all {
            let mut own = Vec::new();
            for word in *words {
                own.extend(self.groups_of_word(word)?);
            }
            if own.is_empty() {
                continue;
            }
            own.sort_unstable();
            own.dedup();
            left = Some(match left {
                Some(before) => before.into_iter().filter(|group| own.contains(group)).collect(),
                None => own,
            });
            last = words.first();
        }
        let left = left.unwrap_or_default();
        if left.is_empty()
            && let Some(word) = last
        {
            let message = format!("host `{}` is not among those of the loads and files here", word.text);
            self.troubles.at(&word.place, message, "nobody is left").hint("name hosts that both may use");
            return None;
        }
        Some(if left.len() as u32 == self.groups { Vec::new() } else { left })
    }

    fn groups_of_word(&mut self, word: &Word) -> Option<Vec<u32>> {
        if matches!(word.text.as_str(), "*" | "all" | "hd*")
            || (word.text == "localhost" && self.hosts.0.is_empty())
        {
            return Some((0..self.groups).collect());
        }
        let Some(found) = self.hosts.of(word) else {
            let names: Vec<String> = self.hosts.0.iter().map(|host| host.label.clone()).collect();
            return self.nothing(word, "hd", &names);
        };
        if let Some(number) = found.iter().find(|group| **group >= self.groups) {
            let message = format!(
                "host `{}` is number {} of the file, and the run has {} hosts",
                word.text,
                number + 1,
                self.groups
            );
            self.troubles
                .at(&word.place, message, "not there")
                .hint("name as many hosts as the file defines, or leave out `--hosts`");
            return None;
        }
        Some(found)
    }

    /// Refuses hosts that nobody could tell apart.
    pub(super) fn check_hosts(&mut self) {
        let mut seen: Vec<&str> = Vec::new();
        for host in &self.hosts.0 {
            if host.clients > 0 && seen.contains(&host.address.as_str()) {
                self.troubles
                    .at(&host.place, format!("`{}` is a host of this file twice", host.address), "again")
                    .hint("write `clients=2` for two on one host");
            }
            seen.push(&host.address);
        }
    }
}
