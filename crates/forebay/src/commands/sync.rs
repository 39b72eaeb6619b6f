mod figures;
mod jobs;
mod options;
mod progress;
mod ranks;
mod serve;
mod tally;
mod words;

use sync::manager::Wish;
use sync::movers::move_together;
use sync::{Counters, End, Record, Status, run as sync_all, watch};

use self::figures::Figures;
use self::progress::SyncProgress;
use self::tally::Tally;
use super::{Context, Result};
use crate::cli::{Sync, SyncAction};
use crate::exit::{Outcome, Signal};
use crate::signals;

/// Makes the destination like the source, or runs and shows jobs that do.
pub fn run(context: &Context, arguments: &Sync) -> Result {
    match &arguments.action {
        None => sync_once(context, arguments),
        Some(SyncAction::Serve(arguments)) if arguments.check => serve::check(context, arguments),
        Some(SyncAction::Serve(arguments)) => serve::run(context, arguments),
        Some(SyncAction::Jobs(arguments)) => jobs::list(context, arguments),
        Some(SyncAction::Pause(arguments)) => jobs::steer(context, arguments, Wish::Pause),
        Some(SyncAction::Resume(arguments)) => jobs::steer(context, arguments, Wish::Run),
        Some(SyncAction::Cancel(arguments)) => jobs::steer(context, arguments, Wish::Cancel),
    }
}

/// What somebody who asks for an end is told.
const STOPPING: &str = "stopping; what is done is written down, and a second signal stops at once";

/// Makes the destination like the source, and says what was done.
fn sync_once(context: &Context, arguments: &Sync) -> Result {
    let meeting = options::meeting(arguments)?;
    if meeting.is_none() && super::fleet::is_launched() {
        return ranks::run(context, arguments);
    }
    let (sync_options, following) =
        (options::of(&context.printer, arguments)?, options::following(&arguments.watching)?);
    signals::install_saying(&context.printer, STOPPING)?;
    let (counters, status) = (Counters::default(), Status::default());
    let figures = figures(context, arguments)?;
    let progress = SyncProgress::new(&context.printer, &counters, &status, figures.as_ref());
    let record = beside(&progress, None, || match (&following, &meeting) {
        (Some(following), _) => watch(&sync_options, following, &progress, &counters, &status),
        (None, Some(meeting)) => move_together(&sync_options, meeting, &progress, &counters),
        (None, None) => sync_all(&sync_options, &progress, &counters),
    });
    drop(progress);
    told(context, &record?, signals::received())
}

fn figures(context: &Context, arguments: &Sync) -> fault::Result<Option<Figures>> {
    arguments.metrics.map(|address| Figures::serve(&context.printer, address)).transpose()
}

/// Does the work while the progress is shown.
fn beside<T>(progress: &SyncProgress<'_>, tally: Option<&Tally<'_>>, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let ticking = scope.spawn(|| progress.tick(tally));
        let done = work();
        progress.end();
        ticking.thread().unpark();
        done
    })
}

/// Says what was done; `signal` is the one that stopped it, if one did.
fn told(context: &Context, record: &Record, signal: Option<Signal>) -> Result {
    context.printer.document("sync", record, || words::of(record))?;
    Ok(match record.state {
        End::Complete => Outcome::Done,
        End::Partial => Outcome::Partial,
        End::Stopped => signal.map_or(Outcome::Partial, Outcome::Stopped),
    })
}
