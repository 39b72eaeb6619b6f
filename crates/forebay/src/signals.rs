//! SIGINT, SIGTERM and a lost terminal ask a measuring command to stop cleanly; a second signal stops it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use console::Printer;
use fault::Fault;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Outcome, Signal, of_outcome};

static OVER: AtomicBool = AtomicBool::new(false);

/// From here on, signals set the flag that ranks look at between transfers. Commands that don't measure keep the
/// system's way: a signal ends them.
pub fn install(printer: &Printer) -> fault::Result<()> {
    let words =
        "stopping and removing files; a second signal stops at once and leaves them for `forebay clean`";
    install_saying(printer, words)
}

/// The same, for a command that says something else when it is asked to stop.
pub fn install_saying(printer: &Printer, words: &'static str) -> fault::Result<()> {
    let failed = |error| Fault::os("handle", std::path::Path::new("signals"), error);
    // A write beyond `ulimit -f` then fails like any other, instead of ending us with all files left behind.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    if !started_by_nohup() {
        signals.add_signal(SIGHUP).map_err(failed)?;
    }
    listen(signals, printer, words)
}

fn listen(mut signals: Signals, printer: &Printer, words: &'static str) -> fault::Result<()> {
    let printer = printer.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|signal| stop(signal, &printer, words)))
        .map(|_| ())
        .map_err(|error| Fault::os("handle", std::path::Path::new("signals"), error))
}

/// The same, for a server: it is asked to stop by SIGINT and SIGTERM, and SIGHUP, which sets the flag, asks it to read its
/// file again.
pub fn install_serving(printer: &Printer, words: &'static str) -> fault::Result<Arc<AtomicBool>> {
    let failed = |error| Fault::os("handle", std::path::Path::new("signals"), error);
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let hang_up = Arc::new(AtomicBool::new(false));
    flag::register(SIGHUP, hang_up.clone()).map_err(failed)?;
    let signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    listen(signals, printer, words).map(|()| hang_up)
}

/// `nohup` lets a program go on when its terminal is lost, by having it ignore SIGHUP.
fn started_by_nohup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (SIGHUP - 1)) != 0
}

/// From here on, signals change nothing: everything is done and said.
pub fn ignore() {
    OVER.store(true, Ordering::Relaxed);
}

fn stop(signal: i32, printer: &Printer, words: &str) {
    if OVER.load(Ordering::Relaxed) {
        return;
    }
    if bench::interrupt::requested().is_some() {
        printer.give_back_terminal();
        std::process::exit(of_outcome(Outcome::Stopped(named(signal))).into());
    }
    bench::interrupt::request(signal);
    printer.say(words);
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
