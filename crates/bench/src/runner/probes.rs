//! The counters below all targets of a test.

use std::path::Path;

use fault::Result;
use host::{Counters, CpuTimes, Probe, System};

/// One probe per target.
#[derive(Debug)]
pub struct Probes {
    all: Vec<Probe>,
}

impl Probes {
    /// Finds the counters of the target a test is named after, and of the others.
    pub fn of(first: &Path, others: &[impl AsRef<Path>]) -> Result<Self> {
        let system = System::here();
        let targets = std::iter::once(first).chain(others.iter().map(AsRef::as_ref));
        Ok(Self { all: targets.map(|target| system.probe(target)).collect::<Result<_>>()? })
    }

    /// Where there are no targets, nothing is counted.
    pub fn none() -> Self {
        Self { all: Vec::new() }
    }

    /// All counters now, each of them once: targets may share a device.
    pub fn counters(&self) -> Counters {
        let [first, others @ ..] = &self.all[..] else { return Counters::default() };
        let mut counters = first.counters();
        for probe in others {
            for counter in probe.counters().traffic {
                let known =
                    counters.traffic.iter().any(|t| (t.source, &t.name) == (counter.source, &counter.name));
                if !known {
                    counters.traffic.push(counter);
                }
            }
        }
        counters
    }

    /// CPU time now; `None` where nothing is counted.
    pub fn cpu(&self) -> Option<CpuTimes> {
        self.all.first().map(Probe::cpu)
    }

    /// Whether the bytes of all targets are counted at the same place, so that the counters may be added up: what an NFS
    /// mount counts goes through the network, too.
    pub fn add_up(&self) -> bool {
        self.all.windows(2).all(|pair| pair[0].source() == pair[1].source())
    }
}
