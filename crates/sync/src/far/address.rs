//! A tree on another host, as people write it: `ssh://user@host:port/path`, or as rsync and scp have it, `user@host:/path`.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fault::{Fault, Kind};
use fleet::hosts::{self, Host};

const FORMS: &str =
    "write ssh://[USER@]HOST[:PORT]/PATH or [USER@]HOST:/PATH; a local path begins with `/` or `./`";
/// What begins a URL of another kind, so that no host of this name can be meant by one slash too few.
const SCHEMES: [&str; 13] =
    ["s3", "az", "azure", "gs", "gcs", "swift", "hdfs", "webhdfs", "ssh", "http", "https", "ftp", "file"];

/// A tree on a host that ssh reaches. Never has a secret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Where it is, and who logs in.
    pub host: Host,
    /// The path there: absolute, or below the home directory, which is the empty path.
    pub path: Vec<u8>,
}

impl Address {
    /// Whether `path` is written as one: as a URL of ssh, or with a colon before its first slash. A local path of such a
    /// name begins with `./` or `/`.
    pub fn is_one(path: &Path) -> bool {
        let text = path.as_os_str().as_bytes();
        is_url(text) || remote(text).is_some()
    }

    /// The tree that `path` names, if it is written as one.
    pub fn of(path: &Path) -> fault::Result<Option<Self>> {
        let text = path.as_os_str().as_bytes();
        if is_url(text) {
            return url(&text["ssh://".len()..]).map(Some);
        }
        let Some((place, path)) = remote(text) else { return Ok(None) };
        let name = String::from_utf8_lossy(place).to_ascii_lowercase();
        if SCHEMES.contains(&name.as_str()) {
            let text = format!("`{name}:` with one slash names the host `{name}`");
            return Err(Fault::new(Kind::Usage, text).hint(format!(
                "write {name}://... for a URL, ssh://{name}/PATH for the host, ./{name}:... for a local path"
            )));
        }
        let host = host(place, None)?;
        Ok(Some(Self { host, path: below_home(path) }))
    }
}

fn is_url(text: &[u8]) -> bool {
    text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"ssh://"))
}

/// The host and the path of `host:path`: the colon stands before any slash, and not in brackets.
fn remote(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|byte| *byte == b'[').map_or(0, |open| {
        let before = &text[..open];
        let close = text.iter().position(|byte| *byte == b']').unwrap_or(0);
        // Brackets count only where a host begins: at the start, or after the user.
        if before.is_empty() || before.ends_with(b"@") { close } else { 0 }
    });
    let colon = start + text[start..].iter().position(|byte| *byte == b':')?;
    let (place, path) = (&text[..colon], &text[colon + 1..]);
    let is_url = path.starts_with(b"//") && place.iter().all(u8::is_ascii_alphanumeric);
    (!place.is_empty() && !place.contains(&b'/') && !place.starts_with(b".") && !is_url)
        .then_some((place, path))
}

fn url(rest: &[u8]) -> fault::Result<Address> {
    let slash = rest.iter().position(|byte| *byte == b'/').ok_or_else(|| wrong("it has no path"))?;
    let (place, path) = rest.split_at(slash);
    let (user, name) = match place.iter().rposition(|byte| *byte == b'@') {
        Some(at) => (&place[..=at], &place[at + 1..]),
        None => (&b""[..], place),
    };
    let colon = name.iter().rposition(|byte| *byte == b':');
    let colon = colon.filter(|colon| !name.starts_with(b"[") || name[..*colon].ends_with(b"]"));
    let (name, port) = match colon {
        Some(colon) => (&name[..colon], Some(&name[colon + 1..])),
        None => (name, None),
    };
    let port = port.map(|port| {
        std::str::from_utf8(port).ok().and_then(|port| port.parse().ok()).filter(|port| *port > 0)
    });
    let port = match port {
        Some(None) => return Err(wrong("its port is no number from 1 to 65535")),
        Some(port) => port,
        None => None,
    };
    let home = path.strip_prefix(b"/~").filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
    let path = home.map_or_else(|| path.to_vec(), |rest| below_home(rest.strip_prefix(b"/").unwrap_or(rest)));
    Ok(Address { host: host(&[user, name].concat(), port)?, path })
}

/// `~/` means what a relative path means.
fn below_home(path: &[u8]) -> Vec<u8> {
    if path == b"~" { Vec::new() } else { path.strip_prefix(b"~/").unwrap_or(path).to_vec() }
}

