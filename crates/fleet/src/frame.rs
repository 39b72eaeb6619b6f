//! What neighbours tell each other: a length (u32, little endian), a letter, and a body.

use fault::{Fault, Kind, Result};

use crate::{Aborted, Clock};

/// Nothing we send comes near; a larger length is not ours.
const LONGEST: usize = 1 << 30;

/// One message between two neighbours of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Still here.
    Beat,
    /// Up: what a process and all below it bring to a round.
    Bring { round: u64, what: Brought },
    /// Down: what a round came to.
    Agreed { round: u64, what: Agreed },
    /// Both ways: ranks are to stop. Counts until the `epoch`-th resume.
    Stop { epoch: u64, reason: u8 },
    /// Up: need not arrive.
    Post { process: u32, bytes: Vec<u8> },
    /// Up: a piece of what a process asks the root.
    Ask(Piece),
    /// Down: a piece of what the root answers.
    Answer(Piece),
    /// Down: what time is it with you?
    Ping { number: u64 },
    /// Up: the answer, ns of the monotonic clock.
    Pong { number: u64, at_ns: u64 },
    /// Up: processes that are gone, and why.
    Lost(Vec<(u32, String)>),
    /// Down: the run is over, and this is how it went.
    Bye { code: u8 },
    /// Up: a process and all below it end as planned.
    Left,
    /// Before the run: a document of [`crate::greeting`].
    Greeting(Vec<u8>),
}

/// A piece of a question, or of its answer. They arrive in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Who asked.
    pub process: u32,
    /// Of its question.
    pub number: u64,
    /// Nothing more follows.
    pub last: bool,
    pub bytes: Vec<u8>,
}

/// What is brought to a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brought {
    /// The largest value so far; none calls the round off.
    Value(Option<u64>),
    /// What each process brought.
    Bytes(Vec<(u32, Vec<u8>)>),
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agreed {
    Value(std::result::Result<u64, Aborted>),
    Bytes(Vec<u8>),
    Clock(Clock),
}

impl Frame {
    /// Appends the frame as it travels.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([0; 4]);
        self.write_body(out);
        let length = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        match self {
            Self::Beat => out.push(b'b'),
            Self::Bring { round, what: Brought::Value(value) } => {
                put(out, b'v', &[*round, u64::from(value.is_some()), value.unwrap_or(0)]);
            }
            Self::Bring { round, what: Brought::Bytes(all) } => {
                put(out, b'y', &[*round]);
                all.iter().for_each(|(process, bytes)| put_item(out, *process, bytes));
            }
            Self::Agreed { round, what: Agreed::Value(value) } => {
                put(out, b'V', &[*round, u64::from(value.is_ok()), value.unwrap_or(0)]);
            }
            Self::Agreed { round, what: Agreed::Bytes(bytes) } => {
                put(out, b'Y', &[*round]);
                out.extend(bytes);
            }
            Self::Agreed { round, what: Agreed::Clock(clock) } => {
                put(out, b'C', &[*round, clock.offset_ns.cast_unsigned(), clock.uncertainty_ns]);
            }
            Self::Stop { epoch, reason } => put(out, b's', &[*epoch, u64::from(*reason)]),
            Self::Post { process, bytes } => {
                put(out, b'p', &[u64::from(*process)]);
                out.extend(bytes);
            }
            Self::Ask(piece) => piece.write(out, b'q'),
            Self::Answer(piece) => piece.write(out, b'a'),
            Self::Ping { number } => put(out, b'?', &[*number]),
            Self::Pong { number, at_ns } => put(out, b'!', &[*number, *at_ns]),
            Self::Lost(lost) => {
                out.push(b'l');
                lost.iter().for_each(|(process, why)| put_item(out, *process, why.as_bytes()));
            }
            Self::Bye { code } => put(out, b'e', &[u64::from(*code)]),
            Self::Left => out.push(b'L'),
            Self::Greeting(bytes) => {
                out.push(b'g');
                out.extend(bytes);
            }
        }
    }

    /// The frame whose letter and body are `bytes`.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        Self::read_body(bytes).ok_or_else(|| foreign("a message that no forebay sends"))
    }

    fn read_body(bytes: &[u8]) -> Option<Self> {
        let (letter, body) = bytes.split_first()?;
        let mut body = Body(body);
        Some(match letter {
            b'b' => Self::Beat,
            b'v' => Self::Bring {
                round: body.number()?,
                what: Brought::Value((body.number()? == 1).then_some(body.number()?)),
            },
            b'y' => Self::Bring { round: body.number()?, what: Brought::Bytes(body.items()?) },
            b'V' => Self::Agreed {
                round: body.number()?,
                what: Agreed::Value(if body.number()? == 1 { Ok(body.number()?) } else { Err(Aborted) }),
            },
            b'Y' => Self::Agreed { round: body.number()?, what: Agreed::Bytes(body.rest()) },
            b'C' => {
                let round = body.number()?;
                let (offset_ns, uncertainty_ns) = (body.number()?.cast_signed(), body.number()?);
                Self::Agreed { round, what: Agreed::Clock(Clock { offset_ns, uncertainty_ns }) }
            }
            b's' => Self::Stop { epoch: body.number()?, reason: u8::try_from(body.number()?).ok()? },
            b'p' => Self::Post { process: u32::try_from(body.number()?).ok()?, bytes: body.rest() },
            b'q' => Self::Ask(Piece::read(&mut body)?),
            b'a' => Self::Answer(Piece::read(&mut body)?),
            b'?' => Self::Ping { number: body.number()? },
            b'!' => Self::Pong { number: body.number()?, at_ns: body.number()? },
            b'l' => {
                let words = |(process, why): (u32, Vec<u8>)| (process, String::from_utf8_lossy(&why).into());
                Self::Lost(body.items()?.into_iter().map(words).collect())
            }
            b'e' => Self::Bye { code: u8::try_from(body.number()?).ok()? },
            b'L' => Self::Left,
            b'g' => Self::Greeting(body.rest()),
            _ => return None,
        })
    }
}

