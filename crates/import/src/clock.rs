//! The dates that tools print.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Forms in which tools print when they began, all without a time zone.
const FORMS: [&str; 5] = [
    "%a %b %e %H:%M:%S %Y",
    "%m/%d/%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%b %d, %Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
];

/// A date as RFC 3339. Tools don't say which time zone they mean; it is taken as UTC.
pub fn instant(text: &str) -> Option<String> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    let time = FORMS.iter().find_map(|form| DateTime::strptime(form, text.trim()).ok())?;
    let instant = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Some(instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// A time of day, `10:24:40.050`, in seconds.
pub fn seconds_of_day(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds: f64 = seconds.parse().ok()?;
    let sane = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds);
    sane.then(|| f64::from(hours * 3600 + minutes * 60) + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_tools() {
        let same = Some("2026-11-21T21:22:38Z".to_owned());
        for text in [
            "Sat Nov 21 21:22:38 2026",
            "11/21/2026 21:22:38",
            "2026-11-21 21:22:38",
            "2026-11-21T21:22:38.960+0000",
        ] {
            assert_eq!(instant(text), same, "{text}");
        }
        assert_eq!(instant("tomorrow"), None);
        assert_eq!(seconds_of_day("10:24:40.050"), Some(37_480.05));
        assert_eq!(seconds_of_day("25:00:00"), None);
    }
}
