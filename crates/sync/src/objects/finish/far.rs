//! The same for directories of a tree on another host: what the source has is put on them, many at once.

use fault::Kind as FaultKind;
use store::objects::{Labels, Object};
use store::{meta_of, named};

use super::super::labels::Posix;
use super::super::side::{Place, Side};
use super::super::work::{Trouble, Work};
use super::{put_known, split_start, start_of, take_known};
use crate::far::Far;
use crate::index::Known;
use crate::job::{Desk, lock};

/// Directories that one call finishes.
const AT_ONCE: usize = 200;

/// A directory gets its attributes at the end, and becomes known if it is one that changed itself.
pub fn note(work: &Work<'_>, path: &[u8], known: Option<&Known>) -> fault::Result<()> {
    let mut record = start_of(path, u8::from(known.is_none()));
    put_known(&mut record, known);
    lock(&work.finishes).push(&record)
}

type Noted = (Vec<u8>, Option<Known>);

/// Sets the attributes of all directories that were noted, deepest first.
pub fn finish_all(work: &Work<'_>, far: &Far) -> fault::Result<()> {
    let mut some: Vec<Noted> = Vec::new();
    let mut last: Vec<u8> = vec![0];
    for record in Desk::take(&work.finishes, work.scratch()).sorted()? {
        let record = record?;
        let (path, mut rest) = split_start(&record)?;
        if path == &last[..] {
            continue;
        }
        last = path.to_vec();
        if some.len() >= AT_ONCE {
            finish(work, far, std::mem::take(&mut some))?;
        }
        if work.stopping() {
            return Ok(());
        }
        some.push((path.to_vec(), take_known(&mut rest)?));
    }
    finish(work, far, some)
}

fn finish(work: &Work<'_>, far: &Far, noted: Vec<Noted>) -> fault::Result<()> {
    if noted.is_empty() {
        return Ok(());
    }
    let (mut asked, mut knowns) = (Vec::new(), Vec::new());
    let wanted = attributes(work, &noted)?;
    for ((path, known), wanted) in noted.into_iter().zip(wanted) {
        match wanted {
            Ok(Some(labels)) => {
                asked.push((path.clone(), labels));
                knowns.push((path, known));
            }
            // It is not there any more, and goes at the destination too, or did.
            Ok(None) => {}
            Err(trouble) => work.ended(&path, Err(trouble)),
        }
    }
    for ((path, known), done) in knowns.into_iter().zip(far.finish(asked)?) {
        match (done, known) {
            (Ok(true), Some(known)) => work.know(&path, &known),
            (Ok(_), _) => {}
            (Err(fault), _) => work.ended(&path, Err(Trouble::Item(fault))),
        }
    }
    Ok(())
}

type Wanted = Result<Option<Labels>, Trouble>;

/// What the source has on these directories.
fn attributes(work: &Work<'_>, noted: &[Noted]) -> fault::Result<Vec<Wanted>> {
    let to = work.destination_store()?;
    let labels = |posix: Posix| posix.labels(&to.abilities).0;
    match &work.source {
        Side::Tree(root) => {
            let of = |path: &[u8]| -> store::Os<Posix> {
                let open = root.open_dir(path)?;
                Ok(Posix::of(&meta_of(&open)?, named(&open, work.options.extended)?))
            };
            let one = |(path, _): &Noted| match of(path) {
                Ok(posix) => Ok(Some(labels(posix))),
                Err(store::Errno::NOENT | store::Errno::NOTDIR) => Ok(None),
                Err(error) => {
                    Err(Trouble::Item(fault::Fault::os("read attributes of", &root.show(path), error)))
                }
            };
            Ok(noted.iter().map(one).collect())
        }
        Side::Store(place) => {
            let keys: Vec<String> = noted.iter().map(|(path, _)| place.key(path, true).0).collect();
            let found: Vec<fault::Result<Object>> = match &place.far {
                Some(far) => {
                    let keys: Vec<_> = keys.iter().map(|key| (&key[..], None)).collect();
                    let entries = far.read_many(&keys, 0)?;
                    entries.into_iter().map(|entry| entry.map(|(object, _)| object)).collect()
                }
                None => keys.iter().map(|key| place.look(key)).collect(),
            };
            let each = found.into_iter().zip(noted);
            Ok(each.map(|(found, (_, known))| one_of_store(place, found, known.is_some(), &labels)).collect())
        }
    }
}

fn one_of_store(
    place: &Place,
    found: fault::Result<Object>,
    is_entry: bool,
    labels: &dyn Fn(Posix) -> Labels,
) -> Wanted {
    let object = match found {
        // A directory that only what lies below it speaks of.
        Err(fault) if fault.kind() == FaultKind::NotFound => {
            if !is_entry || place.far.is_some() {
                return Ok(None);
            }
            Object { key: "/".to_owned(), ..Object::default() }
        }
        found => found.map_err(Trouble::Item)?,
    };
    let mut posix = Posix::read(&object);
    if let Some(hash) = posix.spilled.take() {
        posix.named = place.read_attributes(&hash).map_err(Trouble::Item)?;
    }
    Ok(Some(labels(posix)))
}
