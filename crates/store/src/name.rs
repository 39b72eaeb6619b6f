//! Names are bytes: any but `/` and NUL, in any encoding or none.

use std::fmt::Write as _;

/// The path of `name` in the directory `dir`, both relative to a root; the root itself is the empty path.
pub fn below(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + 1 + name.len());
    if !dir.is_empty() {
        path.extend_from_slice(dir);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// The directory and the last name of a relative path.
pub fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// A path as people can read it: what is not UTF-8 or would upset a terminal is written `\xff`, and a backslash `\\`.
/// [`printable`] of different paths differs.
pub fn printable(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for piece in path.utf8_chunks() {
        for letter in piece.valid().chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                letter if letter.is_control() => {
                    escape(letter.encode_utf8(&mut [0; 4]).as_bytes(), &mut text);
                }
                letter => text.push(letter),
            }
        }
        escape(piece.invalid(), &mut text);
    }
    text
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_and_split() {
        assert_eq!(below(b"", b"a"), b"a");
        assert_eq!(below(b"a/b", b"c"), b"a/b/c");
        assert_eq!(split_last(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split_last(b"a"), (&b""[..], &b"a"[..]));
    }

    #[test]
    fn any_name_can_be_shown() {
        assert_eq!(printable(b"plain name"), "plain name");
        assert_eq!(printable(b"new\nline\xff\\"), "new\\x0aline\\xff\\\\");
        assert_eq!(printable("NFC-é".as_bytes()), "NFC-é");
    }

    proptest::proptest! {
        #[test]
        fn different_names_look_different(a: Vec<u8>, b: Vec<u8>) {
            proptest::prop_assert_eq!(a == b, printable(&a) == printable(&b));
        }
    }
}
