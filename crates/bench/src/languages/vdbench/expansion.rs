//! Loops: each run becomes a series of points. The outermost loop is the one that appears first; rates are innermost.

use super::run::{Rates, Run, Setting};
use super::values::Rate;

/// More points than this are a slip of the keyboard.
const MOST_POINTS: usize = 100_000;

/// How fast a point goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// At a rate of its own.
    At(Rate),
    /// At this many percent of what the point before the curve reached.
    Share(f64),
    /// At the run's series of rates.
    Series,
}

/// One run with one value of each loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What the loops set, the outermost first.
    pub settings: Vec<(&'static str, String, Setting)>,
    /// How fast.
    pub pace: Pace,
    /// Whether there are several rates, so that it must be said which.
    pub rate_told: bool,
}

impl Point {
    /// `xfersize=4k rdpct=70`, or `None`.
    pub fn loops(&self) -> String {
        let mut texts: Vec<String> =
            self.settings.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        if self.rate_told {
            texts.push(match self.pace {
                Pace::At(rate) => format!("iorate={}", rate.text()),
                Pace::Share(percent) => format!("iorate={percent}%"),
                Pace::Series => "iorate=series".to_owned(),
            });
        }
        if texts.is_empty() { "None".to_owned() } else { texts.join(" ") }
    }
}

/// The points of a run, in their order; `None` when there are absurdly many.
pub fn points(run: &Run) -> Option<Vec<Point>> {
    let paces: Vec<Pace> = match &run.rates {
        Rates::List(rates) => rates.iter().map(|rate| Pace::At(*rate)).collect(),
        Rates::Series(_) => vec![Pace::Series],
        Rates::Curve(shares) => std::iter::once(Pace::At(Rate::Max))
            .chain(shares.iter().map(|share| Pace::Share(*share)))
            .collect(),
    };
    let count = run.loops.iter().try_fold(paces.len(), |count, own| {
        count.checked_mul(own.values.len()).filter(|count| *count <= MOST_POINTS)
    });
    count?;
    let mut settings: Vec<Vec<(&'static str, String, Setting)>> = vec![Vec::new()];
    for own in &run.loops {
        settings = settings
            .into_iter()
            .flat_map(|outer| {
                own.values.iter().map(move |(text, setting)| {
                    let mut all = outer.clone();
                    all.push((own.name, text.clone(), setting.clone()));
                    all
                })
            })
            .collect();
    }
    let told = paces.len() > 1;
    Some(
        settings
            .into_iter()
            .flat_map(|settings| {
                paces.iter().map(move |pace| Point {
                    settings: settings.clone(),
                    pace: *pace,
                    rate_told: told,
                })
            })
            .collect(),
    )
}
