//! The queue of ranks: the first has it, the others ask.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet::Node;

use super::call::{Call, Reply, foreign, pack, unpack};
use super::merge::Verdict;
use super::queue::{Found, Joined, Lease, Queue, Results, Work};
use super::told::Told;
use crate::event::{Event, Watcher};

/// How long somebody who found nothing to do waits before asking again.
const PAUSE: Duration = Duration::from_millis(100);

/// The queue that the first rank has.
pub struct Distant<'a>(pub &'a Node);

impl Distant<'_> {
    /// Asks; what was answered, and its blob.
    fn ask(&self, call: &Call, blobs: &[&[u8]]) -> fault::Result<(Reply, Vec<u8>)> {
        let answer = self.0.ask(&pack(call, blobs)?)?;
        match unpack(&answer)? {
            (Reply::Failed(told), _) => Err(told.into_fault()),
            (reply, blobs) => Ok((reply, blobs.into_iter().next().unwrap_or_default())),
        }
    }

    fn tell(&self, call: &Call, blobs: &[&[u8]]) -> fault::Result<()> {
        self.ask(call, blobs).map(drop)
    }

    /// Tells the first rank what a person should know: it is the one that speaks.
    pub fn pass_on(&self, event: &Event<'_>) {
        let call = match event {
            Event::Failed(path, why) => {
                Call::Failed { path: path.to_vec(), why: Told::of(why), unstable: false }
            }
            Event::Unstable(path, why) => {
                Call::Failed { path: path.to_vec(), why: Told::of(why), unstable: true }
            }
            Event::Note(text) => Call::Note((*text).to_owned()),
            Event::Stage(_) | Event::Planned(_) => return,
        };
        // Where the first rank is gone, nobody is left to be told.
        let _ = self.tell(&call, &[]);
    }
}

impl Queue for Distant<'_> {
    fn join(&mut self, shown: &str, digest: &str, may_begin: bool) -> fault::Result<Joined> {
        let call = Call::Join { shown: shown.to_owned(), digest: digest.to_owned(), may_begin };
        match self.ask(&call, &[])?.0 {
            Reply::Joined(joined) => Ok(joined),
            _ => Err(foreign()),
        }
    }

    fn divide(
        &mut self,
        token: i64,
        probe: &str,
        trees: &BTreeSet<Vec<u8>>,
        anew: bool,
    ) -> fault::Result<()> {
        let trees = trees.iter().cloned().collect();
        self.tell(&Call::Divide { token, probe: probe.to_owned(), trees, anew }, &[])
    }

    fn take(&mut self, round: i64) -> fault::Result<Work> {
        match self.ask(&Call::Take { round }, &[])?.0 {
            Reply::Work(work) => Ok(work),
            _ => Err(foreign()),
        }
    }

    fn extend(&mut self, held: &Lease) -> fault::Result<bool> {
        match self.ask(&Call::Extend { held: held.clone() }, &[])?.0 {
            Reply::Is(ours) => Ok(ours),
            _ => Err(foreign()),
        }
    }

    fn commit(
        &mut self,
        held: &Lease,
        found: &Found,
        record: &str,
        verdict: Option<&Verdict>,
    ) -> fault::Result<()> {
        let (held, verdict) = (held.clone(), verdict.cloned());
        let call = Call::Commit { held, entries: found.entries, record: record.to_owned(), verdict };
        self.tell(&call, &[&found.index, &found.left])
    }

    fn give_back(&mut self, held: &Lease, index: &[u8]) -> fault::Result<()> {
        self.tell(&Call::GiveBack { held: held.clone() }, &[index])
    }

    fn fail(&mut self, held: &Lease, words: &str) -> fault::Result<()> {
        self.tell(&Call::Fail { held: held.clone(), words: words.to_owned() }, &[])
    }

    fn end(&mut self, held: &Lease, verdict: &Verdict) -> fault::Result<()> {
        self.tell(&Call::End { held: held.clone(), verdict: verdict.clone() }, &[])
    }

    fn results(&mut self) -> fault::Result<Results> {
        match self.ask(&Call::Results, &[])?.0 {
            Reply::Results(results) => Ok(results),
            _ => Err(foreign()),
        }
    }

    fn blob(&mut self, path: &[u8], kind: &str) -> fault::Result<Vec<u8>> {
        match self.ask(&Call::Blob { path: path.to_vec(), kind: kind.to_owned() }, &[])? {
            (Reply::Blob, blob) => Ok(blob),
            _ => Err(foreign()),
        }
    }

    fn wait(&mut self, longest: Duration) -> fault::Result<()> {
        std::thread::sleep(longest.min(PAUSE));
        Ok(())
    }
}

/// The first rank's answer to a question.
pub fn answer(queue: &mut dyn Queue, watcher: &dyn Watcher, question: &[u8]) -> fault::Result<Vec<u8>> {
    let mut blob = Vec::new();
    let done = unpack(question).and_then(|(call, blobs)| serve(queue, watcher, call, blobs, &mut blob));
    pack(&done.unwrap_or_else(|fault| Reply::Failed(Told::of(&fault))), &[&blob])
}

fn serve(
    queue: &mut dyn Queue,
    watcher: &dyn Watcher,
    call: Call,
    blobs: Vec<Vec<u8>>,
    out: &mut Vec<u8>,
) -> fault::Result<Reply> {
    let mut blobs = blobs.into_iter();
    let mut next = || blobs.next().unwrap_or_default();
    let done = match call {
        Call::Join { shown, digest, may_begin } => {
            return queue.join(&shown, &digest, may_begin).map(Reply::Joined);
        }
        Call::Take { round } => return queue.take(round).map(Reply::Work),
        Call::Extend { held } => return queue.extend(&held).map(Reply::Is),
        Call::Results => return queue.results().map(Reply::Results),
        Call::Blob { path, kind } => {
            *out = queue.blob(&path, &kind)?;
            return Ok(Reply::Blob);
        }
        Call::Divide { token, probe, trees, anew } => {
            queue.divide(token, &probe, &trees.into_iter().collect(), anew)
        }
        Call::Commit { held, entries, record, verdict } => {
            let found = Found { index: next(), left: next(), entries };
            queue.commit(&held, &found, &record, verdict.as_ref())
        }
        Call::GiveBack { held } => queue.give_back(&held, &next()),
        Call::Fail { held, words } => queue.fail(&held, &words),
        Call::End { held, verdict } => queue.end(&held, &verdict),
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
