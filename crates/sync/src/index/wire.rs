//! Numbers and byte strings on disk: LEB128, zigzag for signed ones. Reading never panics and never reads beyond its end.

use fault::{Fault, Kind};

/// What damaged bytes are called.
pub fn damaged() -> Fault {
    Fault::new(Kind::Corrupt, "the record of the last sync is damaged")
        .hint("remove the state directory; the next sync then compares both sides again")
}

/// Appends an unsigned number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a signed number.
pub fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// Appends bytes with their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes an unsigned number from the front.
pub fn take(from: &mut &[u8]) -> fault::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or_else(damaged)?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(damaged())
}

/// Takes a signed number.
pub fn take_signed(from: &mut &[u8]) -> fault::Result<i64> {
    let number = take(from)?;
    Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

/// Takes a number that must fit 32 bits.
pub fn take_u32(from: &mut &[u8]) -> fault::Result<u32> {
    u32::try_from(take(from)?).map_err(|_| damaged())
}

/// Takes `length` bytes.
pub fn take_slice<'a>(from: &mut &'a [u8], length: u64) -> fault::Result<&'a [u8]> {
    let length = usize::try_from(length).map_err(|_| damaged())?;
    let (slice, rest) = from.split_at_checked(length).ok_or_else(damaged)?;
    *from = rest;
    Ok(slice)
}

/// Takes bytes with their length.
pub fn take_bytes<'a>(from: &mut &'a [u8]) -> fault::Result<&'a [u8]> {
    let length = take(from)?;
    take_slice(from, length)
}

/// Takes byte strings with their number before them.
pub fn take_list(from: &mut &[u8]) -> fault::Result<Vec<Vec<u8>>> {
    let count = take(from)?;
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(take_bytes(from)?.to_vec());
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_survive(number: u64, signed: i64, bytes: Vec<u8>) {
            let mut out = Vec::new();
            put(&mut out, number);
            put_signed(&mut out, signed);
            put_bytes(&mut out, &bytes);
            let mut rest = &out[..];
            proptest::prop_assert_eq!(take(&mut rest).unwrap(), number);
            proptest::prop_assert_eq!(take_signed(&mut rest).unwrap(), signed);
            proptest::prop_assert_eq!(take_bytes(&mut rest).unwrap(), &bytes[..]);
            proptest::prop_assert!(rest.is_empty());
        }

        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while take_signed(&mut rest).is_ok() {}
            let _ = take_bytes(&mut &bytes[..]);
        }
    }
}
