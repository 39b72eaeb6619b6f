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

/// The wall clock now, RFC 3339 in UTC with microseconds: runs that start in the same second still have an order.
pub fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// A time of [`timestamp`] without its parts of a second, for people.
pub fn whole_seconds(timestamp: &str) -> String {
    match timestamp.split_once('.') {
        Some((seconds, rest)) => {
            format!("{seconds}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => timestamp.to_owned(),
    }
}

/// The wall clock now in the machine's own time zone, in a form of `strftime`.
pub fn local_time(form: &str) -> String {
    jiff::Zoned::now().strftime(form).to_string()
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
    fn times_have_an_order_within_a_second_and_people_see_whole_ones() {
        let (first, second) = (timestamp(), timestamp());
        let parsed = [&first, &second].map(|text| text.parse::<jiff::Timestamp>().unwrap());
        assert!(first.len() == "2026-11-21T21:42:26.123456Z".len() && parsed[0] <= parsed[1], "{first}");
        assert_eq!(whole_seconds("2026-11-21T21:42:26.123456Z"), "2026-11-21T21:42:26Z");
        assert_eq!(whole_seconds("2026-11-21T21:42:26.5+01:00"), "2026-11-21T21:42:26+01:00");
        assert_eq!(whole_seconds("2026-11-21T21:42:26Z"), "2026-11-21T21:42:26Z");
    }

    #[test]
    fn a_path_is_no_id() {
        for text in ["", "..", "a/b", "a.json", "/", "a\0", "ä"] {
            assert!(!is_id(text), "{text:?}");
        }
        assert!(is_id("20261121-214226-3f9a1c") && is_id("2026"));
    }
}
