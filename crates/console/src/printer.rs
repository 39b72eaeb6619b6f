use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use fault::{Fault, Kind};
use serde::Serialize;

use crate::{Envelope, Format, paint};

type Sink = Box<dyn Write + Send>;

/// Writes to standard output and standard error. Clones write to the same place.
///
/// A reader of standard output that has gone (`forebay runs list | head -1`) ends the output, not the program: what
/// is written afterwards is dropped without a word. Any other failure to write is an error.
#[derive(Clone)]
pub struct Printer {
    format: Format,
    quiet: bool,
    out_is_terminal: bool,
    err_is_terminal: bool,
    streams: Arc<Streams>,
}

struct Streams {
    out: Mutex<Option<Sink>>,
    err: Mutex<Sink>,
    /// Lines for standard error that wait until the screen is given back.
    held: Mutex<Option<Vec<String>>>,
}

impl Printer {
    /// A printer to this process's standard output and standard error.
    pub fn new(format: Format, quiet: bool) -> Self {
        Self {
            format,
            quiet,
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
            streams: Arc::new(Streams {
                out: Mutex::new(Some(Box::new(AutoStream::auto(io::stdout())))),
                err: Mutex::new(Box::new(AutoStream::auto(io::stderr()))),
                held: Mutex::default(),
            }),
        }
    }

    /// A printer to two given places, neither a terminal.
    pub fn to(format: Format, quiet: bool, out: Sink, err: Sink) -> Self {
        let streams = Streams {
            out: Mutex::new(Some(Box::new(AutoStream::never(out)))),
            err: Mutex::new(Box::new(AutoStream::never(err))),
            held: Mutex::default(),
        };
        Self { format, quiet, out_is_terminal: false, err_is_terminal: false, streams: Arc::new(streams) }
    }

    /// The format asked for.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Whether only results and errors are wanted.
    pub const fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether a person looks at standard error.
    pub const fn err_is_terminal(&self) -> bool {
        self.err_is_terminal
    }

    /// Whether a person looks at standard output.
    pub const fn out_is_terminal(&self) -> bool {
        self.out_is_terminal
    }

    /// Writes data to standard output as it is, in every format; adds the last newline if there is none.
    pub fn data(&self, text: impl Display) -> fault::Result<()> {
        let mut text = text.to_string();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut out = self.streams.out.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sink) = out.as_mut() else { return Ok(()) };
        match sink.write_all(text.as_bytes()).and_then(|()| sink.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                *out = None;
                Ok(())
            }
            Err(error) => Err(Fault::os("write to", Path::new("standard output"), error)),
        }
    }

    /// Writes one document: `text` for people, or `data` in its envelope.
    pub fn document<T: Serialize>(
        &self,
        kind: &str,
        data: &T,
        text: impl FnOnce() -> String,
    ) -> fault::Result<()> {
        match self.format {
            Format::Text => self.data(text()),
            Format::Json => self.data(Envelope::new(kind, data).pretty().map_err(not_json)?),
            Format::Jsonl => self.data(Envelope::new(kind, data).line().map_err(not_json)?),
        }
    }

    /// Writes a list: `text` for people, one envelope around all items (json), or one bare item a line (jsonl).
    pub fn items<T: Serialize>(
        &self,
        kind: &str,
        items: &[T],
        text: impl FnOnce() -> String,
    ) -> fault::Result<()> {
        match self.format {
            Format::Text | Format::Json => self.document(kind, &items, text),
            Format::Jsonl => items.iter().try_for_each(|item| self.json_line(item)),
        }
    }

    /// Writes one bare object as a line of JSON to standard output.
    pub fn json_line<T: Serialize>(&self, item: &T) -> fault::Result<()> {
        self.data(serde_json::to_string(item).map_err(not_json)?)
    }

    /// Tells a person what happened, on standard error; silent with `--quiet`.
    pub fn say(&self, text: impl Display) {
        if !self.quiet {
            self.err_line(&text.to_string());
        }
    }

    /// Warns a person on standard error, `--quiet` or not.
    pub fn warn(&self, text: impl Display) {
        self.err_line(&format!("{}: {text}", paint::note("warning")));
    }

    /// Asks a person on standard error; the cursor stays behind the question.
    pub fn prompt(&self, question: impl Display) {
        let mut err = self.streams.err.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write!(err, "{question}: ").and_then(|()| err.flush());
    }

    /// Writes text to standard error as it is. Nobody can be told if that fails.
    pub fn complain(&self, text: impl Display) {
        self.err_line(text.to_string().trim_end_matches('\n'));
    }

    /// Tells a failure: message, causes it doesn't name itself, and hint.
    pub fn fault(&self, fault: &Fault) {
        self.err_line(&format!("{}: {}", paint::bad("error"), fault.message()));
        let mut cause = std::error::Error::source(fault);
        while let Some(error) = cause {
            let words = error.to_string();
            let bare = words.split(" (os error").next().unwrap_or_default().to_lowercase();
            if !fault.message().to_lowercase().contains(&bare) {
                self.err_line(&format!("caused by: {words}"));
            }
            cause = error.source();
        }
        if let Some(hint) = fault.hint_text() {
            self.hint(hint);
        }
    }

    /// Says what to do, on standard error.
    pub fn hint(&self, text: impl Display) {
        self.err_line(&format!("{}: {text}", paint::hint("hint")));
    }

    /// From now on, lines for standard error wait: something else has the terminal.
    pub(crate) fn hold(&self) {
        self.streams.held.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    }

    /// The lines that wait.
    pub(crate) fn held(&self) -> Vec<String> {
        self.streams.held.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Writes the lines that wait; from now on they no longer do.
    pub(crate) fn release(&self) {
        let held = self.streams.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.into_iter().flatten().for_each(|line| self.err_line(&line));
    }

    /// Gives the terminal back if it is taken over, and writes what waited: for those who end the program at once.
    pub fn give_back_terminal(&self) {
        crate::live::give_back();
        self.release();
    }

    fn err_line(&self, text: &str) {
        if let Some(held) = &mut *self.streams.held.lock().unwrap_or_else(PoisonError::into_inner) {
            held.push(text.to_owned());
            return;
        }
        let mut err = self.streams.err.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(err, "{text}");
    }
}

