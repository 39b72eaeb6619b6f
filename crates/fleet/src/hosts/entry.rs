//! One entry: `user@name:port slots=4`.

use super::{Host, range};

/// Keys of the launchers' hostfiles that say nothing about who takes part.
const IGNORED: [&str; 5] = ["max_slots", "max-slots", "binding", "ifname", "sockets"];
/// From here on a number behind a bare name is a port; below, MPICH's number of processes.
const FIRST_PORT: u32 = 1024;
const SSH_PORT: u32 = 22;

/// The hosts of an entry.
pub fn parse(entry: &str) -> Result<Vec<Host>, String> {
    // Open MPI takes blanks around `=`.
    let entry = entry.split_whitespace().collect::<Vec<_>>().join(" ").replace(" =", "=").replace("= ", "=");
    let (place, keys) = entry.split_once(' ').unwrap_or((&entry, ""));
    let mut slots = None;
    let mut port = None;
    for word in keys.split_whitespace() {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("unknown word `{word}`"))?;
        match key {
            "slots" | "cpu" => slots = Some(count(value)?),
            "port" => port = Some(parse_port(value)?),
            key if IGNORED.contains(&key) => {}
            "slot" => return Err("unknown key `slot`: did you mean `slots`?".to_owned()),
            key => return Err(format!("unknown key `{key}`")),
        }
    }
    let (user, place) = match place.split_once('@') {
        Some((user, place)) => (Some(named(user, "user")?), place),
        None => (None, place),
    };
    let (name, number) = split_number(place)?;
    if let Some(number) = number {
        let value: u32 =
            number.parse().map_err(|_| format!("`{number}` is neither a port nor a number of slots"))?;
        let is_port = user.is_some() || slots.is_some() || value == SSH_PORT || value >= FIRST_PORT;
        if is_port { port = Some(parse_port(number)?) } else { slots = Some(count(number)?) }
    }
    let names = if name.contains(':') { vec![name.to_owned()] } else { range::expand(name)? };
    let host = |name: String| Ok(Host { user: user.clone(), name: named(&name, "host")?, port, slots });
    names.into_iter().map(host).collect()
}

/// A name and the number behind its colon. An IPv6 address stands in brackets if a number follows.
fn split_number(place: &str) -> Result<(&str, Option<&str>), String> {
    if let Some((address, rest)) = place.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && address.contains(':')
    {
        return match rest.strip_prefix(':') {
            Some(number) => Ok((address, Some(number))),
            None if rest.is_empty() => Ok((address, None)),
            None => Err(format!("`{rest}` behind an address")),
        };
    }
    match place.rsplit_once(':') {
        Some((name, number)) if !name.contains(':') => Ok((name, Some(number))),
        _ => Ok((place, None)),
    }
}

/// What ssh could take for an option, or a shell for more than a name, is none.
fn named(name: &str, what: &str) -> Result<String, String> {
    if name.is_empty() {
        return Err(format!("no {what} name"));
    }
    if name.starts_with('-') {
        return Err(format!("a {what} name can't begin with `-`"));
    }
    let fits = |letter: &char| letter.is_alphanumeric() || "._-:%".contains(*letter);
    match name.chars().find(|letter| !fits(letter)) {
        Some(letter) => Err(format!("`{letter}` can't be in a {what} name")),
        None => Ok(name.to_owned()),
    }
}

fn count(value: &str) -> Result<u32, String> {
    let count = value.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("slots `{value}` is not a number from 1"))
}

fn parse_port(value: &str) -> Result<u16, String> {
    let port = value.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| format!("port `{value}` is not a number from 1 to 65535"))
}
