mod figures;
mod jobs;
mod options;
mod progress;
mod serve;
mod words;

use sync::manager::Wish;
use sync::movers::move_together;
use sync::{Counters, End, Status, run as sync_all, watch};

use self::figures::Figures;
use self::progress::SyncProgress;
use super::{Context, Result};
use crate::cli::{Sync, SyncAction};
use crate::exit::Outcome;
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

/// Makes the destination like the source, and says what was done.
fn sync_once(context: &Context, arguments: &Sync) -> Result {
    let (sync_options, following) =
        (options::of(&context.printer, arguments)?, options::following(&arguments.watching)?);
    let meeting = options::meeting(arguments)?;
    let words = "stopping; what is done is written down, and a second signal stops at once";
    signals::install_saying(&context.printer, words)?;
    let counters = Counters::default();
    let status = Status::default();
    let figures = arguments.metrics.map(|address| Figures::serve(&context.printer, address)).transpose()?;
    let record = {
        let progress = SyncProgress::new(&context.printer, &counters, &status, figures.as_ref());
        std::thread::scope(|scope| {
            let ticking = scope.spawn(|| progress.tick());
            let record = match (&following, &meeting) {
                (Some(following), _) => watch(&sync_options, following, &progress, &counters, &status),
                (None, Some(meeting)) => move_together(&sync_options, meeting, &progress, &counters),
                (None, None) => sync_all(&sync_options, &progress, &counters),
            };
            progress.end();
            ticking.thread().unpark();
            record
        })
    }?;
    context.printer.document("sync", &record, || words::of(&record))?;
    Ok(match record.state {
        End::Complete => Outcome::Done,
        End::Partial => Outcome::Partial,
        End::Stopped => signals::received().map_or(Outcome::Partial, Outcome::Stopped),
    })
}