impl Piece {
    fn write(&self, out: &mut Vec<u8>, letter: u8) {
        put(out, letter, &[u64::from(self.process), self.number, u64::from(self.last)]);
        out.extend(&self.bytes);
    }

    fn read(body: &mut Body<'_>) -> Option<Self> {
        let (process, number) = (u32::try_from(body.number()?).ok()?, body.number()?);
        Some(Self { process, number, last: body.number()? == 1, bytes: body.rest() })
    }
}

fn put(out: &mut Vec<u8>, letter: u8, numbers: &[u64]) {
    out.push(letter);
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
}

fn put_item(out: &mut Vec<u8>, process: u32, bytes: &[u8]) {
    out.extend(process.to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

/// What is left to read of a body.
struct Body<'a>(&'a [u8]);

impl Body<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn short(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn items(&mut self) -> Option<Vec<(u32, Vec<u8>)>> {
        let mut items = Vec::new();
        while !self.0.is_empty() {
            let (process, length) = (self.short()?, self.short()? as usize);
            let (bytes, rest) = self.0.split_at_checked(length)?;
            items.push((process, bytes.to_vec()));
            self.0 = rest;
        }
        Some(items)
    }

    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).to_vec()
    }
}

/// Bytes as they come, cut into frames.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    read: usize,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend(bytes);
    }

    /// What has come and was not taken.
    pub fn into_rest(mut self) -> Vec<u8> {
        self.bytes.split_off(self.read)
    }

    /// The next whole frame, if there is one.
    pub fn next(&mut self) -> Result<Option<Frame>> {
        let left = &self.bytes[self.read..];
        let Some((length, body)) = left.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST {
            return Err(foreign("a message of an impossible length"));
        }
        let Some(body) = body.get(..length) else { return Ok(None) };
        let frame = Frame::read(body)?;
        self.read += 4 + length;
        Ok(Some(frame))
    }
}

fn foreign(what: &str) -> Fault {
    Fault::new(Kind::Corrupt, format!("{what} came over the connection"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        let clock = Clock { offset_ns: -5, uncertainty_ns: 7 };
        vec![
            Frame::Beat,
            Frame::Bring { round: 1, what: Brought::Value(None) },
            Frame::Bring { round: 2, what: Brought::Value(Some(u64::MAX)) },
            Frame::Bring { round: 3, what: Brought::Bytes(vec![(4, vec![1, 2]), (9, Vec::new())]) },
            Frame::Agreed { round: 4, what: Agreed::Value(Err(Aborted)) },
            Frame::Agreed { round: 5, what: Agreed::Value(Ok(3)) },
            Frame::Agreed { round: 6, what: Agreed::Bytes(vec![0; 70_000]) },
            Frame::Agreed { round: 7, what: Agreed::Clock(clock) },
            Frame::Stop { epoch: 8, reason: 255 },
            Frame::Post { process: 3, bytes: vec![9] },
            Frame::Ask(Piece { process: 7, number: 1, last: false, bytes: vec![5; 9] }),
            Frame::Answer(Piece { process: 7, number: u64::MAX, last: true, bytes: Vec::new() }),
            Frame::Ping { number: 1 },
            Frame::Pong { number: 1, at_ns: 2 },
            Frame::Lost(vec![(2, "no answer".to_owned())]),
            Frame::Bye { code: 4 },
            Frame::Left,
            Frame::Greeting(b"{}".to_vec()),
        ]
    }

    #[test]
    fn frames_arrive_as_they_were_sent_however_they_are_cut() {
        let mut bytes = Vec::new();
        all().iter().for_each(|frame| frame.write(&mut bytes));
        for piece in [1, 3, 4096, bytes.len()] {
            let mut decoder = Decoder::default();
            let mut arrived = Vec::new();
            for part in bytes.chunks(piece) {
                decoder.push(part);
                while let Some(frame) = decoder.next().unwrap() {
                    arrived.push(frame);
                }
            }
            assert_eq!(arrived, all());
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error_and_never_a_panic() {
        assert!(Frame::read(b"").is_err() && Frame::read(b"v12").is_err() && Frame::read(b"Zoo").is_err());
        assert!(Frame::read(b"y\x01\0\0\0\0\0\0\0\x01\0\0\0\xff\xff\xff\xff").is_err());
        let mut decoder = Decoder::default();
        decoder.push(b"Welcome to node 7!\n");
        assert!(decoder.next().is_err());
    }
}
