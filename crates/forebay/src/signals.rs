//! SIGINT and SIGTERM ask a measuring command to stop cleanly; a second one stops it at once.

use std::sync::Arc;
use std::thread;

use console::Printer;
use fault::Fault;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Outcome, Signal, of_outcome};

/// From here on, signals set the flag that ranks look at between transfers. Commands that don't measure keep the
/// system's way: a signal ends them.
pub fn install(printer: &Printer) -> fault::Result<()> {
    let failed = |error| Fault::os("handle", std::path::Path::new("SIGINT and SIGTERM"), error);
    // A write beyond `ulimit -f` then fails like any other, instead of ending us with all files left behind.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let printer = printer.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|signal| stop(signal, &printer)))
        .map(|_| ())
        .map_err(failed)
}

fn stop(signal: i32, printer: &Printer) {
    if bench::interrupt::requested().is_some() {
        std::process::exit(of_outcome(Outcome::Stopped(named(signal))).into());
    }
    bench::interrupt::request(signal);
    printer.say(
        "stopping and removing files; a second signal stops at once and leaves them for `forebay clean`",
    );
}

/// The signal that asked us to stop, if one did.
pub fn received() -> Option<Signal> {
    bench::interrupt::requested().map(named)
}

const fn named(signal: i32) -> Signal {
    match signal {
        SIGTERM => Signal::Terminate,
        _ => Signal::Interrupt,
    }
}
