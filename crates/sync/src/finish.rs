//! Attributes of directories, set when nothing in them changes any more: deepest first, so that a directory that may no
//! longer be written to has nothing left to be written.

use store::{Attributes, Errno, Stamp, meta_of};

use crate::index::{Itself, Section};
use crate::job::{Desk, Job, Trouble};

/// Sets the attributes of all directories that were noted.
pub fn finish_all(job: &Job<'_>) -> fault::Result<()> {
    let mut last: Box<[u8]> = Box::default();
    for record in Desk::take(&job.desk.finishes, job.state.dir()).sorted()? {
        let record = record?;
        if job.stopping() {
            return Ok(());
        }
        if record == last {
            continue;
        }
        let dir = &record[4..];
        if let Err(trouble) = finish(job, dir) {
            job.trouble(dir, trouble);
        }
        last = record;
    }
    Ok(())
}

fn finish(job: &Job<'_>, dir: &[u8]) -> Result<(), Trouble> {
    let source = match job.source.open_dir(dir) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        opened => opened.map_err(|error| job.at_source("open", dir, error))?,
    };
    if job.span_in(dir).is_some() {
        return crate::ranges::note_range(job, dir, &source);
    }
    let unset = |error| job.at_destination("set attributes of", dir, error);
    let there = match job.destination.open_dir(dir) {
        // It could not be made: that was told.
        Err(Errno::NOENT) => return Ok(()),
        opened => opened.map_err(unset)?,
    };
    let meta = meta_of(&source).map_err(|error| job.at_source("look at", dir, error))?;
    let mut wanted = Attributes::of(&meta, job.rules.with_owner);
    wanted.named = store::named(&source, job.options.extended)
        .map_err(|error| job.at_source("read attributes of", dir, error))?;
    store::clear_named(&there, &wanted.named, job.options.extended).map_err(unset)?;
    let now = meta_of(&there).map_err(unset)?;
    store::apply(&there, &wanted, &now).map_err(|(action, error)| job.at_destination(&action, dir, error))?;
    if job.is_complete(dir) && !job.is_divided(dir) {
        let mut itself = Itself::of(&meta);
        if job.is_racy(meta.ctime) {
            // Never equal to a real one: looked at again next time.
            itself.ctime = Stamp::default();
        }
        job.ledger.done(dir, &Section::new(Some(itself)), 0);
    }
    Ok(())
}
