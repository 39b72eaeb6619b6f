use metrics::{Counter, Family, FloatGauge, Gauge, Registry, Unit};
use record::{Event, Listener, Moment};

/// What a run shows to Prometheus.
///
/// Rates are over the last second, latencies of it. What is done counts over the whole run.
#[derive(Default)]
pub struct Figures {
    run: Family<Labels, Gauge>,
    phase: Family<Labels, Gauge>,
    bytes: Counter,
    operations: Counter,
    errors: Counter,
    phases: Counter,
    bytes_rate: FloatGauge,
    operations_rate: FloatGauge,
    latency: Family<Labels, FloatGauge>,
    ranks_done: Gauge,
    ranks: Gauge,
    host_bytes_rate: Family<Labels, FloatGauge>,
    host_operations_rate: Family<Labels, FloatGauge>,
    /// What the current phase has counted so far: bytes and operations.
    counted: (u64, u64),
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

impl Figures {
    /// Registers all of them.
    pub fn new(registry: &mut Registry) -> Self {
        let own = Self::default();
        registry.register("run", "1 for the run that goes on", own.run.clone());
        registry.register("phase", "1 for the phase that goes on", own.phase.clone());
        registry.register_with_unit("moved", "Bytes moved", Unit::Bytes, own.bytes.clone());
        registry.register("operations", "Operations done", own.operations.clone());
        registry.register("errors", "Operations that failed, of phases that have ended", own.errors.clone());
        registry.register("phases", "Phases that have ended", own.phases.clone());
        let per_second = || Unit::Other("bytes_per_second".to_owned());
        registry.register_with_unit(
            "throughput",
            "Over the last second",
            per_second(),
            own.bytes_rate.clone(),
        );
        let operations_per_second = || Unit::Other("operations_per_second".to_owned());
        let rate = own.operations_rate.clone();
        registry.register_with_unit("rate", "Over the last second", operations_per_second(), rate);
        registry.register_with_unit("latency", "Of the last second", Unit::Seconds, own.latency.clone());
        registry.register("ranks", "Ranks in the phase", own.ranks.clone());
        registry.register("ranks_done", "Ranks that have done their share", own.ranks_done.clone());
        let by_host = own.host_bytes_rate.clone();
        registry.register_with_unit(
            "host_throughput",
            "Of each host over the last second",
            per_second(),
            by_host,
        );
        let by_host = own.host_operations_rate.clone();
        let help = "Of each host over the last second";
        registry.register_with_unit("host_rate", help, operations_per_second(), by_host);
        own
    }

    fn moment(&mut self, moment: &Moment) {
        self.count(moment.bytes, moment.operations);
        self.bytes_rate.set(moment.bytes_per_second);
        self.operations_rate.set(moment.operations_per_second);
        self.ranks_done.set(i64::from(moment.ranks_done));
        if let Some(latency) = &moment.latency {
            let quantiles = [("0.5", latency.p50_ns), ("0.99", latency.p99_ns), ("1", latency.maximum_ns)];
            for (quantile, nanoseconds) in quantiles {
                self.latency
                    .get_or_create(&vec![("quantile", quantile.to_owned())])
                    .set(nanoseconds as f64 / 1e9);
            }
        }
        for host in &moment.hosts {
            let labels = vec![("host", host.host.clone())];
            self.host_bytes_rate.get_or_create(&labels).set(host.bytes_per_second);
            self.host_operations_rate.get_or_create(&labels).set(host.operations_per_second);
        }
    }

    /// Adds what the phase has done since it was last counted.
    fn count(&mut self, bytes: u64, operations: u64) {
        self.bytes.inc_by(bytes.saturating_sub(self.counted.0));
        self.operations.inc_by(operations.saturating_sub(self.counted.1));
        self.counted = (bytes.max(self.counted.0), operations.max(self.counted.1));
    }

    fn rest(&mut self) {
        self.bytes_rate.set(0.0);
        self.operations_rate.set(0.0);
        self.ranks.set(0);
        self.ranks_done.set(0);
        self.phase.clear();
        self.latency.clear();
        self.host_bytes_rate.clear();
        self.host_operations_rate.clear();
        self.counted = (0, 0);
    }
}

impl Listener for Figures {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run, .. } => {
                self.run.get_or_create(&vec![("run", run.clone())]).set(1);
            }
            Event::PhaseStarted { test, repetition, phase, ranks, .. } => {
                self.rest();
                let turn = ("repetition", repetition.to_string());
                let labels = vec![("test", test.clone()), ("phase", phase.clone()), turn];
                self.phase.get_or_create(&labels).set(1);
                self.ranks.set(i64::from(*ranks));
            }
            Event::Progress(moment) => self.moment(moment),
            Event::PhaseFinished { result } => {
                self.count(result.last_done.bytes.get(), result.last_done.operations);
                self.errors.inc_by(result.error_count);
                self.phases.inc();
                self.rest();
            }
            Event::RunFinished { .. } => self.run.clear(),
            Event::TestStarted { .. }
            | Event::Draining { .. }
            | Event::Second { .. }
            | Event::Series { .. }
            | Event::Notice { .. } => {}
        }
    }
}
