//! The counters below all targets of a test.

use std::path::Path;

use fault::Result;
use host::{Counters, Probe, System};

/// One probe per target.
#[derive(Debug)]
pub struct Probes {
    first: Probe,
    others: Vec<Probe>,
}

impl Probes {
    /// Finds the counters of the target a test is named after, and of the others.
    pub fn of(first: &Path, others: &[impl AsRef<Path>]) -> Result<Self> {
        let system = System::here();
        let others = others.iter().map(|target| system.probe(target.as_ref())).collect::<Result<_>>()?;
        Ok(Self { first: system.probe(first)?, others })
    }

    /// All counters now, each of them once: targets may share a device.
    pub fn counters(&self) -> Counters {
        let mut counters = self.first.counters();
        for probe in &self.others {
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

    /// Whether the bytes of all targets are counted at the same place, so that the counters may be added up: what an NFS
    /// mount counts goes through the network, too.
    pub fn add_up(&self) -> bool {
        let source = self.first.source();
        self.others.iter().all(|probe| probe.source() == source)
    }
}
