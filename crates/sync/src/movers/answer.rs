//! What the first rank answers.

use super::call::{Call, Reply, pack, unpack};
use super::queue::{Found, Queue};
use super::told::Told;
use crate::event::{Event, Watcher};

/// The first rank's answer to a question.
pub fn answer(queue: &mut dyn Queue, watcher: &dyn Watcher, question: &[u8]) -> fault::Result<Vec<u8>> {
    let mut out = Vec::new();
    let done = unpack(question).and_then(|(call, blobs)| serve(queue, watcher, call, blobs, &mut out));
    let blobs: Vec<&[u8]> = out.iter().map(Vec::as_slice).collect();
    pack(&done.unwrap_or_else(|fault| Reply::Failed(Told::of(&fault))), &blobs)
}

fn serve(
    queue: &mut dyn Queue,
    watcher: &dyn Watcher,
    call: Call,
    blobs: Vec<Vec<u8>>,
    out: &mut Vec<Vec<u8>>,
) -> fault::Result<Reply> {
    let mut blobs = blobs.into_iter();
    let mut next = || blobs.next().unwrap_or_default();
    let done = match call {
        Call::Join { shown, digest, may_begin } => {
            return queue.join(&shown, &digest, may_begin).map(Reply::Joined);
        }
        Call::PlanOn { token } => return queue.plan_on(token).map(Reply::Is),
        Call::Take { round } => return queue.take(round).map(Reply::Work),
        Call::Extend { held } => return queue.extend(&held).map(Reply::Is),
        Call::TakeStretch { path } => return queue.take_stretch(&path).map(Reply::Stretch),
        Call::ExtendStretch { held } => return queue.extend_stretch(&held).map(Reply::Is),
        Call::CommitStretch { held } => return queue.commit_stretch(&held, &next()).map(Reply::Is),
        Call::Results => return queue.results().map(Reply::Results),
        Call::Blob { path, kind } => {
            out.push(queue.blob(&path, &kind)?);
            return Ok(Reply::Blob);
        }
        Call::Finished { path, known } => {
            return queue.finished(&path, &known).map(|done| Reply::Finished(apart(done, out)));
        }
        Call::Begun { held } => {
            let files = queue.begun(&held)?.into_iter();
            return Ok(Reply::Begun(
                files.map(|(path, head, done)| (path, head, apart(done, out))).collect(),
            ));
        }
        Call::Divide { token, probe, parts, anew } => {
            queue.divide(token, &probe, &parts.into_iter().collect(), anew)
        }
        Call::Commit { held, entries, record, verdict } => {
            let found = Found { index: next(), left: next(), entries };
            queue.commit(&held, &found, &record, verdict.as_ref())
        }
        Call::GiveBack { held } => queue.give_back(&held, &next()),
        Call::Fail { held, words } => queue.fail(&held, &words),
        Call::End { held, verdict } => queue.end(&held, &verdict),
        Call::OpenFile { held, path, head, stretches } => queue.open_file(&held, &path, &head, stretches),
        Call::GiveBackStretch { held, failed } => queue.give_back_stretch(&held, failed),
        Call::Failed { path, why, unstable } => {
            let why = why.into_fault();
            watcher.event(&if unstable { Event::Unstable(&path, &why) } else { Event::Failed(&path, &why) });
            Ok(())
        }
        Call::Note(text) => {
            watcher.event(&Event::Note(&text));
            Ok(())
        }
    };
    done.map(|()| Reply::Done)
}

/// The numbers of what is done; what it is goes apart.
fn apart(done: Vec<(u64, Vec<u8>)>, out: &mut Vec<Vec<u8>>) -> Vec<u64> {
    let (numbers, blobs): (Vec<u64>, Vec<Vec<u8>>) = done.into_iter().unzip();
    out.extend(blobs);
    numbers
}
