//! Calls of a queue that another process keeps: what is asked, what is answered, and the blobs that go with it.

use fault::{Fault, Kind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::merge::Verdict;
use super::queue::{Joined, Lease, Results, Stretch, Work};
use super::told::Told;
use crate::index::wire::{put_bytes, take_bytes};

/// What a rank asks the first one. Blobs follow in the order in which they are named.
#[derive(Debug, Serialize, Deserialize)]
pub enum Call {
    Join {
        shown: String,
        digest: String,
        may_begin: bool,
    },
    PlanOn {
        token: i64,
    },
    Divide {
        token: i64,
        probe: String,
        parts: Vec<Vec<u8>>,
        anew: bool,
    },
    Take {
        round: i64,
    },
    Extend {
        held: Lease,
    },
    /// With the index, and what is left.
    Commit {
        held: Lease,
        entries: u64,
        record: String,
        verdict: Option<Verdict>,
    },
    /// With the index.
    GiveBack {
        held: Lease,
    },
    Fail {
        held: Lease,
        words: String,
    },
    End {
        held: Lease,
        verdict: Verdict,
    },
    OpenFile {
        held: Lease,
        path: Vec<u8>,
        head: Vec<u8>,
        stretches: u64,
    },
    TakeStretch {
        path: Vec<u8>,
    },
    ExtendStretch {
        held: Stretch,
    },
    /// With what is done.
    CommitStretch {
        held: Stretch,
    },
    GiveBackStretch {
        held: Stretch,
        failed: bool,
    },
    Finished {
        path: Vec<u8>,
        known: Vec<u64>,
    },
    Begun {
        held: Lease,
    },
    Results,
    Blob {
        path: Vec<u8>,
        kind: String,
    },
    /// An entry could not be done.
    Failed {
        path: Vec<u8>,
        why: Told,
        unstable: bool,
    },
    /// Something a person should know.
    Note(String),
}

/// What the first rank answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    Done,
    Is(bool),
    Joined(Joined),
    Work(Work),
    Stretch(Option<Stretch>),
    /// Numbers; what is done follows, in their order.
    Finished(Vec<u64>),
    /// Paths, heads and numbers; what is done follows.
    Begun(Vec<(Vec<u8>, Vec<u8>, Vec<u64>)>),
    Results(Results),
    /// It follows.
    Blob,
    Failed(Told),
}

/// Words and blobs as they travel.
pub fn pack(words: &impl Serialize, blobs: &[&[u8]]) -> fault::Result<Vec<u8>> {
    let words = serde_json::to_vec(words)
        .map_err(|error| Fault::new(Kind::Bug, "cannot write a message").caused_by(error))?;
    let mut packed =
        Vec::with_capacity(words.len() + blobs.iter().map(|blob| blob.len() + 10).sum::<usize>());
    put_bytes(&mut packed, &words);
    blobs.iter().for_each(|blob| put_bytes(&mut packed, blob));
    Ok(packed)
}

/// Words and blobs as they were sent.
pub fn unpack<T: DeserializeOwned>(mut packed: &[u8]) -> fault::Result<(T, Vec<Vec<u8>>)> {
    let words = take_bytes(&mut packed).map_err(|_| foreign())?;
    let words = serde_json::from_slice(words).map_err(|error| foreign().caused_by(error))?;
    let mut blobs = Vec::new();
    while !packed.is_empty() {
        blobs.push(take_bytes(&mut packed).map_err(|_| foreign())?.to_vec());
    }
    Ok((words, blobs))
}

/// Something else was answered than asked.
pub fn foreign() -> Fault {
    Fault::new(Kind::Corrupt, "a message of another version").hint("start the same program on every host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_arrives() {
        let call = Call::Blob { path: b"a/\xff".to_vec(), kind: "index".to_owned() };
        let packed = pack(&call, &[b"one", b"", &[7; 300]]).unwrap();
        let (call, blobs): (Call, _) = unpack(&packed).unwrap();
        assert!(matches!(call, Call::Blob { path, kind } if path == b"a/\xff" && kind == "index"));
        assert_eq!(blobs, [b"one".to_vec(), Vec::new(), vec![7; 300]]);
        for length in 0..packed.len() {
            let cut = unpack::<Call>(&packed[..length]);
            assert!(cut.is_err() || cut.unwrap().1.len() < 3);
        }
    }
}
