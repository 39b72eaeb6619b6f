use std::io::{self, Stderr, Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::Printer;

/// Whether the terminal is taken over; for those who end the program without unwinding.
static UP: AtomicBool = AtomicBool::new(false);

/// The terminal, taken over; given back when dropped.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    printer: Printer,
    /// Typed keys would be written over the picture.
    before: Option<Termios>,
}

impl Screen {
    /// Takes the terminal over. What is said from now on is held back until it is given back.
    pub fn open(printer: &Printer) -> io::Result<Self> {
        let viewport = Viewport::Fixed(whole());
        let terminal = Terminal::with_options(CrosstermBackend::new(stderr()), TerminalOptions { viewport })?;
        let before = hush();
        printer.hold();
        UP.store(true, Ordering::SeqCst);
        let screen = Self { terminal, printer: printer.clone(), before };
        execute!(stderr(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws a picture.
    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame)) {
        let area = whole();
        if self.terminal.get_frame().area() != area {
            let _ = self.terminal.resize(area);
        }
        // A terminal that has gone away is no reason to end a measurement.
        let _ = self.terminal.draw(picture);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        if let Some(before) = &self.before {
            let _ = tcsetattr(stderr(), OptionalActions::Drain, before);
        }
        self.printer.release();
    }
}

/// Columns and rows of standard error; zeros when it is no terminal.
///
/// The library would ask standard output, or `tput`.
pub fn size() -> (u16, u16) {
    tcgetwinsize(stderr()).map_or((0, 0), |size| (size.ws_col, size.ws_row))
}

fn whole() -> Rect {
    let (width, height) = size();
    Rect::new(0, 0, width, height)
}

/// Gives the terminal back if it is taken over.
pub fn give_back() {
    if UP.swap(false, Ordering::SeqCst) {
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = stderr().flush();
    }
}

/// Stops the terminal from showing what is typed; signals by keys go on working.
fn hush() -> Option<Termios> {
    let before = tcgetattr(stderr()).ok()?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
    tcsetattr(stderr(), OptionalActions::Now, &quiet).ok()?;
    Some(before)
}
