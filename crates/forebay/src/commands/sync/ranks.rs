//! `mpirun forebay sync`: the processes of a launcher share one job.

use std::path::Path;

use fault::{Fault, Kind};
use signal_hook::consts::{SIGHUP, SIGTERM};
use sync::movers::{Ranks, move_ranks};
use sync::{Counters, Options, Status, run as sync_all};

use super::progress::SyncProgress;
use super::tally::Tally;
use super::{Context, Result, STOPPING, beside, figures, options, told};
use crate::cli::{FleetOptions, Sync};
use crate::commands::fleet::{Fleet, Task};
use crate::exit::Signal;
use crate::signals;

/// Makes the destination like the source, together with the other processes. One of them says what was done.
pub fn run(context: &Context, arguments: &Sync) -> Result {
    signals::install_saying(&context.printer, STOPPING)?;
    let fleet = Fleet::open(&context.printer, &FleetOptions::default(), Task::Measure)?;
    let Some(node) = fleet.node() else {
        return Err(Fault::new(Kind::Bug, "a launcher without processes").into());
    };
    let ranks = Ranks { node, signal: bench::interrupt::requested };
    let is_first = ranks.is_first();
    let outcome = take_part(context, arguments, ranks);
    if is_first {
        fleet.done();
        return outcome;
    }
    Ok(fleet.follow())
}

fn take_part(context: &Context, arguments: &Sync, ranks: Ranks<'_>) -> Result {
    let sync_options =
        ranks.agree(check(arguments).and_then(|()| options::of(&context.printer, arguments)))?;
    let (own, whole, status) = (Counters::default(), Counters::default(), Status::default());
    let served = if ranks.is_first() { figures(context, arguments) } else { Ok(None) };
    let figures = ranks.agree(served)?;
    let progress = SyncProgress::new(&context.printer, &whole, &status, figures.as_ref());
    let tally = Tally::new(ranks.node, &own, &whole);
    let record = beside(&progress, Some(&tally), || work(arguments, &sync_options, ranks, &progress, &own));
    drop(progress);
    told(context, &record?, ranks.stopped_by().map(named))
}

fn work(
    arguments: &Sync,
    sync_options: &Options,
    ranks: Ranks<'_>,
    progress: &SyncProgress<'_>,
    own: &Counters,
) -> fault::Result<sync::Record> {
    if sync_options.dry_run && !sync::is_elsewhere(sync_options) {
        // One plans for all; the others have nothing to do.
        return if ranks.is_first() { sync_all(sync_options, progress, own) } else { Err(nothing()) };
    }
    move_ranks(sync_options, &options::alike(arguments), ranks, progress, own)
}

fn nothing() -> Fault {
    Fault::new(Kind::Interrupted, "nothing to do for this rank")
}

/// What the processes of a launcher can't do.
fn check(arguments: &Sync) -> fault::Result<()> {
    let refused = |what: &str| Fault::new(Kind::Usage, format!("ranks of a launcher can't do {what}"));
    if arguments.watching.watch {
        return Err(refused("a watch").hint("leave --watch out, or let one process do it alone"));
    }
    if arguments.choosing.files_from.as_deref() == Some(Path::new("-")) {
        return Err(refused("a list from standard input")
            .hint("only one of them has it: write the list to a file that all of them can read"));
    }
    Ok(())
}

const fn named(signal: i32) -> Signal {
    match signal {
        SIGTERM | SIGHUP => Signal::Terminate,
        _ => Signal::Interrupt,
    }
}
