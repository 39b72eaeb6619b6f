use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;

use console::Printer;
use metrics::{Counter, Gauge, Registry, Server, Unit};
use sync::{Counters, Status};

/// A gauge of seconds.
type Seconds = Gauge<f64, AtomicU64>;

/// Reads one count.
type Count = fn(&Counters) -> u64;

/// What a sync shows to Prometheus while it goes on.
pub struct Figures {
    counted: Vec<(Counter, Count)>,
    rounds: Counter,
    rescans: Counter,
    gaps: Counter,
    lag: Seconds,
    waiting: Gauge,
    failing: Gauge,
    _server: Server,
}

impl Figures {
    /// Serves them at `address`.
    pub fn serve(printer: &Printer, address: SocketAddr) -> fault::Result<Self> {
        let mut registry = Registry::with_prefix("forebay_sync");
        let counters: [(&str, &str, Count); 8] = [
            ("scanned", "Entries of the source that were looked at", |c| c.scanned.get()),
            ("copied", "Files whose content was copied", |c| c.copied.get()),
            ("made", "Directories, symlinks, fifos and devices made", |c| c.made.get()),
            ("linked", "Further names of files", |c| c.linked.get()),
            ("updated", "Entries whose attributes alone were set", |c| c.updated.get()),
            ("deleted", "Entries removed", |c| c.deleted.get()),
            ("failed", "Times that an entry could not be done", |c| c.failed.get()),
            ("unstable", "Times that a file changed whenever it was read", |c| c.unstable.get()),
        ];
        let bytes: [(&str, &str, Count); 2] = [
            ("read", "Bytes read from the source", |c| c.bytes_read.get()),
            ("sent", "Bytes written to the destination", |c| c.bytes_sent.get()),
        ];
        let mut counted: Vec<(Counter, Count)> = Vec::new();
        for (name, help, read) in counters {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counted.push((counter, read));
        }
        for (name, help, read) in bytes {
            let counter = Counter::default();
            registry.register_with_unit(name, help, Unit::Bytes, counter.clone());
            counted.push((counter, read));
        }
        let (rounds, rescans, gaps) = (Counter::default(), Counter::default(), Counter::default());
        registry.register("rounds", "Rounds that looked at what changed", rounds.clone());
        registry.register("rescans", "Rounds that looked at everything, beside the first", rescans.clone());
        registry.register("gaps", "Times that changes were lost and everything was looked at", gaps.clone());
        let (lag, waiting, failing) = (Seconds::default(), Gauge::default(), Gauge::default());
        let help = "Age of the oldest change that is not at the destination";
        registry.register_with_unit("lag", help, Unit::Seconds, lag.clone());
        registry.register("waiting", "Changes that wait for their round", waiting.clone());
        registry.register("failing", "Entries that can't be done now and are tried again", failing.clone());
        let server = Server::start(address, registry)?;
        if let Some(bound) = server.address() {
            printer.say(format!("live figures: http://{bound}/metrics"));
        }
        if !address.ip().is_loopback() {
            printer.warn(format!(
                "{address} can be reached from other hosts, and whoever reaches it sees the figures"
            ));
        }
        Ok(Self { counted, rounds, rescans, gaps, lag, waiting, failing, _server: server })
    }

    /// Brings all of them up to date.
    pub fn update(&self, counters: &Counters, status: &Status) {
        let rise = |counter: &Counter, now: u64| {
            counter.inc_by(now.saturating_sub(counter.get()));
        };
        self.counted.iter().for_each(|(counter, read)| rise(counter, read(counters)));
        rise(&self.rounds, status.rounds());
        rise(&self.rescans, status.rescans());
        rise(&self.gaps, status.gaps());
        self.lag.set(status.lag().as_secs_f64());
        self.waiting.set(status.waiting().cast_signed());
        self.failing.set(status.failing().cast_signed());
    }
}
