//! SIGINT, SIGTERM and a lost terminal ask a measuring command to stop cleanly; a second signal stops it at once.

use std::sync::Arc;
use std::thread;

use console::Printer;
use fault::Fault;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Outcome, Signal, of_outcome};

/// From here on, signals set the flag that ranks look at between transfers. Commands that don't measure keep the
/// system's way: a signal ends them.
pub fn install(printer: &Printer) -> fault::Result<()> {
    let failed = |error| Fault::os("handle", std::path::Path::new("signals"), error);
    // A write beyond `ulimit -f` then fails like any other, instead of ending us with all files left behind.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    if !started_by_nohup() {
        signals.add_signal(SIGHUP).map_err(failed)?;
    }
    let printer = printer.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|signal| stop(signal, &printer)))
        .map(|_| ())
        .map_err(failed)
}

/// `nohup` lets a program go on when its terminal is lost, by having it ignore SIGHUP.
fn started_by_nohup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (SIGHUP - 1)) != 0
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
        SIGTERM | SIGHUP => Signal::Terminate,
        _ => Signal::Interrupt,
    }
}
