//! The queue of ranks: the first has it, the others ask.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet::Node;

use super::call::{Call, Reply, foreign, pack, unpack};
use super::merge::Verdict;
use super::queue::{Begun, Found, Joined, Lease, Queue, Results, Stretch, Work};
use super::told::Told;
use crate::event::Event;

/// How long somebody who found nothing to do waits before asking again.
const PAUSE: Duration = Duration::from_millis(100);

/// The queue that the first rank has.
pub struct Distant<'a>(pub &'a Node);

impl Distant<'_> {
    /// Asks; what was answered, and its blobs.
    fn ask(&self, call: &Call, blobs: &[&[u8]]) -> fault::Result<(Reply, std::vec::IntoIter<Vec<u8>>)> {
        let answer = self.0.ask(&pack(call, blobs)?)?;
        match unpack(&answer)? {
            (Reply::Failed(told), _) => Err(told.into_fault()),
            (reply, blobs) => Ok((reply, blobs.into_iter())),
        }
    }

    fn tell(&self, call: &Call, blobs: &[&[u8]]) -> fault::Result<()> {
        self.ask(call, blobs).map(drop)
    }

    fn is(&self, call: &Call, blobs: &[&[u8]]) -> fault::Result<bool> {
        match self.ask(call, blobs)?.0 {
            Reply::Is(so) => Ok(so),
            _ => Err(foreign()),
        }
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

    fn plan_on(&mut self, token: i64) -> fault::Result<bool> {
        self.is(&Call::PlanOn { token }, &[])
    }

    fn divide(
        &mut self,
        token: i64,
        probe: &str,
        parts: &BTreeSet<Vec<u8>>,
        anew: bool,
    ) -> fault::Result<()> {
        let parts = parts.iter().cloned().collect();
        self.tell(&Call::Divide { token, probe: probe.to_owned(), parts, anew }, &[])
    }

    fn take(&mut self, round: i64) -> fault::Result<Work> {
        match self.ask(&Call::Take { round }, &[])?.0 {
            Reply::Work(work) => Ok(work),
            _ => Err(foreign()),
        }
    }

    fn extend(&mut self, held: &Lease) -> fault::Result<bool> {
        self.is(&Call::Extend { held: held.clone() }, &[])
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

    fn open_file(&mut self, held: &Lease, path: &[u8], head: &[u8], stretches: u64) -> fault::Result<()> {
        let (held, path, head) = (held.clone(), path.to_vec(), head.to_vec());
        self.tell(&Call::OpenFile { held, path, head, stretches }, &[])
    }

    fn take_stretch(&mut self, path: &[u8]) -> fault::Result<Option<Stretch>> {
        match self.ask(&Call::TakeStretch { path: path.to_vec() }, &[])?.0 {
            Reply::Stretch(stretch) => Ok(stretch),
            _ => Err(foreign()),
        }
    }

    fn extend_stretch(&mut self, held: &Stretch) -> fault::Result<bool> {
        self.is(&Call::ExtendStretch { held: held.clone() }, &[])
    }

    fn commit_stretch(&mut self, held: &Stretch, done: &[u8]) -> fault::Result<bool> {
        self.is(&Call::CommitStretch { held: held.clone() }, &[done])
    }

    fn give_back_stretch(&mut self, held: &Stretch, failed: bool) -> fault::Result<()> {
        self.tell(&Call::GiveBackStretch { held: held.clone(), failed }, &[])
    }

    fn finished(&mut self, path: &[u8], known: &[u64]) -> fault::Result<Vec<(u64, Vec<u8>)>> {
        match self.ask(&Call::Finished { path: path.to_vec(), known: known.to_vec() }, &[])? {
            (Reply::Finished(numbers), blobs) => Ok(numbers.into_iter().zip(blobs).collect()),
            _ => Err(foreign()),
        }
    }

    fn begun(&mut self, held: &Lease) -> fault::Result<Vec<Begun>> {
        let (Reply::Begun(files), mut blobs) = self.ask(&Call::Begun { held: held.clone() }, &[])? else {
            return Err(foreign());
        };
        let with_blobs = |(path, head, numbers): (Vec<u8>, Vec<u8>, Vec<u64>)| {
            (path, head, numbers.into_iter().zip(blobs.by_ref()).collect())
        };
        Ok(files.into_iter().map(with_blobs).collect())
    }

    fn results(&mut self) -> fault::Result<Results> {
        match self.ask(&Call::Results, &[])?.0 {
            Reply::Results(results) => Ok(results),
            _ => Err(foreign()),
        }
    }

    fn blob(&mut self, path: &[u8], kind: &str) -> fault::Result<Vec<u8>> {
        match self.ask(&Call::Blob { path: path.to_vec(), kind: kind.to_owned() }, &[])? {
            (Reply::Blob, mut blobs) => Ok(blobs.next().unwrap_or_default()),
            _ => Err(foreign()),
        }
    }

    fn wait(&mut self, longest: Duration) -> fault::Result<()> {
        std::thread::sleep(longest.min(PAUSE));
        Ok(())
    }
}
