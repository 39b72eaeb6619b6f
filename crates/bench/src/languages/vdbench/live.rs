//! The interval report while the run goes on, from its events: each line when its interval has ended, averages when the
//! point has.

use std::time::Duration;

use record::{Event, Interval, OperationKind};

use super::compile::{Shown, Test};
use super::report::{heading, line_of, rest_of, time_of_day};

/// Turns events into lines.
#[derive(Debug)]
pub struct LiveReport {
    points: Vec<Shown>,
    now: Option<Point>,
}

/// The point that is being measured.
#[derive(Debug)]
struct Point {
    shown: Shown,
    began: Duration,
    /// Lines that were printed.
    printed: usize,
    /// Seconds of the interval that is not whole yet.
    seconds: Vec<Interval>,
    /// What its operations are: known when it has ended, and in its seconds before.
    main: Vec<OperationKind>,
    /// Its whole series, when it has ended.
    whole: Option<Vec<Interval>>,
}

impl LiveReport {
    /// For the points of these tests.
    pub fn new(tests: &[Test]) -> Self {
        Self { points: tests.iter().flat_map(|test| test.shown.clone()).collect(), now: None }
    }

    /// What an event makes known, if it is anything.
    pub fn on_event(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::PhaseStarted { phase, .. } => {
                let before = self.end();
                let shown = self.points.iter().find(|point| point.phase == *phase).cloned();
                let Some(shown) = shown else { return before };
                let began = time_of_day(&record::timestamp());
                let heading = heading(&shown, began);
                self.now = Some(Point {
                    shown,
                    began,
                    printed: 0,
                    seconds: Vec::new(),
                    main: Vec::new(),
                    whole: None,
                });
                Some(before.unwrap_or_default() + &heading)
            }
            Event::Second { phase, interval } => {
                self.now.as_mut().filter(|now| now.shown.phase == *phase)?.second(interval)
            }
            Event::PhaseFinished { result } => {
                let now = self.now.as_mut().filter(|now| now.shown.phase == result.name)?;
                now.main.clone_from(&result.main);
                now.whole = Some(Vec::new());
                None
            }
            Event::Series { phase, interval } => {
                let now = self.now.as_mut().filter(|now| now.shown.phase == *phase)?;
                now.whole.as_mut()?.push((**interval).clone());
                None
            }
            Event::RunFinished { .. } | Event::TestStarted { .. } => self.end(),
            _ => None,
        }
    }

    /// What is left of the point that has ended.
    fn end(&mut self) -> Option<String> {
        let now = self.now.take()?;
        let series = now.whole?;
        Some(rest_of(&now.shown, now.began, now.printed, &now.main, &series))
    }
}

impl Point {
    /// A second more; the line that it completes.
    fn second(&mut self, second: &Interval) -> Option<String> {
        let length = self.shown.interval.as_nanos().max(1) as u64;
        let next = (self.printed as u64 + 1) * length;
        self.seconds.push(second.clone());
        if second.start_ns + second.length_ns < next {
            return None;
        }
        let seconds = std::mem::take(&mut self.seconds);
        // Only operations that count are told while it goes on.
        let main: Vec<OperationKind> =
            seconds.iter().flat_map(|own| &own.operations).map(|own| own.kind).collect();
        let line = line_of(&self.shown, self.began, self.printed, &main, &seconds);
        self.printed += 1;
        Some(line)
    }
}
