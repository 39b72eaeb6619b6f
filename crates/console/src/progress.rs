use record::{Event, Listener};

use crate::bar::Bar;
use crate::lines::Lines;
use crate::{Format, Printer};

/// Shows a run while it goes on; a reader of its events.
///
/// On a terminal one live line, elsewhere plain lines, nothing with `--quiet`; with `--format jsonl` the events
/// themselves go to standard output, one a line. JSON output and plain lines don't mix: with a JSON format a
/// standard error that is no terminal stays silent.
pub struct Progress {
    view: View,
    stream: Option<Printer>,
}

enum View {
    Hidden,
    Bar(Bar),
    Lines(Lines),
}

impl Progress {
    /// The progress that fits the printer's format and terminals.
    pub fn new(printer: &Printer) -> Self {
        let stream = (printer.format() == Format::Jsonl).then(|| printer.clone());
        let terminal_is_taken = stream.is_some() && printer.out_is_terminal();
        let view = if printer.quiet() || terminal_is_taken {
            View::Hidden
        } else if printer.err_is_terminal() {
            View::Bar(Bar::new(printer.clone()))
        } else if printer.format().is_json() {
            View::Hidden
        } else {
            View::Lines(Lines::new(printer.clone()))
        };
        Self { view, stream }
    }
}

impl Listener for Progress {
    fn on_event(&mut self, event: &Event) {
        // A standard output that can't be written fails the command when its result is printed.
        if let Some(printer) = &self.stream {
            let _ = printer.json_line(event);
        }
        match &mut self.view {
            View::Hidden => {}
            View::Bar(bar) => bar.show(event),
            View::Lines(lines) => lines.show(event),
        }
    }
}
