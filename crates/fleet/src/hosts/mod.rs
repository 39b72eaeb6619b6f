//! Which hosts a run uses: a list such as `node[1-24],user@other:2222`, or a hostfile of Open MPI or MPICH.

mod entry;
mod range;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use fault::{Fault, Kind, Result};
use serde::{Deserialize, Serialize};

/// A host that processes run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Who logs in there; otherwise ssh decides.
    pub user: Option<String>,
    /// Its name or address.
    pub name: String,
    /// Where its sshd listens; otherwise ssh decides.
    pub port: Option<u16>,
    /// How many ranks the list gives it.
    pub slots: Option<u32>,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The hosts that `value` names: a file if there is one of this name or it looks like a path, a list otherwise.
///
/// A host that is named twice is one host with the slots of both, as the launchers of MPI have it.
pub fn read(value: &str) -> Result<Vec<Host>> {
    let path = Path::new(value);
    let is_path = value.contains('/') || path.extension().is_some_and(|end| end == "txt") || path.is_file();
    if !is_path {
        return list(value);
    }
    let text = std::fs::read_to_string(path).map_err(|error| Fault::os("read hosts", path, error))?;
    file(&text, value)
}

/// The hosts of a comma list.
pub fn list(text: &str) -> Result<Vec<Host>> {
    let wrong = |what: String| wrong(&format!("hosts `{text}`"), &what);
    let mut hosts = Vec::new();
    for part in range::split(text).map_err(wrong)? {
        hosts.extend(entry::parse(part.trim()).map_err(wrong)?);
    }
    merged(hosts).map_err(|what| Fault::new(Kind::Usage, format!("hosts `{text}`: {what}")))
}

/// The hosts of a hostfile, one entry a line; `name` is for errors.
pub fn file(text: &str, name: &str) -> Result<Vec<Host>> {
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |what: String| wrong(&format!("`{name}` line {}: `{line}`", number + 1), &what);
        for part in range::split(line).map_err(wrong)? {
            hosts.extend(entry::parse(part.trim()).map_err(wrong)?);
        }
    }
    merged(hosts).map_err(|what| Fault::new(Kind::Usage, format!("`{name}`: {what}")).hint(FORMS))
}

const FORMS: &str = "a host is written `node1`, `node[01-24]`, `user@node1:2222`, `node1 slots=4` (Open MPI) or `node1:4` (MPICH)";

fn wrong(place: &str, what: &str) -> Fault {
    Fault::new(Kind::Usage, format!("{place}: {what}")).hint(FORMS)
}

fn merged(hosts: Vec<Host>) -> std::result::Result<Vec<Host>, String> {
    let mut merged: Vec<Host> = Vec::new();
    let mut known = BTreeMap::new();
    for host in hosts {
        let place = *known.entry(host.to_string()).or_insert(merged.len());
        match merged.get_mut(place) {
            Some(first) => first.slots = Some(first.slots.unwrap_or(1) + host.slots.unwrap_or(1)),
            None => merged.push(host),
        }
    }
    if merged.is_empty() { Err("no host is named".to_owned()) } else { Ok(merged) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(hosts: &[Host]) -> Vec<String> {
        let slots = |host: &Host| host.slots.map_or_else(String::new, |slots| format!(" x{slots}"));
        hosts.iter().map(|host| format!("{host}{}", slots(host))).collect()
    }

    #[test]
    fn lists_are_read_as_people_write_them() {
        for (text, expected) in [
            ("a", "a"),
            ("a,b , c", "a b c"),
            ("node[1-3]", "node1 node2 node3"),
            ("n[08-10,12]x", "n08x n09x n10x n12x"),
            ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
            ("me@a:2222", "me@a:2222"),
            ("me@a:22 slots=4", "me@a:22 x4"),
            ("a slots = 4", "a x4"),
            ("a:4", "a x4"),
            ("a:22", "a:22"),
            ("a:2222", "a:2222"),
            ("10.0.0.[1-2]", "10.0.0.1 10.0.0.2"),
            ("[fe80::1]:2222", "fe80::1:2222"),
            ("a,a,b", "a x2 b"),
            ("a:3,a", "a x4"),
        ] {
            assert_eq!(shown(&list(text).unwrap()).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn hostfiles_of_both_launchers_are_read() {
        let open_mpi = "# ours\nnode1 slots=4 max_slots=8  # big\n\nnode2 slots=2\nnode1\n";
        assert_eq!(shown(&file(open_mpi, "h").unwrap()), ["node1 x5", "node2 x2"]);
        let mpich = "node1:4 ifname=ib0\nnode2:2\nnode[3-4]:1\n";
        assert_eq!(shown(&file(mpich, "h").unwrap()), ["node1 x4", "node2 x2", "node3 x1", "node4 x1"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, words) in [
            ("node1\nnode[1-", "`h` line 2: `node[1-`: `[` without `]`"),
            ("\n\nnode1 slot=4", "line 3: `node1 slot=4`: unknown key `slot`: did you mean `slots`?"),
            ("node1 slots=many", "slots `many` is not a number from 1"),
            ("node1 slots=0", "slots `0` is not a number from 1"),
            ("node[9-1]", "range `9-1` runs backwards"),
            ("node[a-b]", "range `a-b` is not of numbers"),
            ("node[1-9999999]", "more than 100000 hosts"),
            ("a b", "unknown word `b`"),
            ("me@", "no host name"),
            ("a:99999", "port `99999`"),
            ("-oProxyCommand=x", "a host name can't begin with `-`"),
            ("a;b", "`;` can't be in a host name"),
            ("+n0", "`+` can't be in a host name"),
            ("# nothing\n", "no host is named"),
        ] {
            let error = file(text, "h").unwrap_err();
            assert!(error.message().contains(words), "{text:?}: {error}");
            assert!(error.hint_text().is_some());
        }
        assert!(list("").is_err());
        assert!(read("./no-such-hosts").unwrap_err().message().contains("no-such-hosts"));
    }
}
