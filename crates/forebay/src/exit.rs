//! How a command ended, and the exit code that says so. Documented in the help (`forebay help`) and never a count.

use std::process::ExitCode;

use fault::Kind;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything asked for is done.
    Done,
    /// Some items failed; each was reported.
    Partial,
    /// Done and measured, but the requirement isn't met (or the numbers can't be believed).
    NotMet,
    /// A signal stopped it; it stopped cleanly and kept what it had.
    Stopped(Signal),
    /// One of several processes, which ends as the one that leads them (its exit code).
    AsTheRoot(u8),
}

/// The signals that stop us cleanly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: control-C.
    Interrupt,
    /// SIGTERM: `kill`, a batch system's time limit. A lost terminal (SIGHUP) counts as one.
    Terminate,
}

/// The table at the end of `forebay help`.
pub const HELP: &str = "\
Exit codes:
  0    done
  1    failed
  2    the command line or a spec is wrong
  3    partial: some items failed, each was reported
  4    done, but the requirement is not met
  130  stopped by SIGINT after a clean stop
  143  stopped by SIGTERM after a clean stop";

/// The exit code of a command that came to an end.
pub const fn of_outcome(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Partial => 3,
        Outcome::NotMet => 4,
        Outcome::Stopped(Signal::Interrupt) => 130,
        Outcome::Stopped(Signal::Terminate) => 143,
        Outcome::AsTheRoot(code) => code,
    }
}

/// The exit code of a command that failed; `signal` is the one that was received, if any.
pub fn of_fault(kind: Kind, signal: Option<Signal>) -> u8 {
    match kind {
        Kind::Usage | Kind::Spec => 2,
        Kind::NotFound
        | Kind::Denied
        | Kind::NoSpace
        | Kind::Refused
        | Kind::Io
        | Kind::Corrupt
        | Kind::Unsupported
        | Kind::Bug => 1,
        Kind::Interrupted => of_outcome(Outcome::Stopped(signal.unwrap_or(Signal::Interrupt))),
    }
}

/// As the process reports it.
pub fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_KINDS: [(Kind, u8); 11] = [
        (Kind::Usage, 2),
        (Kind::Spec, 2),
        (Kind::NotFound, 1),
        (Kind::Denied, 1),
        (Kind::NoSpace, 1),
        (Kind::Refused, 1),
        (Kind::Io, 1),
        (Kind::Corrupt, 1),
        (Kind::Interrupted, 130),
        (Kind::Unsupported, 1),
        (Kind::Bug, 1),
    ];

    const ALL_OUTCOMES: [(Outcome, u8); 5] = [
        (Outcome::Done, 0),
        (Outcome::Partial, 3),
        (Outcome::NotMet, 4),
        (Outcome::Stopped(Signal::Interrupt), 130),
        (Outcome::Stopped(Signal::Terminate), 143),
    ];

    #[test]
    fn every_end_has_its_documented_code() {
        for (kind, expected) in ALL_KINDS {
            assert_eq!(of_fault(kind, None), expected, "{kind:?}");
        }
        for (outcome, expected) in ALL_OUTCOMES {
            assert_eq!(of_outcome(outcome), expected, "{outcome:?}");
        }
    }

    #[test]
    fn the_signal_that_came_decides_the_code() {
        assert_eq!(of_fault(Kind::Interrupted, Some(Signal::Terminate)), 143);
        assert_eq!(of_fault(Kind::Io, Some(Signal::Terminate)), 1);
    }

    #[test]
    fn every_code_is_in_the_help() {
        let codes = ALL_KINDS.map(|(_, code)| code).into_iter().chain(ALL_OUTCOMES.map(|(_, code)| code));
        for code in codes {
            assert!(HELP.lines().any(|line| line.trim_start().starts_with(&format!("{code} "))), "{code}");
        }
    }
}
