//! Everyone who reads the events of a run while it goes on.

mod figures;

use std::fs::OpenOptions;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use console::{EventLines, Printer, Progress, Showing};
use fault::Fault;
use metrics::{Registry, Server};
use record::{Event, Listener};

use self::figures::Figures;
use crate::cli::{Live, Outputs};

/// The readers that were asked for; they end when this is dropped.
pub struct Watching<'a> {
    readers: Vec<Box<dyn Listener + 'a>>,
    _server: Option<Server>,
}

impl<'a> Watching<'a> {
    /// Opens what was asked for, before anything is measured.
    pub fn start(printer: &Printer, outputs: &Outputs) -> fault::Result<Self> {
        let to_standard_error = outputs.live_json.as_deref() == Some(Path::new("-"));
        let showing = if to_standard_error { Showing::Off } else { outputs.live.into() };
        let mut readers: Vec<Box<dyn Listener + 'a>> = vec![Box::new(Progress::new(printer, showing))];
        if let Some(path) = &outputs.live_json {
            let to = if to_standard_error { Box::new(std::io::stderr()) } else { open(path)? };
            readers.push(Box::new(EventLines::new(printer, to)));
        }
        let server = outputs.metrics.map(|address| serve(printer, address, &mut readers)).transpose()?;
        Ok(Self { readers, _server: server })
    }

    /// With one reader more.
    pub fn and(mut self, reader: Option<Box<dyn Listener + 'a>>) -> Self {
        self.readers.extend(reader);
        self
    }
}

impl Listener for Watching<'_> {
    fn on_event(&mut self, event: &Event) {
        self.readers.iter_mut().for_each(|reader| reader.on_event(event));
    }
}

fn open(path: &Path) -> fault::Result<Box<dyn Write + Send>> {
    // Not truncated before it is opened for good: a pipe can't be, and a wrong name is told first.
    let file = OpenOptions::new().create(true).write(true).truncate(true).open(path);
    Ok(Box::new(file.map_err(|error| Fault::os("write live events to", path, error))?))
}

fn serve(
    printer: &Printer,
    address: SocketAddr,
    readers: &mut Vec<Box<dyn Listener + '_>>,
) -> fault::Result<Server> {
    let mut registry = Registry::with_prefix("forebay");
    readers.push(Box::new(Figures::new(&mut registry)));
    let server = Server::start(address, registry)?;
    if let Some(bound) = server.address() {
        printer.say(format!("live figures: http://{bound}/metrics"));
    }
    if !address.ip().is_loopback() {
        printer.warn(format!(
            "{address} can be reached from other hosts, and whoever reaches it sees the figures"
        ));
    }
    Ok(server)
}

impl From<Live> for Showing {
    fn from(live: Live) -> Self {
        match live {
            Live::Auto => Self::Auto,
            Live::Line => Self::Line,
            Live::Log => Self::Log,
            Live::Off => Self::Off,
        }
    }
}
