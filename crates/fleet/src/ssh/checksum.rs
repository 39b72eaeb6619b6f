//! The checksum of POSIX `cksum`: every host has it.

/// CRC-32 with the polynomial 0x04c11db7, first bit first, over the bytes and then their number (POSIX.1-2017, cksum).
pub(super) fn cksum(bytes: &[u8]) -> u32 {
    let table = table();
    let step = |crc: u32, byte: u8| (crc << 8) ^ table[((crc >> 24) ^ u32::from(byte)) as usize];
    let mut crc = bytes.iter().fold(0, |crc, byte| step(crc, *byte));
    let mut length = bytes.len();
    while length > 0 {
        crc = step(crc, (length & 0xff) as u8);
        length >>= 8;
    }
    !crc
}

fn table() -> [u32; 256] {
    std::array::from_fn(|index| {
        (0..8).fold(
            (index as u32) << 24,
            |crc, _| if crc >> 31 == 1 { (crc << 1) ^ 0x04c1_1db7 } else { crc << 1 },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_cksum_prints() {
        assert_eq!(cksum(b""), 4_294_967_295);
        assert_eq!(cksum(b"123456789"), 930_766_865);
        assert_eq!(cksum(b"forebay\n"), reference(b"forebay\n"));
    }

    /// The tool itself.
    fn reference(bytes: &[u8]) -> u32 {
        use std::io::Write as _;
        use std::process::{Command, Stdio};
        let mut tool = Command::new("cksum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        tool.stdin.take().unwrap().write_all(bytes).unwrap();
        let out = tool.wait_with_output().unwrap().stdout;
        String::from_utf8(out).unwrap().split(' ').next().unwrap().parse().unwrap()
    }
}
