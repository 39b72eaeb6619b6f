/// A new run's name, `YYYYMMDD-HHMMSS-xxxxxx` in UTC: sorted by time, and different for runs started in the same second.
pub fn new_id() -> String {
    let now = jiff::Timestamp::now();
    let time = now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
    let tail = random_word().unwrap_or_else(|| stirred(now.subsec_nanosecond().unsigned_abs()));
    format!("{time}-{:06x}", tail & 0x00FF_FFFF)
}

/// Whether `text` can be (the beginning of) a run's name: letters, digits and hyphens, so never a path.
pub fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn random_word() -> Option<u32> {
    let mut bytes = [0u8; 4];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK).ok()?;
    (filled == bytes.len()).then(|| u32::from_ne_bytes(bytes))
}

/// For the first moments of a boot, when the kernel has no randomness yet.
fn stirred(nanoseconds: u32) -> u32 {
    (nanoseconds ^ std::process::id().rotate_left(16)).wrapping_mul(0x9E37_79B9) >> 8
}

/// The wall clock now, RFC 3339 in UTC with whole seconds.
pub fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_by_time_and_differ() {
        let ids: Vec<String> = (0..50).map(|_| new_id()).collect();
        for id in &ids {
            assert!(is_id(id), "{id}");
            assert_eq!(id.len(), "20261121-214226-3f9a1c".len());
            assert!(id[..8].bytes().all(|b| b.is_ascii_digit()) && &id[8..9] == "-" && &id[15..16] == "-");
        }
        let different: std::collections::HashSet<_> = ids.iter().collect();
        assert!(different.len() > 45, "24 random bits hardly ever meet");
        assert!(ids[0][..15] <= ids[49][..15]);
    }

    #[test]
    fn a_path_is_no_id() {
        for text in ["", "..", "a/b", "a.json", "/", "a\0", "ä"] {
            assert!(!is_id(text), "{text:?}");
        }
        assert!(is_id("20261121-214226-3f9a1c") && is_id("2026"));
    }
}