fn not_json(error: serde_json::Error) -> Fault {
    Fault::new(Kind::Bug, format!("cannot write a document as JSON: {error}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Memory {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printer(format: Format, quiet: bool) -> (Printer, Memory, Memory) {
        let (out, err) = (Memory::default(), Memory::default());
        (Printer::to(format, quiet, Box::new(out.clone()), Box::new(err.clone())), out, err)
    }

    #[test]
    fn data_and_talk_never_mix() {
        let (printer, out, err) = printer(Format::Text, false);
        printer.data("result").unwrap();
        printer.say("working");
        assert_eq!(out.text(), "result\n");
        assert_eq!(err.text(), "working\n");
    }

    #[test]
    fn a_list_is_one_envelope_or_a_line_per_item() {
        let (printer, out, _) = self::printer(Format::Jsonl, false);
        printer.items("numbers", &[1, 2], String::new).unwrap();
        assert_eq!(out.text(), "1\n2\n");
        let (printer, out, _) = self::printer(Format::Json, false);
        printer.items("numbers", &[1, 2], String::new).unwrap();
        assert!(out.text().contains("\"kind\": \"numbers\""));
    }

    #[test]
    fn quiet_keeps_warnings_and_errors() {
        let (printer, _, err) = printer(Format::Text, true);
        printer.say("working");
        printer.warn("the cache is warm");
        printer.fault(&Fault::new(Kind::Io, "it broke").hint("mend it"));
        assert_eq!(err.text(), "warning: the cache is warm\nerror: it broke\nhint: mend it\n");
    }

    #[test]
    fn a_cause_is_told_unless_the_message_names_it() {
        let (printer, _, err) = printer(Format::Text, true);
        printer.fault(&Fault::os("open", Path::new("/gone"), io::Error::from_raw_os_error(5)));
        assert!(!err.text().contains("caused by"), "{}", err.text());
        printer.fault(&Fault::new(Kind::Io, "cannot start").caused_by("the disk is on fire"));
        assert!(err.text().contains("caused by: the disk is on fire"));
    }

    #[test]
    fn a_gone_reader_is_no_failure_but_a_full_disk_is() {
        let gone = Printer::to(
            Format::Text,
            false,
            Box::new(Failing(ErrorKind::BrokenPipe)),
            Box::new(Memory::default()),
        );
        assert!(gone.data("one").is_ok());
        assert!(gone.data("two").is_ok());
        let full = Printer::to(
            Format::Text,
            false,
            Box::new(Failing(ErrorKind::StorageFull)),
            Box::new(Memory::default()),
        );
        assert!(full.data("one").unwrap_err().message().contains("standard output"));
    }
}
