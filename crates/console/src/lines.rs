use std::time::Duration;

use record::Event;
use units::format_duration;

use crate::Printer;
use crate::phase_clock::PhaseClock;

/// How long a phase runs between two lines about it.
const SILENCE: Duration = Duration::from_secs(10);

/// Progress as plain lines, for logs: the start and end of every phase, and one line every ten seconds.
pub struct Lines {
    printer: Printer,
    clock: PhaseClock,
    next: Duration,
}

impl Lines {
    pub fn new(printer: Printer) -> Self {
        Self { printer, clock: PhaseClock::default(), next: SILENCE }
    }

    pub fn show(&mut self, event: &Event) {
        self.clock.learn(event);
        match event {
            Event::TestStarted { test, summary, .. } => self.printer.say(format!("{test}: {summary}")),
            Event::PhaseStarted { .. } => {
                self.next = SILENCE;
                self.printer.say(self.clock.opening());
            }
            Event::Progress(_) => self.now_and_then(event),
            Event::PhaseFinished { result } => self.printer.say(self.clock.closing(result)),
            Event::Notice { message } => self.printer.warn(message),
            Event::RunStarted { .. }
            | Event::Draining { .. }
            | Event::Second { .. }
            | Event::Series { .. }
            | Event::RunFinished { .. } => {}
        }
    }

    fn now_and_then(&mut self, event: &Event) {
        let Some(now) = self.clock.at(event) else { return };
        if now.elapsed < self.next {
            return;
        }
        self.next = now.elapsed + SILENCE;
        let elapsed = format_duration(now.elapsed);
        self.printer.say(format!("{} at {elapsed}: {}", self.clock.title, self.clock.figures(&now)));
    }
}
