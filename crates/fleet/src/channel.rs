use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame::{Decoder, Frame};
use crate::greeting::{MAGIC, written};
use crate::streams::{Autopsy, Stream};

/// How long a wait lasts before it is looked whether it still has a point.
const SLICE: Duration = Duration::from_millis(100);
/// What a login shell may print before the agent begins.
const MOST_NOISE: usize = 1 << 20;

/// The two ends of a connection before the run begins, when what comes is awaited.
#[derive(Debug)]
pub(crate) struct Channel {
    reader: OwnedFd,
    writer: OwnedFd,
    decoder: Decoder,
}

/// Why what was awaited did not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The connection ended.
    Ended,
    /// Nothing came in time.
    Silent,
    /// Nobody wants it any more.
    Cancelled,
    /// Something else came.
    Foreign(String),
}

/// Until when to wait, and what ends it before.
#[derive(Clone, Copy)]
pub(crate) struct Wait<'a> {
    pub until: Instant,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Channel {
    pub fn new(reader: OwnedFd, writer: OwnedFd) -> Self {
        let _ = rustix::io::ioctl_fionbio(&reader, true);
        let _ = rustix::io::ioctl_fionbio(&writer, true);
        Self { reader, writer, decoder: Decoder::default() }
    }

    /// Skips what comes before an agent's first words; returns it if they never come.
    pub fn find_agent(&mut self, wait: Wait<'_>) -> Result<(), (Trouble, String)> {
        let mut noise = Vec::new();
        let words = |noise: &[u8]| String::from_utf8_lossy(noise).trim().to_owned();
        loop {
            let some = self.read(wait).map_err(|trouble| (trouble, words(&noise)))?;
            noise.extend(some);
            if let Some(place) = noise.windows(MAGIC.len()).position(|window| window == MAGIC) {
                self.decoder.push(&noise[place + MAGIC.len()..]);
                return Ok(());
            }
            if noise.len() > MOST_NOISE {
                return Err((Trouble::Foreign("no agent".to_owned()), words(&noise)));
            }
        }
    }

    pub fn receive<T: DeserializeOwned>(&mut self, wait: Wait<'_>) -> Result<T, Trouble> {
        loop {
            match self.decoder.next().map_err(|fault| Trouble::Foreign(fault.message().to_owned()))? {
                Some(Frame::Greeting(bytes)) => {
                    let foreign = |error: serde_json::Error| Trouble::Foreign(error.to_string());
                    return serde_json::from_slice(&bytes).map_err(foreign);
                }
                Some(Frame::Beat) => {}
                Some(_) => return Err(Trouble::Foreign("a message out of turn".to_owned())),
                None => {
                    let some = self.read(wait)?;
                    self.decoder.push(&some);
                }
            }
        }
    }

    pub fn send<T: Serialize>(&mut self, words: &T, wait: Wait<'_>) -> Result<(), Trouble> {
        let bytes = written(words).map_err(|fault| Trouble::Foreign(fault.message().to_owned()))?;
        let mut frame = Vec::new();
        Frame::Greeting(bytes).write(&mut frame);
        self.write(&frame, wait)
    }

    pub fn write(&mut self, mut bytes: &[u8], wait: Wait<'_>) -> Result<(), Trouble> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.writer, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.await_one(wait, true)?,
                Err(_) => return Err(Trouble::Ended),
            }
        }
        Ok(())
    }

    fn read(&mut self, wait: Wait<'_>) -> Result<Vec<u8>, Trouble> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            match rustix::io::read(&self.reader, &mut *buffer) {
                Ok(0) => return Err(Trouble::Ended),
                Ok(count) => {
                    buffer.truncate(count);
                    return Ok(buffer);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.await_one(wait, false)?,
                Err(_) => return Err(Trouble::Ended),
            }
        }
    }

    fn await_one(&self, wait: Wait<'_>, to_write: bool) -> Result<(), Trouble> {
        loop {
            if (wait.cancelled)() {
                return Err(Trouble::Cancelled);
            }
            let left = wait.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Silent);
            }
            let slice = left.min(SLICE);
            let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(slice.subsec_nanos()) };
            let (end, flags) =
                if to_write { (&self.writer, PollFlags::OUT) } else { (&self.reader, PollFlags::IN) };
            let ready = poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), flags)], Some(&slice));
            if ready.is_ok_and(|ready| ready > 0) {
                return Ok(());
            }
        }
    }

    /// Both ends, which wait again as files usually do, and what was read beyond the greeting.
    pub fn into_ends(self) -> (OwnedFd, OwnedFd, Vec<u8>) {
        let _ = rustix::io::ioctl_fionbio(&self.reader, false);
        let _ = rustix::io::ioctl_fionbio(&self.writer, false);
        (self.reader, self.writer, self.decoder.into_rest())
    }

    /// As a neighbour's connection once the run begins.
    pub fn into_stream(self, autopsy: Autopsy) -> Stream {
        Stream { reader: self.reader, writer: self.writer, decoder: self.decoder, autopsy }
    }
}
