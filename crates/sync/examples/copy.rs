//! The library without the program: makes one directory like another and prints the record.
//!
//! ```text
//! cargo run --release -p sync --example copy -- SOURCE DESTINATION STATE
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]

use sync::{Counters, Event, Options, Watcher};

struct Quiet;

impl Watcher for Quiet {
    fn event(&self, event: &Event<'_>) {
        if let Event::Failed(_, fault) = event {
            eprintln!("{fault}");
        }
    }

    fn stopping(&self) -> bool {
        false
    }
}

fn main() -> fault::Result<()> {
    let mut words = std::env::args_os().skip(1);
    let mut next = || words.next().map(std::path::PathBuf::from);
    let (Some(source), Some(destination)) = (next(), next()) else {
        eprintln!("usage: copy SOURCE DESTINATION [STATE]");
        return Ok(());
    };
    let options = Options { source, destination, state: next(), ..Options::default() };
    let record = sync::run(&options, &Quiet, &Counters::default())?;
    println!("{record:#?}");
    Ok(())
}