/// `user@name`, without a port.
fn host(place: &[u8], port: Option<u16>) -> fault::Result<Host> {
    // The text is not repeated: it may have a secret.
    let place = std::str::from_utf8(place).map_err(|_| wrong("the host's name is no text"))?;
    let (user, name) = place.rsplit_once('@').map_or((None, place), |(user, name)| (Some(user), name));
    if user.is_some_and(|user| user.contains(':')) {
        return Err(
            wrong("it may not have a password").hint("keys are ssh's business: ssh-agent, ssh-copy-id")
        );
    }
    let whole = user.map_or_else(|| name.to_owned(), |user| format!("{user}@{name}"));
    let known = || wrong("the name of its host or user is missing or wrong");
    let mut found = hosts::list(&whole).map_err(|_| known())?;
    match (found.pop(), found.is_empty()) {
        (Some(Host { user, name, port: None, slots: None }), true) => {
            Ok(Host { user, name, port, slots: None })
        }
        _ => Err(known()),
    }
}

fn wrong(why: &str) -> Fault {
    Fault::new(Kind::Usage, format!("this is no place on another host: {why}")).hint(FORMS)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { user, name, port, .. } = &self.host;
        f.write_str("ssh://")?;
        if let Some(user) = user {
            write!(f, "{user}@")?;
        }
        if name.contains(':') {
            write!(f, "[{name}]")?;
        } else {
            f.write_str(name)?;
        }
        if let Some(port) = port {
            write!(f, ":{port}")?;
        }
        let path = store::printable(Path::new(OsStr::from_bytes(&self.path)).as_os_str().as_bytes());
        if path.starts_with('/') { f.write_str(&path) } else { write!(f, "/~/{path}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Address::of(Path::new(text)).unwrap().map(|address| address.to_string())
    }

    #[test]
    fn trees_on_hosts_as_people_write_them() {
        for (text, shown) in [
            ("ssh://n1/data", "ssh://n1/data"),
            ("SSH://me@n1:2222/data/x y", "ssh://me@n1:2222/data/x y"),
            ("ssh://n1/", "ssh://n1/"),
            ("ssh://n1/~/data", "ssh://n1/~/data"),
            ("ssh://[fe80::1]:22/data", "ssh://[fe80::1]:22/data"),
            ("n1:/data", "ssh://n1/data"),
            ("me@n1:/data:x", "ssh://me@n1/data:x"),
            ("n1:data", "ssh://n1/~/data"),
            ("n1:~/data", "ssh://n1/~/data"),
            ("n1:", "ssh://n1/~/"),
            ("me@[::1]:/data", "ssh://me@[::1]/data"),
            ("a:/b", "ssh://a/b"),
            ("n1.example.com:/[x]", "ssh://n1.example.com/[x]"),
        ] {
            assert_eq!(read(text).as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn local_paths_stay_local() {
        for text in ["/a:/b", "./a:/b", "a/b:/c", "data", "", "../a:b", ":x", "s3://bucket/x", "ftp://x/y"] {
            assert!(!Address::is_one(Path::new(text)), "{text}");
            assert_eq!(Address::of(Path::new(text)).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn wrong_ones_are_told_without_their_secrets() {
        for text in [
            "ssh://n1",
            "ssh:///data",
            "ssh://me:hunter2@n1/data",
            "me:hunter2@n1:/data",
            "ssh://n1:hunter2/data",
            "ssh://-oProxyCommand=hunter2/data",
            "-oProxyCommand=hunter2:/data",
            "s3:/hunter2",
            "n[1-2]:/data",
            "ssh://a b/x",
        ] {
            match Address::of(Path::new(text)) {
                Err(fault) => {
                    assert_eq!(fault.kind(), Kind::Usage);
                    assert!(
                        !format!("{fault} {:?}", fault.hint_text()).contains("hunter2"),
                        "{text}: {fault}"
                    );
                }
                // Before its colon there is no host and no user, so that it is a path: `me` is a host.
                Ok(found) => assert_eq!(
                    found.map(|found| found.to_string()).as_deref(),
                    Some("ssh://me/~/hunter2@n1:/data")
                ),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(ssh://)?[a-z@:/\\[\\]~.-]{0,20}") {
            if let Ok(Some(address)) = Address::of(Path::new(&text)) {
                let again = Address::of(Path::new(&address.to_string())).unwrap();
                proptest::prop_assert_eq!(again, Some(address));
            }
        }
    }
}
