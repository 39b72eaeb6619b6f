//! Whether the process that wrote a record is still there.

use std::path::Path;

use crate::run::{RunRecord, RunState};

/// The kernel's name for this boot; empty where `/proc` is not mounted.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Whether process `pid` exists and is more than a zombie waiting for its parent.
pub fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return false;
    };
    // The command name is in parentheses and may hold anything, so the state is what follows the last one.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// Where and as what a run ran: enough to tell whether it can still be running.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Name of the host.
    pub hostname: &'a str,
    /// Boot it ran in.
    pub boot_id: &'a str,
    /// Its process.
    pub process_id: u32,
}

/// Whether the process behind `origin` is gone, as this host sees it now. A run on another host that shares the
/// directory can't be judged from here and counts as still there.
pub fn is_gone(origin: Origin<'_>) -> bool {
    let here = hostname();
    let elsewhere = !origin.hostname.is_empty() && !here.is_empty() && origin.hostname != here;
    !elsewhere && (origin.boot_id != boot_id() || !is_alive(origin.process_id))
}

fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl RunRecord {
    /// Whether this run was killed: its record says running, and its process is gone (see [`is_gone`]).
    pub fn was_killed(&self, is_gone: impl FnOnce(Origin<'_>) -> bool) -> bool {
        self.state == RunState::Running
            && is_gone(Origin {
                hostname: &self.environment.hostname,
                boot_id: &self.boot_id,
                process_id: self.process_id,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin<'a>(hostname: &'a str, boot_id: &'a str, process_id: u32) -> Origin<'a> {
        Origin { hostname, boot_id, process_id }
    }

    #[test]
    fn this_process_is_alive_and_an_impossible_one_is_gone() {
        let (host, boot) = (hostname(), boot_id());
        assert!(!is_gone(origin(&host, &boot, std::process::id())));
        assert!(is_gone(origin(&host, &boot, u32::MAX)));
        assert!(is_gone(origin(&host, "an earlier boot", std::process::id())));
        assert!(!is_gone(origin("another-host", "another boot", u32::MAX)), "not ours to judge");
    }

    #[test]
    fn a_finished_child_is_gone_even_before_it_is_reaped() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_alive(child.id()));
    }

    #[test]
    fn only_a_running_record_can_have_been_killed() {
        let mut record = crate::sample::record();
        record.state = RunState::Running;
        assert!(record.was_killed(|_| true) && !record.was_killed(|_| false));
        record.state = RunState::Complete;
        assert!(!record.was_killed(|_| true));
    }
}
