//! What a sync asks an agent, and what it answers.
//!
//! A question is a letter and its words; an answer begins with [`DONE`], [`FAILED`] or [`MORE`]. Content is always last.

mod answer;
mod ask;
#[cfg(test)]
mod tests;

use fault::{Fault, Kind};
use store::objects::Labels;

use crate::index::wire::{put, put_bytes, take, take_bytes};

pub use answer::{Listed, Opened, Words, put_object, put_outcome, take_object, take_outcome};
pub use ask::{Ask, Opening, Wanted};

/// The answer is here.
pub const DONE: u8 = 0;
/// It could not be done.
pub const FAILED: u8 = 1;
/// A part of the answer; more follows.
pub const MORE: u8 = 2;

/// What bytes are called that no agent of this version sends.
pub fn foreign() -> Fault {
    Fault::new(Kind::Corrupt, "what came over the connection is not understood")
        .hint("is another program of the same name there? see `forebay --version` on both hosts")
}

fn understood<T>(taken: fault::Result<T>) -> fault::Result<T> {
    taken.map_err(|_| foreign())
}

fn put_labels(out: &mut Vec<u8>, labels: &Labels) {
    put(out, labels.len() as u64);
    for (name, value) in labels {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value.as_bytes());
    }
}

fn take_labels(from: &mut &[u8]) -> fault::Result<Labels> {
    let mut labels = Labels::new();
    for _ in 0..take(from)? {
        labels.insert(text(take_bytes(from)?), text(take_bytes(from)?));
    }
    Ok(labels)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn put_list(out: &mut Vec<u8>, list: &[Vec<u8>]) {
    put(out, list.len() as u64);
    list.iter().for_each(|item| put_bytes(out, item));
}

fn put_path(out: &mut Vec<u8>, letter: u8, path: &[u8]) {
    out.push(letter);
    put_bytes(out, path);
}
