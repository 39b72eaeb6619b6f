//! Logs for whoever looks into the program itself: `-v` (info), `-vv` (debug), `-vvv` (trace), or `FOREBAY_LOG` with
//! tracing's filter words (`FOREBAY_LOG=bench=debug`). Always on standard error.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts logging; a second start changes nothing.
pub fn start(verbosity: u8) {
    let level = match verbosity {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("FOREBAY_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .try_init();
    if started.is_err() {
        tracing::debug!("logging was already started");
    }
}
