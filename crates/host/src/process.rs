//! Telling a process that lives from one that is gone and whose id may belong to another by now.

use crate::System;

impl System {
    /// When process `pid` started, in clock ticks since boot; `None` if there is no such process.
    /// With the boot id, it names a process for good.
    pub fn process_start(&self, pid: u32) -> Option<u64> {
        Some(self.process_stat(pid)?.start_time)
    }

    /// Whether process `pid` that started at `start_time` (see [`System::process_start`]) still runs.
    /// One that is dead and only waits for its parent does not.
    pub fn process_alive(&self, pid: u32, start_time: u64) -> bool {
        self.process_stat(pid)
            .is_some_and(|stat| stat.start_time == start_time && !matches!(stat.state, 'Z' | 'X' | 'x'))
    }

    fn process_stat(&self, pid: u32) -> Option<Stat> {
        Stat::parse(&self.text(format!("/proc/{pid}/stat"))?)
    }
}

/// Whether process `pid` of this system that started at `start_time` still runs; see [`System::process_alive`].
pub fn process_alive(pid: u32, start_time: u64) -> bool {
    System::here().process_alive(pid, start_time)
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    start_time: u64,
}

impl Stat {
    /// The name in field 2 may hold anything, blanks and parentheses too; the last parenthesis ends it.
    fn parse(stat: &str) -> Option<Self> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Self { state: field(3)?.chars().next()?, start_time: field(22)?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1 100 100 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200";

    #[test]
    fn a_name_may_hold_parentheses_and_blanks() {
        let stat = Stat::parse(&format!("4242 (a) R 1 (b) S {REST}"));
        assert_eq!(stat, Some(Stat { state: 'S', start_time: 987_654 }));
    }

    #[test]
    fn a_garbled_line_is_no_process() {
        assert_eq!(Stat::parse("4242 (sh) S 1 2"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn this_process_lives() {
        let pid = std::process::id();
        let start = System::here().process_start(pid).unwrap();
        assert!(process_alive(pid, start));
        assert!(!process_alive(pid, start + 1));
    }
}
