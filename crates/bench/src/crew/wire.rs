//! How what processes tell each other is written: JSON, and distributions beside it as they are.

use fault::{Fault, Kind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A failure on its way to the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireFault {
    kind: u8,
    message: String,
    hint: Option<String>,
}

const KINDS: [Kind; 11] = [
    Kind::Usage,
    Kind::Spec,
    Kind::NotFound,
    Kind::Denied,
    Kind::NoSpace,
    Kind::Refused,
    Kind::Io,
    Kind::Corrupt,
    Kind::Interrupted,
    Kind::Unsupported,
    Kind::Bug,
];

impl From<&Fault> for WireFault {
    fn from(fault: &Fault) -> Self {
        let kind = KINDS.iter().position(|kind| *kind == fault.kind()).unwrap_or(KINDS.len() - 1);
        Self {
            kind: kind as u8,
            message: fault.message().to_owned(),
            hint: fault.hint_text().map(str::to_owned),
        }
    }
}

impl From<WireFault> for Fault {
    fn from(wire: WireFault) -> Self {
        let kind = KINDS.get(usize::from(wire.kind)).copied().unwrap_or(Kind::Bug);
        let fault = Self::new(kind, wire.message);
        match wire.hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

/// Writes a message.
pub fn pack(message: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(message).map_err(|error| {
        Fault::new(Kind::Bug, format!("cannot express a message between processes: {error}"))
    })
}

/// Reads a message.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        Fault::new(Kind::Corrupt, format!("a message from another process of the run can't be read: {error}"))
            .hint("the processes of a run must be of the same version: compare `forebay --version` on every host")
    })
}

/// Bytes that are read from the front.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// A number of variable length (LEB128).
    pub fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte, rest @ ..] = self.0 else { return Err(cut_short()) };
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(cut_short())
    }

    /// Bytes behind their number.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.number()?;
        let length =
            usize::try_from(length).ok().filter(|length| *length <= self.0.len()).ok_or_else(cut_short)?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }
}

/// Writes a number of variable length (LEB128).
pub fn push_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Writes bytes behind their number.
pub fn push_bytes(bytes: &mut Vec<u8>, more: &[u8]) {
    push_number(bytes, more.len() as u64);
    bytes.extend_from_slice(more);
}

fn cut_short() -> Fault {
    Fault::new(Kind::Corrupt, "a message from another process of the run is cut short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_come_back_and_cut_ones_are_told() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.iter().for_each(|number| push_number(&mut bytes, *number));
        push_bytes(&mut bytes, b"abc");
        let mut reader = Reader(&bytes);
        for number in numbers {
            assert_eq!(reader.number().unwrap(), number);
        }
        assert_eq!(reader.bytes().unwrap(), b"abc");
        assert!(reader.number().is_err());
        assert!(Reader(&[5, 1]).bytes().is_err() && Reader(&[0x80]).number().is_err());
    }

    #[test]
    fn a_failure_stays_what_it_is() {
        let fault = Fault::new(Kind::NoSpace, "full").hint("empty it");
        let back: Fault = unpack::<WireFault>(&pack(&WireFault::from(&fault)).unwrap()).unwrap().into();
        assert_eq!(
            (back.kind(), back.message(), back.hint_text()),
            (Kind::NoSpace, "full", Some("empty it"))
        );
        assert_eq!(unpack::<WireFault>(b"{").unwrap_err().kind(), Kind::Corrupt);
    }
}
