//! A limit on bytes per second that may differ by time of day.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fault::{Fault, Kind};
use units::Bandwidth;

/// How long a worker sleeps before it looks again whether it should stop.
const NAP: Duration = Duration::from_millis(200);

/// Limits by time of day: from its minute on, each holds until the next, around the clock. Local time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timetable {
    /// (minute of the day, limit); in order, never empty.
    rows: Vec<(u32, Option<Bandwidth>)>,
}

impl FromStr for Timetable {
    type Err = Fault;

    /// `100MB/s`, or `08:00,100MB/s 18:00,off`.
    fn from_str(text: &str) -> fault::Result<Self> {
        let mut rows = match text.split_once(',') {
            None => vec![(0, limit(text.trim())?)],
            Some(_) => text.split_whitespace().map(row).collect::<fault::Result<Vec<_>>>()?,
        };
        rows.sort_by_key(|(minute, _)| *minute);
        if rows.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(wrong(text, "two rows begin at the same time"));
        }
        Ok(Self { rows })
    }
}

fn row(text: &str) -> fault::Result<(u32, Option<Bandwidth>)> {
    let (time, rest) = text.split_once(',').ok_or_else(|| wrong(text, "a row is `HH:MM,LIMIT`"))?;
    let (hours, minutes) = time.split_once(':').ok_or_else(|| wrong(text, "a time is `HH:MM`"))?;
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| wrong(text, "a time is `HH:MM`"));
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 23 || minutes > 59 {
        return Err(wrong(text, "a day has 24 hours of 60 minutes"));
    }
    Ok((hours * 60 + minutes, limit(rest)?))
}

fn limit(text: &str) -> fault::Result<Option<Bandwidth>> {
    if text == "off" {
        return Ok(None);
    }
    let rate: Bandwidth = text.parse().map_err(|error| wrong(text, &format!("{error}")))?;
    if rate.get() < 1.0 { Err(wrong(text, "at least 1 B/s, or `off`")) } else { Ok(Some(rate)) }
}

fn wrong(text: &str, why: &str) -> Fault {
    Fault::new(Kind::Usage, format!("`{text}` is no bandwidth limit: {why}"))
        .hint("write for example `100MB/s`, or `08:00,100MB/s 18:00,off`")
}

impl Timetable {
    /// The limit at this minute of the day.
    pub fn at(&self, minute: u32) -> Option<Bandwidth> {
        let row = self.rows.iter().rev().find(|(from, _)| *from <= minute).or(self.rows.last());
        row.and_then(|(_, limit)| *limit)
    }
}

/// Holds workers back so that together they keep to the timetable.
#[derive(Debug, Default)]
pub struct Throttle {
    timetable: Option<Timetable>,
    /// When all bytes that were granted so far will have passed.
    free_at: Mutex<Option<Instant>>,
}

impl Throttle {
    /// A throttle for this timetable; none holds nobody back.
    pub fn new(timetable: Option<Timetable>) -> Self {
        Self { timetable, free_at: Mutex::new(None) }
    }

    /// Waits until `bytes` may pass, or `stopping` says so.
    pub fn pass(&self, bytes: u64, stopping: impl Fn() -> bool) {
        let Some(timetable) = &self.timetable else { return };
        let Some(limit) = timetable.at(minute_of_day()) else { return };
        let cost = limit.time_for(units::Bytes::new(bytes)).unwrap_or(Duration::ZERO);
        let until = self.reserve(cost);
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stopping() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    fn reserve(&self, cost: Duration) -> Instant {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let start = free_at.unwrap_or_else(Instant::now).max(Instant::now());
        *free_at = Some(start + cost);
        start
    }
}

fn minute_of_day() -> u32 {
    let now = jiff::Zoned::now();
    u32::from(now.hour().unsigned_abs()) * 60 + u32::from(now.minute().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timetable_goes_around_the_clock() {
        let table: Timetable = "18:00,off 08:00,100MB/s 12:30,50MB/s".parse().unwrap();
        let at = |hours: u32, minutes: u32| table.at(hours * 60 + minutes).map(Bandwidth::as_mb);
        assert_eq!([at(7, 59), at(8, 0), at(12, 29)], [None, Some(100.0), Some(100.0)]);
        assert_eq!([at(12, 30), at(17, 59), at(18, 0)], [Some(50.0), Some(50.0), None]);
        let always: Timetable = "10MiB/s".parse().unwrap();
        assert!((always.at(0).unwrap().as_mib() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn wrong_tables_are_told() {
        for text in ["", "fast", "10", "25:00,off", "08:61,off", "8,off", "08:00,off 08:00,1MB/s", "0MB/s"] {
            let fault = text.parse::<Timetable>().unwrap_err();
            assert!(fault.kind() == Kind::Usage && fault.hint_text().is_some(), "{text}");
        }
    }

    #[test]
    fn a_stopped_job_does_not_wait() {
        let throttle = Throttle::new(Some("1B/s".parse().unwrap()));
        throttle.pass(1 << 40, || true);
        throttle.pass(1 << 40, || true);
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(text in "[0-9:, a-zA-Z/]{0,30}") {
            let _ = text.parse::<Timetable>();
        }
    }
}
