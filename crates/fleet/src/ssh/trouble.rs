//! What ssh says, and what to do about it.

use super::command::{DAMAGED, NO_PLACE, NOT_STARTED, NOT_WRITTEN};
use crate::channel::Trouble;
use crate::greeting::{Failure, Hello, PROTOCOL, VERSION};
use crate::hosts::Host;

/// What is known of an agent that did not come up.
pub(super) struct Scene<'a> {
    pub host: &'a Host,
    pub trouble: Trouble,
    /// Exit code of ssh.
    pub code: Option<i32>,
    pub lines: &'a [String],
    /// What was printed where the agent should have spoken.
    pub noise: &'a str,
}

/// Whether sshd had too many connections at once: worth another try.
pub(super) fn is_crowded(lines: &[String]) -> bool {
    lines
        .iter()
        .any(|line| line.contains("kex_exchange_identification") || line.contains("Connection reset by"))
}

/// Whether the program is not there, or can't be run there.
pub(super) fn is_missing(code: Option<i32>) -> bool {
    matches!(code, Some(126 | 127))
}

impl Scene<'_> {
    pub fn failure(&self) -> Failure {
        let (what, hint) =
            self.of_ssh().or_else(|| self.of_the_program()).unwrap_or_else(|| self.of_the_rest());
        Failure { host: self.host.to_string(), what, hint }
    }

    fn says(&self, words: &[&str]) -> bool {
        self.lines.iter().any(|line| words.iter().any(|word| line.contains(word)))
    }

    /// What ssh itself failed at; its words are the same in all versions.
    fn of_ssh(&self) -> Option<(String, String)> {
        let name = &self.host.name;
        let port = self.host.port.map_or_else(String::new, |port| format!("-p {port} "));
        let port_words =
            self.host.port.map_or_else(|| "its ssh port".to_owned(), |port| format!("port {port}"));
        let pair = |what: &str, hint: String| Some((what.to_owned(), hint));
        if self.says(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
            return pair(
                "its host key is another than the known one",
                format!(
                    "if the host was set up anew, `ssh-keygen -R {name}` forgets the old key; otherwise somebody may be in between"
                ),
            );
        }
        if self.says(&["Host key verification failed", "host key is known for"]) {
            return pair(
                "its host key is not known",
                format!(
                    "connect once by hand, or add it: `ssh-keyscan {port}{name} >> ~/.ssh/known_hosts` (and compare the fingerprint)"
                ),
            );
        }
        if self.says(&["Permission denied (", "Too many authentication failures"]) {
            return pair(
                "it refuses the login without a password",
                format!(
                    "`ssh {port}{name} true` must work without a question: `ssh-copy-id`, or a key in ssh-agent"
                ),
            );
        }
        if self.says(&["Connection refused"]) {
            return pair(
                &format!("nothing listens at {port_words}"),
                "is sshd running there, and is it this port? (`user@host:port`)".to_owned(),
            );
        }
        if self.says(&[
            "Connection timed out",
            "Operation timed out",
            "No route to host",
            "Network is unreachable",
        ]) {
            return pair("it can't be reached", "is it up, and may this host connect to it?".to_owned());
        }
        if self.says(&["Could not resolve hostname"]) {
            return pair("its name is not known", "check the name, DNS, and ssh's `Host` entries".to_owned());
        }
        if self.says(&[
            "Can't open user config file",
            "Bad configuration option",
            "terminating,",
            "no such identity",
        ]) {
            let line = self.lines.first().map_or("", String::as_str);
            return pair(
                &format!("ssh is not set up well: {line}"),
                "check the options of `--ssh`".to_owned(),
            );
        }
        is_crowded(self.lines).then(|| {
            (
                "its sshd closes connections before the login".to_owned(),
                "raise `MaxStartups` there, or see its log".to_owned(),
            )
        })
    }

    /// What the script or the program failed at.
    fn of_the_program(&self) -> Option<(String, String)> {
        let pair = |what: &str, hint: &str| Some((what.to_owned(), hint.to_owned()));
        match self.code? {
            127 => pair(
                "there is no `forebay`",
                "install it there in the PATH of ssh's shells, or copy it over with `--push`",
            ),
            126 => pair(
                "`forebay` can't be run",
                "check its mode and its architecture, or copy this one over with `--push`",
            ),
            NO_PLACE => pair(
                "no directory for the program can be made",
                "`--push` needs a writable TMPDIR, /tmp or home directory",
            ),
            NOT_WRITTEN => {
                pair("the program can't be written", "is the file system of its TMPDIR or /tmp full?")
            }
            DAMAGED => {
                pair("the program arrived damaged", "try again; if it stays, install it there by other means")
            }
            NOT_STARTED => pair(
                "the copied program can't be run",
                "is /tmp mounted noexec? set TMPDIR there; or is it another architecture?",
            ),
            _ => None,
        }
    }

    fn of_the_rest(&self) -> (String, String) {
        let last = self.lines.iter().rev().find(|line| !line.trim().is_empty());
        let said = last.map_or_else(String::new, |line| format!(": {line}"));
        let first = self.noise.lines().next().unwrap_or_default();
        let noise = if first.is_empty() { String::new() } else { format!("; it printed `{first}`") };
        let what = match &self.trouble {
            Trouble::Ended => format!("the connection ended before its agent spoke{said}{noise}"),
            Trouble::Silent => format!("its agent did not answer in time{said}{noise}"),
            Trouble::Cancelled => "no longer wanted".to_owned(),
            Trouble::Foreign(words) => format!("its answer is not understood: {words}{noise}"),
        };
        (what, format!("see what `ssh {} forebay --version` says", self.host))
    }
}

