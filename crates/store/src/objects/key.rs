//! Paths are bytes, keys are text that stores, gateways and clients take in different ways. What might be lost on the way is
//! written `%XX`.

/// Bytes that [`key_of`] may escape, so that reading knows an escape from a per cent sign that was there.
const fn may_be_escaped(byte: u8) -> bool {
    byte < 0x20 || byte >= 0x7f || matches!(byte, b' ' | b'\\' | b'.' | b'%')
}

/// The key of a relative path: the path itself where it is plain text; otherwise with bytes that are no UTF-8, control
/// characters, backslashes, blanks at the ends of names and dots at their ends written as `%XX`. [`path_of`] is its
/// inverse. `reserved` is a name of the first level that must not come out.
pub fn key_of(path: &[u8], reserved: &str) -> String {
    let mut key = String::with_capacity(path.len() + 8);
    for (level, name) in path.split(|byte| *byte == b'/').enumerate() {
        if level > 0 {
            key.push('/');
        }
        if level == 0 && name == reserved.as_bytes() && !name.is_empty() {
            escape(&name[..1], &mut key);
            push_name(&name[1..], name.len(), &mut key);
        } else {
            push_name(name, name.len(), &mut key);
        }
    }
    key
}

/// Appends the last bytes of a name that has `length` bytes.
fn push_name(name: &[u8], length: usize, key: &mut String) {
    let mut at = length - name.len();
    for piece in name.utf8_chunks() {
        for letter in piece.valid().chars() {
            let bytes = letter.len_utf8();
            let is_end = at == 0 || at + bytes == length;
            let rest = &name[at + name.len() - length..];
            let odd = letter.is_control()
                || letter == '\\'
                || matches!(letter, '\u{fffe}' | '\u{ffff}')
                || (letter.is_whitespace() && (is_end || letter != ' '))
                || (letter == '.' && at + bytes == length)
                || (letter == '%' && escaped_byte(rest).is_some());
            if odd {
                escape(letter.encode_utf8(&mut [0; 4]).as_bytes(), key);
            } else {
                key.push(letter);
            }
            at += bytes;
        }
        escape(piece.invalid(), key);
        at += piece.invalid().len();
    }
}

fn escape(bytes: &[u8], key: &mut String) {
    use std::fmt::Write as _;
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(key, "%{byte:02X}");
    }
}

/// The byte that an escape at the start of `text` stands for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *text else { return None };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some((digit(high)? << 4) | digit(low)?).filter(|byte| may_be_escaped(*byte))
}

/// The path of a key. Where the key was not made by [`key_of`], it is its own path, if it can be one: `None` where it has
/// empty names, `.` or `..`, NUL, or names of more than 255 bytes. The slash of a directory's mark must be taken off first.
pub fn path_of(key: &str, reserved: &str) -> Option<Vec<u8>> {
    let mut path = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes();
    while let Some((&byte, later)) = rest.split_first() {
        if let Some(byte) = escaped_byte(rest) {
            path.push(byte);
            rest = &rest[3..];
        } else {
            path.push(byte);
            rest = later;
        }
    }
    if key_of(&path, reserved) != key {
        path = key.as_bytes().to_vec();
    }
    let can_be = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && name.len() <= 255 && !name.contains(&0);
    path.split(|byte| *byte == b'/').all(can_be).then_some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_stay_and_odd_ones_are_escaped() {
        for (path, key) in [
            (&b"a/b c/d.txt"[..], "a/b c/d.txt"),
            (b"100%", "100%"),
            (b"%41%zz", "%41%zz"),
            (b"%25", "%2525"),
            (b"\xff\n", "%FF%0A"),
            (b" a / b", "%20a%20/%20b"),
            (b"end.", "end%2E"),
            (b"...", "..%2E"),
            (b"a\\b", "a%5Cb"),
            (b".own/x", "%2Eown/x"),
            (b"x/.own", "x/.own"),
            ("é😀".as_bytes(), "é😀"),
        ] {
            assert_eq!(key_of(path, ".own"), key);
            assert_eq!(path_of(key, ".own").unwrap(), path);
        }
    }

    #[test]
    fn keys_of_others_are_their_own_paths_or_none() {
        assert_eq!(path_of("100%25", "").unwrap(), b"100%25");
        assert_eq!(path_of("a%2Fb", "").unwrap(), b"a%2Fb");
        for key in ["", "a//b", "/a", "a/", "./a", "a/..", "a\0"] {
            assert_eq!(path_of(key, ""), None, "{key:?}");
        }
    }

    fn name() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop_oneof![any::<u8>(), Just(b'%'), Just(b'2'), Just(b'E'), Just(b'.'), Just(b' ')];
        proptest::collection::vec(bytes.prop_filter("a name", |b| *b != 0 && *b != b'/'), 1..12)
            .prop_filter("a name", |name| name != b"." && name != b"..")
    }

    proptest! {
        #[test]
        fn every_path_survives(names in proptest::collection::vec(name(), 1..4)) {
            let path = names.join(&b'/');
            let key = key_of(&path, ".f");
            prop_assert_eq!(path_of(&key, ".f"), Some(path));
            for name in key.split('/') {
                prop_assert!(name.trim() == name && !name.ends_with('.') && !name.contains(char::is_control));
            }
            prop_assert!(!key.starts_with(".f/") && key != ".f");
        }

        #[test]
        fn no_key_panics(key in ".{0,40}") {
            let _ = path_of(&key, ".f");
        }
    }
}
