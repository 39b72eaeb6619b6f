use std::fmt::Display;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Printer;

/// How often the spinner moves between messages.
const TICK: Duration = Duration::from_millis(200);

/// Progress of reading something of unknown length: one live line on a terminal, a line for each step elsewhere. With a JSON
/// format a standard error that is no terminal stays silent.
pub struct Reading {
    printer: Printer,
    line: Option<ProgressBar>,
}

impl Reading {
    /// The progress that fits the printer's format and terminals.
    pub fn new(printer: &Printer) -> Self {
        let live = printer.err_is_terminal() && !printer.quiet();
        let line = live.then(|| {
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            line.enable_steady_tick(TICK);
            line
        });
        Self { printer: printer.clone(), line }
    }

    /// A step begins.
    pub fn step(&self, title: impl Display) {
        match &self.line {
            Some(line) => {
                line.set_prefix(title.to_string());
                line.set_message("");
            }
            None => self.say(title),
        }
    }

    /// How far the step is; seen on terminals alone.
    pub fn so_far(&self, text: impl Display) {
        if let Some(line) = &self.line {
            line.set_message(text.to_string());
        }
    }

    /// Writes something that is seen in every format, above the live line.
    pub fn above(&self, write: impl FnOnce(&Printer)) {
        match &self.line {
            Some(line) => line.suspend(|| write(&self.printer)),
            None => write(&self.printer),
        }
    }

    /// Something worth a line of its own.
    pub fn say(&self, text: impl Display) {
        match &self.line {
            Some(line) => line.suspend(|| self.printer.say(text)),
            None if self.printer.format().is_json() => {}
            None => self.printer.say(text),
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
