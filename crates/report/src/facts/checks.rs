//! Why the numbers can be believed, or not: the checks of all phases, worst first, repetitions of the same one joined.

use record::{Check, Outcome, RunRecord};

use crate::table::{Cell, Table, Tone};
use crate::text;

/// Checks that say the same, and where they were made.
#[derive(Debug, PartialEq, Eq)]
struct Finding<'a> {
    place: String,
    repetitions: Vec<u32>,
    check: &'a Check,
}

/// Checks with one outcome.
pub struct Group {
    /// The outcome.
    pub outcome: Outcome,
    /// How many checks there were before joining.
    pub count: usize,
    /// Their rows.
    pub table: Table,
}

/// What a group is called.
pub const fn title(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "Failed: do not use these numbers",
        Outcome::Note => "Notes: the numbers stand, but know this",
        Outcome::Pass => "Passed",
        Outcome::NotApplicable => "Not applicable",
    }
}

const fn outcome_cell(outcome: Outcome) -> (&'static str, Tone) {
    match outcome {
        Outcome::Fail => ("✗ fail", Tone::Bad),
        Outcome::Note => ("! note", Tone::Warn),
        Outcome::Pass => ("✓ pass", Tone::Good),
        Outcome::NotApplicable => ("– n/a", Tone::Plain),
    }
}

/// The groups that have checks, worst first.
pub fn groups(record: &RunRecord) -> Vec<Group> {
    let mut findings = findings(record);
    findings.sort_by(|a, b| (&a.check.rule, &a.place).cmp(&(&b.check.rule, &b.place)));
    [Outcome::Fail, Outcome::Note, Outcome::Pass, Outcome::NotApplicable]
        .into_iter()
        .filter_map(|outcome| {
            let of_outcome: Vec<&Finding> = findings.iter().filter(|f| f.check.outcome == outcome).collect();
            let count = of_outcome.iter().map(|f| f.repetitions.len().max(1)).sum();
            (count > 0).then(|| Group { outcome, count, table: table(outcome, &of_outcome) })
        })
        .collect()
}

fn table(outcome: Outcome, findings: &[&Finding<'_>]) -> Table {
    let with_advice = findings.iter().any(|finding| finding.check.advice.is_some());
    let mut table = Table::new(title(outcome)).words(["Rule", "Outcome", "Where", "Evidence"]);
    if with_advice {
        table = table.words(["What to do"]);
    }
    for finding in findings {
        let (word, tone) = outcome_cell(outcome);
        let place = Cell::from(finding.place.as_str());
        let mut row = vec![
            Cell::from(finding.check.rule.as_str()),
            Cell::from(word).tone(tone),
            if finding.repetitions.is_empty() {
                place
            } else {
                place.note(text::repetitions(&finding.repetitions))
            },
            finding.check.evidence.as_str().into(),
        ];
        if with_advice {
            row.push(finding.check.advice.as_deref().unwrap_or(text::NONE).into());
        }
        table.row(row);
    }
    table
}

fn findings(record: &RunRecord) -> Vec<Finding<'_>> {
    let mut findings: Vec<Finding> = Vec::new();
    for test in &record.tests {
        for check in &test.checks {
            let place = format!("{} · all repetitions", test.name);
            findings.push(Finding { place, repetitions: Vec::new(), check });
        }
        for repetition in &test.repetitions {
            for phase in &repetition.phases {
                let place = format!("{} · {}", test.name, phase.name);
                for check in &phase.checks {
                    join(&mut findings, &place, repetition.number, check);
                }
            }
        }
    }
    findings
}

fn join<'a>(findings: &mut Vec<Finding<'a>>, place: &str, repetition: u32, check: &'a Check) {
    match findings.iter_mut().find(|f| f.place == place && f.check == check && !f.repetitions.is_empty()) {
        Some(finding) => finding.repetitions.push(repetition),
        None => findings.push(Finding { place: place.to_owned(), repetitions: vec![repetition], check }),
    }
}

/// How many checks came out how, in a sentence.
pub fn sentence(groups: &[Group]) -> String {
    if groups.is_empty() {
        return "No check was made, so nothing speaks for these numbers.".to_owned();
    }
    let words = |group: &Group| match group.outcome {
        Outcome::Fail => format!("{} failed", group.count),
        Outcome::Note => text::count(group.count, "note"),
        Outcome::Pass => format!("{} passed", group.count),
        Outcome::NotApplicable => format!("{} did not apply", group.count),
    };
    let parts: Vec<String> = groups.iter().map(words).collect();
    format!("{}: {}.", text::count(groups.iter().map(|g| g.count).sum(), "check"), text::list(&parts))
}