/// Whether an agent is of our version; if not, what to tell.
pub(super) fn check_version(host: &Host, hello: &Hello) -> Result<(), Failure> {
    if hello.version == VERSION && hello.protocol == PROTOCOL {
        return Ok(());
    }
    let what = if hello.version == VERSION {
        format!("its forebay {VERSION} is another build (protocol {}, here {PROTOCOL})", hello.protocol)
    } else {
        format!("it has forebay {}, and this is forebay {VERSION}", hello.version)
    };
    let hint = "install the same version everywhere, or copy this one over with `--push`".to_owned();
    Err(Failure { host: host.to_string(), what, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32, line: &str) -> Failure {
        let host = Host { user: Some("me".into()), name: "n1".into(), port: Some(2222), slots: None };
        let lines = [line.to_owned()];
        Scene { host: &host, trouble: Trouble::Ended, code: Some(code), lines: &lines, noise: "" }.failure()
    }

    #[test]
    fn every_way_to_fail_has_its_own_words_and_its_fix() {
        for (code, line, what, hint) in [
            (255, "Host key verification failed.", "host key is not known", "ssh-keyscan -p 2222 n1"),
            (
                255,
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @",
                "another than the known",
                "ssh-keygen -R n1",
            ),
            (255, "me@n1: Permission denied (publickey,password).", "refuses the login", "ssh-copy-id"),
            (
                255,
                "ssh: connect to host n1 port 2222: Connection refused",
                "nothing listens at port 2222",
                "sshd",
            ),
            (255, "ssh: connect to host n1 port 22: Connection timed out", "can't be reached", "is it up"),
            (255, "ssh: connect to host n1 port 22: No route to host", "can't be reached", "is it up"),
            (
                255,
                "ssh: Could not resolve hostname n1: Name or service not known",
                "name is not known",
                "DNS",
            ),
            (255, "Can't open user config file /x: No such file or directory", "not set up well", "--ssh"),
            (127, "sh: 1: exec: forebay: not found", "no `forebay`", "--push"),
            (126, "sh: 1: exec: /x/forebay: Permission denied", "can't be run", "--push"),
            (75, "", "damaged", "try again"),
            (1, "something new", "before its agent spoke: something new", "ssh me@n1:2222"),
        ] {
            let failure = failure(code, line);
            assert_eq!(failure.host, "me@n1:2222");
            assert!(failure.what.contains(what) && failure.hint.contains(hint), "{line}: {failure:?}");
        }
    }

    #[test]
    fn mixed_versions_are_named() {
        let host = Host { user: None, name: "n1".into(), port: None, slots: None };
        let hello = |version: &str, protocol| Hello {
            version: version.to_owned(),
            protocol,
            hostname: "n1".to_owned(),
            facts: serde_json::Value::Null,
        };
        assert!(check_version(&host, &hello(VERSION, PROTOCOL)).is_ok());
        let other = check_version(&host, &hello("9.9.9", PROTOCOL)).unwrap_err();
        assert!(
            other.what.contains("9.9.9") && other.what.contains(VERSION) && other.hint.contains("--push")
        );
        assert!(check_version(&host, &hello(VERSION, 99)).unwrap_err().what.contains("another build"));
    }
}
