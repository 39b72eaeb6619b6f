//! Content as it travels: as it is, or as nothing where it is zeros.

use store::objects::Bytes;

use super::words::foreign;
use crate::index::wire::{put, take, take_slice};

/// No piece of content is longer, bytes.
pub const MOST: u64 = 9 << 20;
/// Shorter content is not looked at.
const LEAST: usize = 64;
const PLAIN: u8 = 0;
const ZEROS: u8 = 1;

/// Appends how the content travels, and returns what follows.
pub fn put_content(out: &mut Vec<u8>, content: &Bytes) -> Bytes {
    if content.len() >= LEAST && is_zeros(content) {
        out.push(ZEROS);
        put(out, content.len() as u64);
        return Bytes::new();
    }
    out.push(PLAIN);
    content.clone()
}

/// Takes content, which is all that is left.
pub fn take_content(from: &mut &[u8]) -> fault::Result<Bytes> {
    let form = take_slice(from, 1)?[0];
    match form {
        PLAIN => Ok(Bytes::copy_from_slice(std::mem::take(from))),
        ZEROS => {
            let length = take(from)?;
            if length > MOST {
                return Err(foreign());
            }
            Ok(vec![0; length as usize].into())
        }
        _ => Err(foreign()),
    }
}

/// Whether all of it is zeros. The first byte that is not ends it, so that data costs next to nothing.
fn is_zeros(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_arrives_as_it_was_and_zeros_take_no_room() {
        for (content, length) in [
            (Vec::new(), 1),
            (vec![0; 63], 64),
            (vec![0; 1 << 20], 4),
            ([vec![0; 100], vec![1]].concat(), 102),
            (vec![7; 5], 6),
        ] {
            let bytes = Bytes::from(content);
            let mut out = Vec::new();
            let tail = put_content(&mut out, &bytes);
            out.extend_from_slice(&tail);
            assert_eq!(out.len(), length);
            assert_eq!(take_content(&mut &out[..]).unwrap(), bytes);
        }
        let mut out = vec![ZEROS];
        put(&mut out, 1 << 60);
        assert!(take_content(&mut &out[..]).is_err(), "a length alone took memory");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic_as_content(bytes: Vec<u8>) {
            let _ = take_content(&mut &bytes[..]);
        }
    }
}
