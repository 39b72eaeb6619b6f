//! What goes back over the connection: each answer whole, in the order that they are ready.

use std::fs::File;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use store::objects::Bytes;

use super::super::content::{Compress, Press};
use super::super::frame::write_frame;
use super::super::words::{DONE, FAILED, Listed, MORE, Words};
use crate::job::lock;

/// Where answers are written.
pub struct Desk {
    writer: Mutex<File>,
    press: OnceLock<Press>,
}

/// An answer: words, and the content that follows them.
#[derive(Default)]
pub struct Answer {
    /// The words.
    pub head: Vec<u8>,
    /// The content.
    pub tail: Bytes,
}

impl From<Vec<u8>> for Answer {
    fn from(head: Vec<u8>) -> Self {
        Self { head, tail: Bytes::new() }
    }
}

impl Desk {
    /// At this end of a connection.
    pub fn new(writer: File) -> Self {
        Self { writer: Mutex::new(writer), press: OnceLock::new() }
    }

    /// Content is pressed like this from now on.
    pub fn press_by(&self, how: Compress) {
        let _ = self.press.set(Press::new(how));
    }

    /// What presses content.
    pub fn press(&self) -> &Press {
        self.press.get_or_init(Press::default)
    }

    /// Answers a question, for good.
    pub fn end(&self, number: u32, answer: fault::Result<Answer>) {
        let written = match answer {
            Ok(Answer { head, tail }) => self.write(number, DONE, &head, &tail),
            Err(fault) => self.write_failure(number, &fault),
        };
        if written.is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidInput) {
            let text = "an entry has more attributes than can be told at once";
            let fault = fault::Fault::new(fault::Kind::Unsupported, text).hint("leave it out with --exclude");
            let _ = self.write_failure(number, &fault);
        }
    }

    fn write_failure(&self, number: u32, fault: &fault::Fault) -> std::io::Result<()> {
        let mut words = Vec::new();
        Words::of(fault).put(&mut words);
        self.write(number, FAILED, &words, &[])
    }

    /// Gives an item of an answer. An error means that nobody takes any.
    pub fn item(&self, number: u32, item: &Listed) -> std::io::Result<()> {
        let mut out = Vec::new();
        item.put(&mut out);
        self.write(number, MORE, &out, &[])
    }

    fn write(&self, number: u32, state: u8, head: &[u8], tail: &[u8]) -> std::io::Result<()> {
        let mut whole = Vec::with_capacity(1 + head.len());
        whole.push(state);
        whole.extend_from_slice(head);
        let mut writer = lock(&self.writer);
        let started = Instant::now();
        let written = write_frame(&mut *writer, number, &whole, tail);
        self.press().passed(whole.len() + tail.len(), started.elapsed());
        written
    }
}
