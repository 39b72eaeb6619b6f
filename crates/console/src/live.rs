//! A run on the whole terminal: rates and latency over time, hosts, the slowest ranks, time left.
//!
//! The screen comes up with the first second of a phase and goes when the run ends; what was said meanwhile stands in its
//! lower part, and on the terminal afterwards. Keys are not read: Ctrl-C is a signal as always.

mod draw;
mod history;
mod screen;

use record::Event;

use crate::Printer;
use crate::phase_clock::PhaseClock;
use history::History;
use screen::Screen;

pub use screen::{give_back, size};

/// Smaller terminals get one line.
pub const SMALLEST: (u16, u16) = (60, 16);

/// The full-screen view.
pub struct Live {
    printer: Printer,
    clock: PhaseClock,
    history: History,
    screen: Option<Screen>,
    /// The terminal could not be taken over.
    refused: bool,
}

impl Live {
    /// A view that comes up when there is something to see.
    pub fn new(printer: Printer) -> Self {
        Self {
            printer,
            clock: PhaseClock::default(),
            history: History::default(),
            screen: None,
            refused: false,
        }
    }

    /// Takes an event, and redraws when it changes the picture.
    pub fn show(&mut self, event: &Event) {
        self.clock.learn(event);
        match event {
            Event::TestStarted { test, summary, .. } => self.printer.say(format!("{test}: {summary}")),
            Event::PhaseStarted { .. } => {
                self.history = History::default();
                self.redraw();
            }
            Event::Progress(moment) => {
                self.history.learn(moment);
                self.come_up();
                if let Some(now) = self.clock.at(event) {
                    self.history.now = Some(now);
                }
                self.redraw();
            }
            Event::Draining { .. } => {
                self.history.draining = true;
                self.redraw();
            }
            Event::PhaseFinished { result } => {
                self.printer.say(self.clock.closing(result));
                self.redraw();
            }
            Event::Notice { message } => self.printer.warn(message),
            Event::RunFinished { .. } => self.screen = None,
            Event::RunStarted { .. } | Event::Second { .. } | Event::Series { .. } => {}
        }
    }

    fn come_up(&mut self) {
        if self.screen.is_none() && !self.refused {
            // A terminal that can't be taken over still gets the lines of what ended.
            self.screen = Screen::open(&self.printer).ok();
            self.refused = self.screen.is_none();
        }
    }

    fn redraw(&mut self) {
        let Some(screen) = &mut self.screen else { return };
        let log = self.printer.held();
        let view = draw::View { clock: &self.clock, history: &self.history, log: &log };
        screen.draw(|frame| draw::draw(frame, &view));
    }
}

#[cfg(test)]
mod tests;
