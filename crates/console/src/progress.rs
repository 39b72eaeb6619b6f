use std::io::{ErrorKind, Write};

use record::{Event, Listener};

use crate::bar::Bar;
use crate::lines::Lines;
use crate::live::{Live, SMALLEST, size};
use crate::{Format, Printer};

/// How a run is shown while it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Showing {
    /// The whole terminal where there is one that is large enough, plain lines elsewhere.
    #[default]
    Auto,
    /// One live line on a terminal.
    Line,
    /// Plain lines: the start and end of each phase, and one every ten seconds.
    Log,
    /// Nothing.
    Off,
}

/// Shows a run while it goes on; a reader of its events.
///
/// On a terminal the whole of it or one live line, elsewhere plain lines, nothing with `--quiet`; with `--format jsonl` the
/// events themselves go to standard output, one a line. JSON output and plain lines don't mix: with a JSON format a
/// standard error that is no terminal stays silent.
pub struct Progress {
    view: View,
    stream: Option<Printer>,
}

enum View {
    Hidden,
    Live(Box<Live>),
    Bar(Box<Bar>),
    Lines(Box<Lines>),
}

impl Progress {
    /// The progress that fits the printer's format and terminals.
    pub fn new(printer: &Printer, showing: Showing) -> Self {
        let stream = (printer.format() == Format::Jsonl).then(|| printer.clone());
        let terminal_is_taken = stream.is_some() && printer.out_is_terminal();
        let view = if printer.quiet() || terminal_is_taken || showing == Showing::Off {
            View::Hidden
        } else if printer.err_is_terminal() && showing != Showing::Log {
            if showing == Showing::Auto && is_large_enough() {
                View::Live(Box::new(Live::new(printer.clone())))
            } else {
                View::Bar(Box::new(Bar::new(printer.clone())))
            }
        } else if printer.format().is_json() {
            View::Hidden
        } else {
            View::Lines(Box::new(Lines::new(printer.clone())))
        };
        Self { view, stream }
    }
}

/// Whether the full-screen view fits; terminals that can't move the cursor say so by their name.
fn is_large_enough() -> bool {
    let named = std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb");
    let size = size();
    named && size.0 >= SMALLEST.0 && size.1 >= SMALLEST.1
}

impl Listener for Progress {
    fn on_event(&mut self, event: &Event) {
        // A standard output that can't be written fails the command when its result is printed.
        if let Some(printer) = self.stream.as_ref().filter(|_| is_for_streams(event)) {
            let _ = printer.json_line(event);
        }
        match &mut self.view {
            View::Hidden => {}
            View::Live(live) => live.show(event),
            View::Bar(bar) => bar.show(event),
            View::Lines(lines) => lines.show(event),
        }
    }
}

/// All but what comes again whole.
fn is_for_streams(event: &Event) -> bool {
    !matches!(event, Event::Second { .. })
}

/// Writes every event as a line of JSON.
pub struct EventLines {
    printer: Printer,
    to: Option<Box<dyn Write + Send>>,
}

impl EventLines {
    /// Writes to `to`; what goes wrong there is said once and ends the lines, not the run.
    pub fn new(printer: &Printer, to: Box<dyn Write + Send>) -> Self {
        Self { printer: printer.clone(), to: Some(to) }
    }
}

impl Listener for EventLines {
    fn on_event(&mut self, event: &Event) {
        let Some(to) = self.to.as_mut().filter(|_| is_for_streams(event)) else { return };
        let written = serde_json::to_vec(event).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            to.write_all(&line).and_then(|()| to.flush())
        });
        if let Err(error) = written {
            self.to = None;
            // A reader that has gone has seen enough.
            if error.kind() != ErrorKind::BrokenPipe {
                self.printer.warn(format!("no more live events are written: {}", fault::plain(&error)));
            }
        }
    }
}
