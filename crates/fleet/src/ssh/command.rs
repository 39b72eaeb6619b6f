use std::process::{Command, Stdio};

use fault::{Fault, Kind, Result};
use rustix::process::Pid;
use std::os::unix::process::CommandExt as _;

use crate::greeting::Remote;
use crate::hosts::Host;

/// Options of ours. Those of `--ssh` stand before them, and with ssh the first one counts.
///
/// The connection is probed by ssh as well, so that it ends when the other host does.
const OPTIONS: [&str; 11] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=3",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ClearAllForwardings=yes",
];

/// Exit codes of the script that takes a copy of the program.
pub(super) const NO_PLACE: i32 = 73;
pub(super) const NOT_WRITTEN: i32 = 74;
pub(super) const DAMAGED: i32 = 75;
pub(super) const NOT_STARTED: i32 = 76;

/// The command that runs `script` on a host, with all of its standard streams ours.
pub(super) fn on_host(remote: &Remote, host: &Host, script: &str) -> Result<Command> {
    let (program, options) = remote.ssh.split_first().ok_or_else(|| {
        Fault::new(Kind::Usage, "`--ssh` names no program").hint("for example `--ssh \"ssh -F my.conf\"`")
    })?;
    let mut command = Command::new(program);
    command.args(options).args(OPTIONS);
    if let Some(port) = host.port {
        command.args(["-p", &port.to_string()]);
    }
    if let Some(user) = &host.user {
        command.args(["-l", user]);
    }
    // The login shell may be any: all of them take a word in single quotes as it is.
    command.args(["--", &host.name, &format!("sh -c '{script}'")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for us: we end the agents in order.
    command.process_group(0);
    Ok(command)
}

/// Starts the agent that is installed there: at the place where ours is, or by its name.
pub(super) fn installed(remote: &Remote) -> String {
    match remote.program.as_deref().filter(|path| is_plain(path)) {
        Some(path) => format!("p={path}; test -x $p || p=forebay; exec $p agent"),
        None => "exec forebay agent".to_owned(),
    }
}

/// Takes a copy of the program of so many bytes from standard input, and starts it. The agent removes it at once; before
/// that, the script does if anything goes wrong.
pub(super) fn pushed(size: u64, checksum: u32) -> String {
    format!(
        "umask 077; d=; for b in \"${{TMPDIR:-/tmp}}\" \"$HOME\"; do \
         d=$(mktemp -d \"$b/forebay-agent.XXXXXXXXXX\" 2>/dev/null) && break; done; \
         test -d \"$d\" || exit {NO_PLACE}; trap \"rm -rf \\\"$d\\\"\" EXIT; trap \"exit 1\" HUP INT TERM; \
         head -c {size} >\"$d/forebay\" || exit {NOT_WRITTEN}; \
         test \"$(cksum <\"$d/forebay\")\" = \"{checksum} {size}\" || exit {DAMAGED}; \
         chmod 700 \"$d/forebay\"; \"$d/forebay\" --version >/dev/null || exit {NOT_STARTED}; \
         trap - EXIT; exec \"$d/forebay\" agent --pushed \"$d\""
    )
}

/// Whether a path means itself in every shell.
fn is_plain(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte))
}

/// The words of a command line; quotes keep blanks.
pub fn split_words(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(Fault::new(Kind::Usage, format!("`{line}`: a quote is not closed")));
    }
    words.extend(word);
    Ok(words)
}

/// The process as rustix names it.
pub(super) fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        let split = |line| split_words(line).unwrap();
        assert_eq!(split("ssh -F  my.conf"), ["ssh", "-F", "my.conf"]);
        assert_eq!(
            split("ssh -F 'my conf' -o \"A=b c\" x\\ y ''"),
            ["ssh", "-F", "my conf", "-o", "A=b c", "x y", ""]
        );
        assert!(split_words("ssh 'x").is_err());
        assert!(split("  ").is_empty());
    }

    #[test]
    fn scripts_have_no_quote_that_would_end_them() {
        let remote =
            |path: &str| Remote { ssh: vec!["ssh".into()], push: false, program: Some(path.to_owned()) };
        assert!(installed(&remote("/opt/forebay/bin/forebay")).contains("p=/opt/forebay/bin/forebay;"));
        assert_eq!(installed(&remote("/tmp/it's; rm -rf x/forebay")), "exec forebay agent");
        assert!(!pushed(1, 2).contains('\'') && !pushed(1, 2).contains('!'));
    }
}
