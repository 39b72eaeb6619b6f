//! What a connection carries: frames of a length, a number that joins an answer to its question, and a body.

use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// No body is longer, bytes.
pub const LONGEST: usize = 10 << 20;
/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Joins answers to their question.
    pub number: u32,
    /// What it says.
    pub body: Vec<u8>,
}

/// Writes a frame whose body is `head` and `tail`.
pub fn write_frame(out: &mut dyn Write, number: u32, head: &[u8], tail: &[u8]) -> io::Result<()> {
    let length = head.len() + tail.len();
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "more than one message holds"));
    }
    let mut start = Vec::with_capacity(8 + head.len());
    start.extend_from_slice(&(length as u32).to_le_bytes());
    start.extend_from_slice(&number.to_le_bytes());
    start.extend_from_slice(head);
    out.write_all(&start)?;
    if tail.is_empty() { Ok(()) } else { out.write_all(tail) }
}

/// Reads the next frame; `None` at the end of the connection between two of them.
pub fn read_frame(from: &mut dyn Read) -> io::Result<Option<Frame>> {
    let mut start = [0; 8];
    let mut read = 0;
    while read < start.len() {
        match from.read(&mut start[read..]) {
            Ok(0) if read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let word = |at: usize| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    let length = word(0) as usize;
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message of an impossible length"));
    }
    // As it comes: a length alone takes no memory.
    let mut body = Vec::with_capacity(length.min(BUFFER));
    from.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(Frame { number: word(4), body }))
}

/// One end of a connection, read with what came before anybody did. With a patience, silence for so long is an error.
pub struct Ear {
    file: std::fs::File,
    ahead: io::Cursor<Vec<u8>>,
    patience: Option<Duration>,
}

impl Ear {
    /// Of this end.
    pub fn new(file: std::fs::File, ahead: Vec<u8>, patience: Option<Duration>) -> io::BufReader<Self> {
        io::BufReader::with_capacity(BUFFER, Self { file, ahead: io::Cursor::new(ahead), patience })
    }

    fn wait(&self) -> io::Result<()> {
        let Some(patience) = self.patience else { return Ok(()) };
        let time =
            Timespec { tv_sec: patience.as_secs().cast_signed(), tv_nsec: patience.subsec_nanos().into() };
        let mut ends = [PollFd::from_borrowed_fd(self.file.as_fd(), PollFlags::IN)];
        if poll(&mut ends, Some(&time))? == 0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl Read for Ear {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.ahead.read(buffer)? {
            0 => {
                self.wait()?;
                self.file.read(buffer)
            }
            count => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_as_they_were_sent() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 7, b"head", b"tail").unwrap();
        write_frame(&mut bytes, u32::MAX, b"", b"").unwrap();
        let mut from = &bytes[..];
        let first = read_frame(&mut from).unwrap().unwrap();
        assert_eq!((first.number, &first.body[..]), (7, &b"headtail"[..]));
        assert_eq!(read_frame(&mut from).unwrap(), Some(Frame { number: u32::MAX, body: Vec::new() }));
        assert_eq!(read_frame(&mut from).unwrap(), None);
        assert!(write_frame(&mut bytes, 1, &[0; 8], &vec![0; LONGEST]).is_err());
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert!(read_frame(&mut &[255u8; 64][..]).is_err());
        assert!(read_frame(&mut &[16u8, 0, 0, 0, 1, 0, 0, 0, 5][..]).is_err());
        assert!(read_frame(&mut &[16u8, 0, 0][..]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_as_frames(bytes: Vec<u8>) {
            let mut from = &bytes[..];
            while let Ok(Some(_)) = read_frame(&mut from) {}
        }
    }
}
