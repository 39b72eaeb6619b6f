//! A dry run of what movers do together: one process plans for all, by what the queue knows, and leaves nothing there.

use std::path::Path;
use std::sync::Arc;

use fault::Fault;

use super::Meeting;
use super::queue::{Doubt, Queue as _};
use super::scratch::Scratch;
use super::tables::Tables;
use crate::counters::Counters;
use crate::event::Watcher;
use crate::index::{Index, Journal, Parts, SectionView, is_within};
use crate::options::Options;
use crate::record::Record;
use crate::roots::open_roots;
use crate::run::Listener;
use crate::scope::Scope;
use crate::session::Session;
use crate::span::Span;
use crate::state::{default_place, key_of};

/// Tells what movers would do.
pub fn rehearse(
    options: &Options,
    meeting: &Meeting,
    watcher: &dyn Watcher,
    counters: &Counters,
) -> fault::Result<Record> {
    let started = (std::time::Instant::now(), jiff::Zoned::now());
    let key = open_roots(options).map(|roots| key_of(&roots.paths.0, &roots.paths.1))?;
    let scratch = Scratch::make(&default_place("sync-movers")?)?;
    let place = scratch.part(b"")?;
    let doubt = match meeting.look()? {
        Some(database) => gather(&mut Tables::new(database, key, meeting.lease), &place)?,
        None => Doubt::None,
    };
    let listener = Listener::new(watcher);
    let mut session = Session::open_in(options, &place, &listener)?;
    session.doubt(doubt >= Doubt::Drafts, doubt == Doubt::Content);
    let round = session.round(&Scope::All, &listener, counters)?;
    Ok(session.record(&started, round.end, counters, &listener))
}

/// Brings what is known of all parts together, as the journal of a state in `place`. How far it can be believed is returned.
fn gather(queue: &mut Tables, place: &Path) -> fault::Result<Doubt> {
    let mut parts = queue.doubts()?;
    // What the rest says of a name that is also in another part is the newer.
    parts.sort_by_key(|(key, _)| key.is_empty());
    let mut journal = Journal::open(&place.join("journal"))?;
    for (key, _) in &parts {
        let (blob, path) = (queue.blob(key, "index")?, place.join("part"));
        std::fs::write(&path, blob).map_err(|error| Fault::os("write", &path, error))?;
        add(&path, key, &mut journal)?;
    }
    Ok(parts.into_iter().map(|(_, doubt)| doubt).max().unwrap_or(Doubt::None))
}

fn add(index: &Path, key: &[u8], journal: &mut Journal) -> fault::Result<()> {
    let Some(index) = Index::open(index)?.map(Arc::new) else { return Ok(()) };
    for block in 0..index.blocks() {
        let (bytes, mut parts) = (index.unpack(block)?, Parts::default());
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let view = SectionView::take(&mut rest)?;
            let itself = view.itself.filter(|_| is_whole(key, view.dir));
            parts.again(&view, itself);
        }
        journal.append(&parts)?;
    }
    Ok(())
}

/// Whether the part with this key knows all of the directory.
fn is_whole(key: &[u8], dir: &[u8]) -> bool {
    match Span::of_key(key) {
        Some(span) => span.covers(dir),
        None => is_within(dir, key),
    }
}
