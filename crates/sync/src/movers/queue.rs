//! What the movers of a job share: its parts, who has which, and what each found.

use std::collections::BTreeSet;
use std::time::Duration;

use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

use super::merge::Verdict;

/// What a mover that came has to do.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joined {
    /// It divides the job.
    Planner { token: i64, round: i64 },
    /// Somebody else divides it, or has; `probe` is what lies at the destination.
    Mover { round: i64, probe: String },
}

/// How well the destination of a part is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// As its index says.
    None,
    /// Somebody stopped in the middle: drafts may lie there.
    Drafts,
    /// Somebody died in the middle: what is there may not be what it looks like.
    Content,
}

impl Doubt {
    /// As it is written down.
    pub const fn of(number: i64) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Drafts,
            _ => Self::Content,
        }
    }
}

/// A part that is ours for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its key: the directory, or what stands for a range of one ([`crate::span`]); empty for the rest.
    pub path: Vec<u8>,
    pub is_rest: bool,
    pub doubt: Doubt,
    /// Higher than that of who had it before.
    pub token: i64,
}

/// What there is to do.
#[derive(Debug, Serialize, Deserialize)]
pub enum Work {
    /// This part.
    Part(Lease),
    /// Somebody else has the part, and this is to be done of a large file in it.
    Stretch(Stretch),
    /// Nothing until somebody else is done.
    Wait,
    /// Nothing more: this came of the round.
    Over(Verdict),
}

/// Some ranges of a large file, side by side, that are ours for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The file.
    pub path: Vec<u8>,
    /// Which content, and where it is written, see [`crate::large`].
    pub head: Vec<u8>,
    pub number: u64,
    pub token: i64,
}

/// A large file that was begun: its path, its head, and what is done of it, by number.
pub type Begun = (Vec<u8>, Vec<u8>, Vec<(u64, Vec<u8>)>);

/// What a part found that others must know.
#[derive(Debug, Default)]
pub struct Found {
    pub index: Vec<u8>,
    pub left: Vec<u8>,
    pub entries: u64,
}

/// The parts of a round, all together.
#[derive(Debug, Serialize, Deserialize)]
pub struct Results {
    pub pieces: Vec<Piece>,
    /// When the round began, and now, by the queue's clock; milliseconds since 1970.
    pub started: i64,
    pub now: i64,
}

/// What became of a part.
#[derive(Debug, Serialize, Deserialize)]
pub struct Piece {
    pub path: Vec<u8>,
    pub is_rest: bool,
    pub state: String,
    /// Entries that are known in it.
    pub entries: u64,
    /// Its record, or why it was given up.
    pub words: String,
}

/// The queue of one job, over one connection. Each call is done as a whole, or not at all.
pub trait Queue: Send {
    /// Takes part in the job, or, if it `may_begin`, begins it. Others with another `digest` do something else with the same
    /// trees.
    fn join(&mut self, shown: &str, digest: &str, may_begin: bool) -> fault::Result<Joined>;
    /// Whether it is still ours to divide the job; then it is for a while longer.
    fn plan_on(&mut self, token: i64) -> fault::Result<bool>;
    /// The job is divided into parts with these keys, and what is left. `anew` where what is known of the rest is no longer
    /// true.
    fn divide(&mut self, token: i64, probe: &str, parts: &BTreeSet<Vec<u8>>, anew: bool)
    -> fault::Result<()>;
    /// The next part that nobody works on. The rest comes when all others are done.
    fn take(&mut self, round: i64) -> fault::Result<Work>;
    /// Whether the part is still ours; then it is for a while longer.
    fn extend(&mut self, held: &Lease) -> fault::Result<bool>;
    /// The part is done: what it found is everybody's, unless somebody else has it by now. With the rest, the round is done,
    /// and this came of it.
    fn commit(
        &mut self,
        held: &Lease,
        found: &Found,
        record: &str,
        verdict: Option<&Verdict>,
    ) -> fault::Result<()>;
    /// The part is given back, as far as it is: somebody asked us to stop.
    fn give_back(&mut self, held: &Lease, index: &[u8]) -> fault::Result<()>;
    /// The part failed: somebody tries it again, or it is given up with these words.
    fn fail(&mut self, held: &Lease, words: &str) -> fault::Result<()>;
    /// The rest failed for good, and with it the round. The next one looks at the destination of every part: what was to be
    /// deleted there is in no index.
    fn end(&mut self, held: &Lease, verdict: &Verdict) -> fault::Result<()>;
    /// A large file of a part of ours, in so many stretches that others may take, too. What was done of the same is kept.
    fn open_file(&mut self, held: &Lease, path: &[u8], head: &[u8], stretches: u64) -> fault::Result<()>;
    /// A stretch of this file that nobody works on, or that somebody could not do.
    fn take_stretch(&mut self, path: &[u8]) -> fault::Result<Option<Stretch>>;
    /// Whether the stretch is still ours; then it is for a while longer.
    fn extend_stretch(&mut self, held: &Stretch) -> fault::Result<bool>;
    /// The stretch is done, durably, unless somebody else has it by now; false says that.
    fn commit_stretch(&mut self, held: &Stretch, done: &[u8]) -> fault::Result<bool>;
    /// The stretch is given back; one that `failed` is for whoever has the part.
    fn give_back_stretch(&mut self, held: &Stretch, failed: bool) -> fault::Result<()>;
    /// What is done of a file, but for what is known.
    fn finished(&mut self, path: &[u8], known: &[u64]) -> fault::Result<Vec<(u64, Vec<u8>)>>;
    /// Large files of a part that somebody began.
    fn begun(&mut self, held: &Lease) -> fault::Result<Vec<Begun>>;
    /// What the parts found.
    fn results(&mut self) -> fault::Result<Results>;
    /// A blob of a part; empty where there is none.
    fn blob(&mut self, path: &[u8], kind: &str) -> fault::Result<Vec<u8>>;
    /// Waits until somebody changed something, or for this time.
    fn wait(&mut self, longest: Duration) -> fault::Result<()>;
}

/// Somebody else has what was ours.
pub fn lost() -> Fault {
    Fault::new(Kind::Interrupted, "somebody else took over what this mover worked on")
        .hint("it took longer than its lease to answer; give a longer one with --lease")
}

/// Whether it is that.
pub fn is_lost(fault: &Fault) -> bool {
    fault.kind() == Kind::Interrupted
}
