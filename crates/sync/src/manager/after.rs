//! What comes after a run of a job.

use std::time::Duration;

use jiff::{Timestamp, Zoned};

use super::book::{Standing, Wish};
use super::file::Job;
use super::run::RunEnd;
use super::schedule::Schedule;

/// The longest pause before a retry.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// How a job stands, and when it runs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    pub standing: Standing,
    pub due: Option<Timestamp>,
    /// Retries so far.
    pub attempt: u32,
}

/// A run that ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub end: RunEnd,
    pub started: Timestamp,
    /// Trying again may help.
    pub may_retry: bool,
    /// Retries before this run.
    pub attempt: u32,
}

/// What comes after the run that ended, by what is wanted of its job.
pub fn after(job: &Job, schedule: &Schedule, ended: Ended, wish: Wish, now: &Zoned) -> Next {
    let by_schedule = |otherwise| by_schedule(schedule, ended.started, now, otherwise);
    match ended.end {
        RunEnd::Stopped if wish == Wish::Cancel => by_schedule(Standing::Cancelled),
        // It goes on where it was as soon as it may.
        RunEnd::Stopped => {
            Next { standing: Standing::Waiting, due: Some(now.timestamp()), attempt: ended.attempt }
        }
        RunEnd::Complete => by_schedule(Standing::Done),
        RunEnd::Partial | RunEnd::Failed if ended.may_retry && ended.attempt < job.retries => {
            let pause = pause(job.retry_after, ended.attempt);
            let due = now.timestamp().saturating_add(pause).ok();
            Next { standing: Standing::Waiting, due, attempt: ended.attempt + 1 }
        }
        RunEnd::Partial | RunEnd::Failed => by_schedule(Standing::Failed),
    }
}

/// As the schedule says; `otherwise` where it says nothing more.
pub fn by_schedule(schedule: &Schedule, started: Timestamp, now: &Zoned, otherwise: Standing) -> Next {
    let due = schedule.next(started, now);
    Next { standing: if due.is_some() { Standing::Waiting } else { otherwise }, due, attempt: 0 }
}

fn pause(first: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(attempt)).min(LONGEST_PAUSE.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Job {
        let text = format!(
            "version = 1\n[[job]]\nname = 'a'\nsource = '/a'\ndestination = '/b'\nretries = 2\nretry_after = '10s'\n{text}"
        );
        super::super::file::parse(std::path::Path::new("sync.toml"), text).unwrap().job.remove(0)
    }

    fn seconds_to(next: Next, now: &Zoned) -> Option<i64> {
        next.due.map(|due| due.as_second() - now.timestamp().as_second())
    }

    #[test]
    fn failed_runs_are_tried_again_with_growing_pauses() {
        let now = Zoned::now();
        for (text, last) in [("", (Standing::Failed, None)), ("every = '5m'", (Standing::Waiting, Some(300)))]
        {
            let job = job(text);
            let schedule = Schedule::of(&job).unwrap();
            let try_again = |end, attempt, may_retry| {
                let ended = Ended { end, started: now.timestamp(), may_retry, attempt };
                let next = after(&job, &schedule, ended, Wish::Run, &now);
                (next.standing, seconds_to(next, &now), next.attempt)
            };
            assert_eq!(try_again(RunEnd::Failed, 0, true), (Standing::Waiting, Some(10), 1));
            assert_eq!(try_again(RunEnd::Partial, 1, true), (Standing::Waiting, Some(20), 2));
            assert_eq!(try_again(RunEnd::Failed, 2, true), (last.0, last.1, 0));
            assert_eq!(try_again(RunEnd::Failed, 0, false), (last.0, last.1, 0));
        }
        assert_eq!(pause(Duration::from_secs(30), 40), LONGEST_PAUSE);
        assert_eq!(pause(Duration::from_hours(2), 3), Duration::from_hours(2));
    }

    #[test]
    fn what_was_stopped_goes_on_unless_it_was_cancelled() {
        let now = Zoned::now();
        let ended = Ended { end: RunEnd::Stopped, started: now.timestamp(), may_retry: true, attempt: 1 };
        let once = job("");
        let next = |job: &Job, wish| after(job, &Schedule::of(job).unwrap(), ended, wish, &now);
        for wish in [Wish::Run, Wish::Pause] {
            let due = Some(now.timestamp());
            assert_eq!(next(&once, wish), Next { standing: Standing::Waiting, due, attempt: 1 });
        }
        let gone = Next { standing: Standing::Cancelled, due: None, attempt: 0 };
        assert_eq!(next(&once, Wish::Cancel), gone);
        let later = next(&job("every = '1h'"), Wish::Cancel);
        assert_eq!((later.standing, seconds_to(later, &now)), (Standing::Waiting, Some(3600)));
    }
}
