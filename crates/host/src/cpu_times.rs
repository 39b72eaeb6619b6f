//! CPU time: of all vCPUs, of this process, of the calling thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::{CpuTimes, System};

/// CPU time the calling thread has used.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Reads the machine's times from `/proc/stat`, and this process's own from the running kernel.
pub(crate) fn read(system: &System) -> CpuTimes {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let (process_user_ns, process_system_ns) = process_times();
    let machine = machine_times(&system.text("/proc/stat").unwrap_or_default(), tick_ns);
    CpuTimes { process_user_ns, process_system_ns, ..machine }
}

fn machine_times(stat: &str, tick_ns: u64) -> CpuTimes {
    let mut times = CpuTimes::default();
    for line in stat.lines() {
        let Some((vcpu, values)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else {
            continue;
        };
        let line = Line::parse(values, tick_ns);
        match vcpu.parse::<usize>() {
            Ok(vcpu) if vcpu < 1 << 16 => {
                // offline vCPUs have no line; places stay those of the numbers
                times.busy_per_vcpu_ns.resize(times.busy_per_vcpu_ns.len().max(vcpu + 1), 0);
                times.busy_per_vcpu_ns[vcpu] = line.busy();
            }
            Err(_) if vcpu.is_empty() => {
                times.user_ns = line.user;
                times.system_ns = line.system;
                times.interrupt_ns = line.interrupt;
                times.iowait_ns = line.iowait;
                times.idle_ns = line.idle;
                times.steal_ns = line.steal;
            }
            _ => {}
        }
    }
    times
}

/// One `cpu` line: user nice system idle iowait irq softirq steal, in ticks. Guests' time is in user and nice already.
struct Line {
    user: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    interrupt: u64,
    steal: u64,
}

impl Line {
    fn parse(values: &str, tick_ns: u64) -> Self {
        let ticks: Vec<u64> = values.split_whitespace().map(|value| value.parse().unwrap_or(0)).collect();
        let time = |field: usize| ticks.get(field).copied().unwrap_or(0).saturating_mul(tick_ns);
        Self {
            user: time(0) + time(1),
            system: time(2),
            idle: time(3),
            iowait: time(4),
            interrupt: time(5) + time(6),
            steal: time(7),
        }
    }

    fn busy(&self) -> u64 {
        self.user + self.system + self.interrupt + self.steal
    }
}

/// User and system time of this process, all its threads together, in ns.
fn process_times() -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` points to writable memory of the size getrusage fills.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if result != 0 {
        return (0, 0);
    }
    // SAFETY: zeroed bytes are a valid rusage, and getrusage has filled it.
    let usage = unsafe { usage.assume_init() };
    (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime))
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(microseconds.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "\
cpu  10 1 20 300 5 2 3 4 9 0
cpu0 5 1 10 150 5 1 1 2 9 0
cpu2 5 0 10 150 0 1 2 2 0 0
intr 12345
cpufreq nonsense
";

    #[test]
    fn ticks_become_nanoseconds() {
        let times = machine_times(STAT, 10_000_000);
        assert_eq!(times.user_ns, 110_000_000);
        assert_eq!(times.interrupt_ns, 50_000_000);
        assert_eq!(times.steal_ns, 40_000_000);
        assert_eq!(times.idle_ns, 3_000_000_000);
    }

    #[test]
    fn an_offline_vcpu_keeps_its_place() {
        assert_eq!(machine_times(STAT, 10_000_000).busy_per_vcpu_ns, [200_000_000, 0, 200_000_000]);
    }

    #[test]
    fn old_kernels_and_garbage_have_fewer_columns() {
        let times = machine_times("cpu 7 x 1\ncpu", 1);
        assert_eq!((times.user_ns, times.system_ns, times.steal_ns), (7, 1, 0));
    }
}
