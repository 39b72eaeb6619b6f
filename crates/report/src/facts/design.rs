//! What was measured beside the limits of the design the storage was built by.

use record::{DesignComparison, LimitComparison, RunRecord, Standing};
use units::Bandwidth;

use crate::table::{Cell, Table, Tone};
use crate::text;

/// `data read: measured 174.0 MB/s per pCore is 91 % of the server VM disk limit (...)`.
pub fn sentences(record: &RunRecord) -> Vec<String> {
    let one = |comparison: &DesignComparison| {
        format!("{}: {}.", name(comparison), comparison.sentence().trim_end_matches('.'))
    };
    record.design_comparisons().iter().map(one).collect()
}

/// How a comparison is called: `data read`.
pub fn name(comparison: &DesignComparison) -> String {
    format!("{} {}", comparison.storage, comparison.direction.word())
}

/// Required, expected and measured side by side.
pub fn summary(record: &RunRecord) -> Table {
    let mut table = Table::new("Required, expected of the design, and measured, per pCore")
        .words(["Storage"])
        .figures(["Required", "Expected", "Measured"])
        .words(["Limited by"]);
    for comparison in record.design_comparisons() {
        let rate = |rate: Option<Bandwidth>| rate.map_or_else(|| text::NONE.to_owned(), text::mb);
        table.row(vec![
            name(&comparison).into(),
            text::mb(comparison.required_per_pcore).into(),
            rate(comparison.expected_per_pcore).into(),
            rate(comparison.measured_per_pcore).into(),
            limited_by(&comparison).into(),
        ]);
    }
    table
}

fn limited_by(comparison: &DesignComparison) -> String {
    let limit = comparison.bottleneck.and_then(|index| comparison.limits.get(index));
    match (limit, comparison.measured_per_pcore) {
        (Some(limit), _) => limit.name.clone(),
        (None, None) => "not measured".to_owned(),
        (None, Some(_)) => "no limit of the design".to_owned(),
    }
}

/// Every limit of one comparison.
pub fn limits(comparison: &DesignComparison) -> Table {
    let caption = format!("{}: limits of the design, per pCore of this run", name(comparison));
    let mut table = Table::new(caption)
        .words(["Limit"])
        .figures(["Expected", "Stated", "Measured is"])
        .words(["Finding", "How it comes about"]);
    for limit in &comparison.limits {
        table.row(row(limit));
    }
    for unknown in &comparison.unknown {
        let dash = || Cell::from(text::NONE);
        let name = Cell::from("? not known").tone(Tone::Warn);
        table.row(vec![name, dash(), dash(), dash(), dash(), unknown.as_str().into()]);
    }
    table
}

fn row(limit: &LimitComparison) -> Vec<Cell> {
    let finding = match limit.standing {
        Standing::Exceeded => Cell::from("! exceeded").tone(Tone::Warn),
        Standing::Near => Cell::from("reached"),
        Standing::Open => Cell::from("not reached"),
        Standing::NotMeasured => Cell::from("not measured"),
    };
    let share = limit.share.map_or_else(|| text::NONE.to_owned(), |share| format!("{:.0} %", share * 100.0));
    let whose = if limit.shared { "shared by all clients" } else { "of the clients" };
    let cause = Cell::from(limit.cause.as_str());
    vec![
        Cell::from(limit.name.as_str()).note(whose),
        text::mb(limit.reached_per_pcore).into(),
        text::mb(limit.stated_per_pcore).into(),
        share.into(),
        finding,
        match &limit.source {
            Some(source) => cause.note(source.as_str()),
            None => cause,
        },
    ]
}
