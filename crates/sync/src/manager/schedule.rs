//! When a job runs.

use std::time::Duration;

use croner::Cron;
use croner::parser::CronParser;
use fault::{Fault, Kind};
use jiff::civil::Time;
use jiff::{Timestamp, Zoned};

use super::file::Job;

/// Runs begin no more often than this.
const SHORTEST: Duration = Duration::from_secs(1);

/// When a job runs.
#[derive(Debug, Clone)]
pub enum Schedule {
    /// Once, when it is first seen and whenever its definition changes.
    Once,
    /// So long after the start of the run before.
    Every(Duration),
    /// At these times of day, local time; in order, never empty.
    Daily(Vec<Time>),
    /// As a crontab says.
    Cron(Box<Cron>),
}

impl Schedule {
    /// What a job says.
    pub fn of(job: &Job) -> fault::Result<Self> {
        if let Some(every) = job.every {
            return if every < SHORTEST {
                let text = format!("`every` is {}", units::format_duration(every));
                Err(Fault::new(Kind::Spec, text).hint("at least 1s; `watch = true` follows at once"))
            } else {
                Ok(Self::Every(every))
            };
        }
        if let Some(text) = &job.at {
            let mut times =
                text.split_whitespace().map(|time| time_of(time, text)).collect::<fault::Result<Vec<_>>>()?;
            times.sort_unstable();
            times.dedup();
            return if times.is_empty() { Err(no_time(text)) } else { Ok(Self::Daily(times)) };
        }
        match &job.cron {
            Some(text) => cron_of(text).map(|cron| Self::Cron(Box::new(cron))),
            None => Ok(Self::Once),
        }
    }

    /// When a job that never ran begins.
    pub fn first(&self, now: &Zoned) -> Option<Timestamp> {
        match self {
            Self::Once | Self::Every(_) => Some(now.timestamp()),
            Self::Daily(_) | Self::Cron(_) => self.next(now.timestamp(), now),
        }
    }

    /// When it begins next, after a run that began at `started`; never for a job that runs once.
    pub fn next(&self, started: Timestamp, now: &Zoned) -> Option<Timestamp> {
        match self {
            Self::Once => None,
            Self::Every(every) => Some(started.saturating_add(*every).ok()?.max(now.timestamp())),
            Self::Daily(times) => next_of(times, now),
            Self::Cron(cron) => {
                cron.find_next_occurrence(now, false).ok().map(|next: Zoned| next.timestamp())
            }
        }
    }
}

/// When a job begins from now on: so many times, or as often as it does.
pub fn times(job: &Job, now: &Zoned, most: usize) -> Vec<Zoned> {
    let Ok(schedule) = Schedule::of(job) else { return Vec::new() };
    let at = |moment: Timestamp| moment.to_zoned(now.time_zone().clone());
    std::iter::successors(schedule.first(now).map(at), |last| schedule.next(last.timestamp(), last).map(at))
        .take(most)
        .collect()
}

/// The first of these times that comes after `now`. A time that a change of clocks leaves out comes an hour later.
fn next_of(times: &[Time], now: &Zoned) -> Option<Timestamp> {
    let days = [now.date(), now.date().tomorrow().ok()?];
    let moments = days.iter().flat_map(|day| times.iter().map(|time| day.to_datetime(*time)));
    let zone = now.time_zone();
    moments.filter_map(|moment| zone.to_ambiguous_zoned(moment).compatible().ok()).find_map(|moment| {
        let moment = moment.timestamp();
        (moment > now.timestamp()).then_some(moment)
    })
}

fn time_of(time: &str, all: &str) -> fault::Result<Time> {
    let (hours, minutes) = time.split_once(':').ok_or_else(|| no_time(all))?;
    let number = |digits: &str| match digits.as_bytes() {
        [b'0'..=b'9'] | [b'0'..=b'9', b'0'..=b'9'] => digits.parse::<i8>().map_err(|_| no_time(all)),
        _ => Err(no_time(all)),
    };
    Time::new(number(hours)?, number(minutes)?, 0, 0).map_err(|_| no_time(all))
}

fn no_time(text: &str) -> Fault {
    Fault::new(Kind::Spec, format!("`{text}` is no time of day"))
        .hint("write for example `02:30`, or `02:30 14:30`")
}

fn cron_of(text: &str) -> fault::Result<Cron> {
    let parser = CronParser::builder().seconds(croner::parser::Seconds::Disallowed).build();
    parser.parse(text).map_err(|error| {
        Fault::new(Kind::Spec, format!("`{text}` is no line of a crontab: {error}"))
            .hint("minute, hour, day, month, day of the week: `30 2 * * 1-5`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Local time of a place that is an hour, in summer two, before UTC; no database of time zones is asked.
    fn zoned(text: &str) -> Zoned {
        let zone = jiff::tz::TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        text.parse::<jiff::civil::DateTime>().unwrap().to_zoned(zone).unwrap()
    }

    fn daily(text: &str) -> Schedule {
        let times = text.split_whitespace().map(|time| time_of(time, text)).collect::<fault::Result<_>>();
        Schedule::Daily(times.unwrap())
    }

    #[test]
    fn runs_begin_when_they_should() {
        let now = zoned("2026-03-10T12:00:00");
        let at = |text: &str| Some(zoned(text).timestamp());
        let start = zoned("2026-03-10T11:50:00").timestamp();
        assert_eq!(Schedule::Once.first(&now), Some(now.timestamp()));
        assert_eq!(Schedule::Once.next(start, &now), None);
        let every = Schedule::Every(Duration::from_mins(15));
        assert_eq!(every.first(&now), Some(now.timestamp()));
        assert_eq!(every.next(start, &now), at("2026-03-10T12:05:00"));
        // A run that took longer is followed at once.
        assert_eq!(Schedule::Every(Duration::from_mins(5)).next(start, &now), Some(now.timestamp()));
        let twice = daily("02:30 14:30");
        assert_eq!(twice.first(&now), at("2026-03-10T14:30:00"));
        let evening = zoned("2026-03-10T23:00:00");
        assert_eq!(twice.next(start, &evening), at("2026-03-11T02:30:00"));
        let cron = Schedule::Cron(Box::new(cron_of("30 2 * * 1-5").unwrap()));
        let friday = zoned("2026-03-13T12:00:00");
        assert_eq!(cron.next(start, &friday), at("2026-03-16T02:30:00"));
    }

    #[test]
    fn a_time_that_the_clocks_leave_out_comes_an_hour_later() {
        let night = zoned("2026-03-29T01:00:00");
        let next = daily("02:30").next(night.timestamp(), &night).unwrap();
        assert_eq!(next, zoned("2026-03-29T03:30:00").timestamp());
    }

    #[test]
    fn slips_are_told() {
        for text in ["2:3:4", "24:00", "02:60", "2h", "+1:00", "002:30"] {
            assert!(time_of(text, text).is_err(), "{text}");
        }
        for text in ["", "* * *", "61 * * * *", "0 0 0 0 0 0", "at noon"] {
            assert!(cron_of(text).is_err(), "{text}");
        }
        assert!(cron_of("@daily").is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,20}", cron in "[0-9*/, @a-zA-Z#?-]{0,24}") {
            let _ = time_of(&text, &text);
            if let Ok(cron) = cron_of(&cron) {
                let now = zoned("2026-03-10T12:00:00");
                if let Some(next) = Schedule::Cron(Box::new(cron)).next(now.timestamp(), &now) {
                    assert!(next > now.timestamp());
                }
            }
        }
    }
}
