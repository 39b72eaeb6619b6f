//! What limited each phase, as far as one host can tell.

use record::{Limit, RunRecord};

use super::phases::Phase;
use crate::table::Table;
use crate::text;

/// Limits with their evidence; repetitions that ran into the same one are joined.
pub fn table(record: &RunRecord) -> Table {
    let mut table = Table::new("What limited each phase, as far as this host can tell").words([
        "Test and phase",
        "Limited by",
        "Repetitions",
        "Evidence",
    ]);
    for phase in Phase::all(record) {
        let mut joined: Vec<(&Limit, Vec<u32>)> = Vec::new();
        for (number, limit) in phase.results.iter().filter_map(|(n, p)| Some((*n, p.limit.as_ref()?))) {
            match joined.iter_mut().find(|(known, _)| *known == limit) {
                Some((_, numbers)) => numbers.push(number),
                None => joined.push((limit, vec![number])),
            }
        }
        for (limit, numbers) in joined {
            table.row(vec![
                phase.title().into(),
                limit.cause.words().into(),
                text::repetitions(&numbers).into(),
                limit.evidence.as_str().into(),
            ]);
        }
    }
    table
}

/// Bytes the application moved against bytes that others saw, and who was busy.
pub fn traffic(record: &RunRecord) -> Table {
    let mut table = Table::new("Bytes seen below the cache, against what the application moved")
        .words(["Test and phase"])
        .figures(["Repetition", "Application"])
        .words(["Counter"])
        .figures(["Read", "Written", "Busy"]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            for counter in &result.counters.traffic {
                let elapsed = result.last_done.elapsed_ns;
                let busy = (counter.busy_ns > 0 && elapsed > 0)
                    .then(|| format!("{:.0} %", counter.busy_ns as f64 / elapsed as f64 * 100.0));
                table.row(vec![
                    phase.title().into(),
                    number.to_string().into(),
                    result.last_done.bytes.to_string().into(),
                    format!("{} ({})", counter.name, source(counter.source)).into(),
                    counter.read_bytes.to_string().into(),
                    counter.written_bytes.to_string().into(),
                    busy.unwrap_or_else(|| text::NONE.to_owned()).into(),
                ]);
            }
        }
    }
    table
}

const fn source(source: host::CounterSource) -> &'static str {
    match source {
        host::CounterSource::Device => "block device",
        host::CounterSource::Lustre => "Lustre client",
        host::CounterSource::Nfs => "NFS mount",
        host::CounterSource::Network => "network",
    }
}

/// CPU time of each phase by what it was spent on.
pub fn cpu(record: &RunRecord) -> Table {
    let mut table = Table::new("CPU time of this host in each phase, as a share of all vCPUs")
        .words(["Test and phase"])
        .figures(["Repetition", "User", "System", "Interrupts", "Waiting for I/O", "Stolen", "Idle"]);
    for phase in Phase::all(record) {
        for (number, result) in &phase.results {
            let cpu = &result.counters.cpu;
            let parts =
                [cpu.user_ns, cpu.system_ns, cpu.interrupt_ns, cpu.iowait_ns, cpu.steal_ns, cpu.idle_ns];
            let all: f64 = parts.iter().map(|part| *part as f64).sum();
            if all > 0.0 {
                let mut row = vec![phase.title().into(), number.to_string().into()];
                row.extend(parts.map(|part| format!("{:.1} %", part as f64 / all * 100.0).into()));
                table.row(row);
            }
        }
    }
    table
}
