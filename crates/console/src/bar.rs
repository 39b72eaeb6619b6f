use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::Event;

use crate::phase_clock::{Instant, PhaseClock};
use crate::{Printer, paint};

/// Steps of a full bar; finer than any terminal is wide.
const STEPS: u64 = 1000;
/// How often the spinner and the clock move between events.
const TICK: Duration = Duration::from_millis(200);

/// Progress as one live line on a terminal; finished phases stay above it.
pub struct Bar {
    printer: Printer,
    clock: PhaseClock,
    line: ProgressBar,
}

impl Bar {
    pub fn new(printer: Printer) -> Self {
        Self { printer, clock: PhaseClock::default(), line: ProgressBar::hidden() }
    }

    pub fn show(&mut self, event: &Event) {
        self.clock.learn(event);
        match event {
            Event::TestStarted { test, summary, .. } => {
                self.above(|printer| printer.say(format!("{}: {summary}", paint::strong(test))));
            }
            Event::PhaseStarted { .. } => self.begin(),
            Event::Progress(_) => {
                if let Some(now) = self.clock.at(event) {
                    self.advance(&now);
                }
            }
            Event::Draining { .. } => self.line.set_message("fsync and close"),
            Event::PhaseFinished { result } => {
                self.line.finish_and_clear();
                self.printer.say(self.clock.closing(result));
            }
            Event::Notice { message } => self.above(|printer| printer.warn(message)),
            Event::RunFinished { .. } => self.line.finish_and_clear(),
            Event::RunStarted { .. } | Event::Second { .. } | Event::Series { .. } => {}
        }
    }

    fn begin(&mut self) {
        self.line.finish_and_clear();
        self.line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        self.line.set_style(style("{spinner} {prefix} {elapsed} {msg}"));
        self.line.set_prefix(self.clock.title.clone());
        self.line.enable_steady_tick(TICK);
    }

    fn advance(&mut self, now: &Instant) {
        if let Some(done) = now.done {
            if self.line.length().is_none() {
                self.line.set_length(STEPS);
                self.line.set_style(style("{spinner} {prefix} [{bar:20}] {percent:>3} % {msg}"));
            }
            self.line.set_position((done.get() * STEPS as f64) as u64);
        }
        self.line.set_message(self.clock.figures(now));
    }

    fn above(&self, write: impl FnOnce(&Printer)) {
        self.line.suspend(|| write(&self.printer));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // Our own templates; the default style is as good if one were wrong.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for template in
            ["{spinner} {prefix} {elapsed} {msg}", "{spinner} {prefix} [{bar:20}] {percent:>3} % {msg}"]
        {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
