//! Does this storage feed the grid? The answer in one word, one sentence and one table.

use record::{RequirementVerdict, RunRecord, RunState, Validity};

use crate::table::{Cell, Table, Tone};
use crate::text;

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Every requirement is met by numbers that can be believed.
    Met,
    /// At least one is not.
    NotMet,
    /// Nothing was required.
    NoRequirement,
    /// The run did not come to its end.
    Unfinished,
}

impl Answer {
    /// The answer of `record`.
    pub fn of(record: &RunRecord) -> Self {
        match record.met() {
            _ if record.state != RunState::Complete => Self::Unfinished,
            Some(true) => Self::Met,
            Some(false) => Self::NotMet,
            None => Self::NoRequirement,
        }
    }

    /// The word shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Met => "MET",
            Self::NotMet => "NOT MET",
            Self::NoRequirement => "NO REQUIREMENT",
            Self::Unfinished => "NO VERDICT",
        }
    }

    /// A sign that says the same without colour.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Met => "✓",
            Self::NotMet => "✗",
            Self::NoRequirement => "•",
            Self::Unfinished => "!",
        }
    }

    /// How it looks.
    pub const fn tone(self) -> Tone {
        match self {
            Self::Met => Tone::Good,
            Self::NotMet => Tone::Bad,
            Self::NoRequirement => Tone::Plain,
            Self::Unfinished => Tone::Warn,
        }
    }
}

/// The answer in plain words.
pub fn sentence(record: &RunRecord) -> String {
    match Answer::of(record) {
        Answer::Met => met(record),
        Answer::NotMet => not_met(record),
        Answer::NoRequirement => {
            "No requirement was given, so there is nothing to hold the figures against.".to_owned()
        }
        Answer::Unfinished => {
            "This run did not come to its end, so it proves nothing; what was measured until then is shown below."
                .to_owned()
        }
    }
}

fn met(record: &RunRecord) -> String {
    let tightest = record
        .requirements
        .iter()
        .filter_map(|requirement| {
            Some((requirement, requirement.margin.filter(|margin| margin.is_finite())?))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let tightest = tightest.map_or_else(String::new, |(requirement, margin)| {
        format!(
            " The tightest is {}, {:.1}\u{a0}% above what is required.",
            name(requirement),
            margin * 100.0
        )
    });
    let all = match record.requirements.len() {
        1 => "the requirement is met".to_owned(),
        2 => "both requirements are met".to_owned(),
        many => format!("all {many} requirements are met"),
    };
    format!("Yes, this storage feeds the grid: {all}.{tightest}")
}

fn not_met(record: &RunRecord) -> String {
    let (mut slow, mut unmeasured, mut unbelieved) = (Vec::new(), Vec::new(), Vec::new());
    for requirement in &record.requirements {
        match &requirement.measured_per_pcore {
            None => unmeasured.push(name(requirement)),
            Some(measured) if !requirement.met => slow.push(format!(
                "{} delivers {} per pCore where {} are required",
                name(requirement),
                text::mb(measured.median_bytes_per_second),
                text::mb(requirement.required_per_pcore)
            )),
            Some(_) if requirement.validity == Validity::NotValid => unbelieved.push(name(requirement)),
            Some(_) => {}
        }
    }
    let mut reasons = slow;
    if !unmeasured.is_empty() {
        let were = if unmeasured.len() == 1 { "was" } else { "were" };
        reasons.push(format!("{} {were} not measured", text::list(&unmeasured)));
    }
    if !unbelieved.is_empty() {
        let names = text::list(&unbelieved);
        let are = if unbelieved.len() == 1 { "is" } else { "are" };
        reasons.push(format!("{names} {are} fast enough on paper, but the measurement cannot be believed"));
    }
    format!("No, this run does not show that the storage feeds the grid: {}.", reasons.join("; "))
}

/// How a requirement is called in a sentence: `work write`.
pub fn name(requirement: &RequirementVerdict) -> String {
    format!("{} {}", requirement.storage, requirement.direction.word())
}

/// Required against measured.
pub fn table(record: &RunRecord) -> Table {
    let mut table = Table::new("Required and measured, per pCore; median of the repetitions")
        .words(["Storage", "Result"])
        .figures(["Required", "Measured", "Lowest – highest", "Margin"])
        .words(["Belief", "Limited by"]);
    for requirement in &record.requirements {
        table.row(row(requirement, record.state));
    }
    table
}

fn row(requirement: &RequirementVerdict, state: RunState) -> Vec<Cell> {
    let measured = requirement.measured_per_pcore;
    let (median, range) = measured.map_or_else(
        || (Cell::from("not measured"), Cell::from(text::NONE)),
        |spread| {
            let (min, max) = (spread.min_bytes_per_second, spread.max_bytes_per_second);
            (
                Cell::from(text::mb(spread.median_bytes_per_second))
                    .note(text::mib(spread.median_bytes_per_second)),
                Cell::from(format!("{:.1} – {}", min.as_mb(), text::mb(max))).note(format!(
                    "{:.1} – {}",
                    min.as_mib(),
                    text::mib(max)
                )),
            )
        },
    );
    let limited_by =
        if requirement.limited_by.is_empty() { text::NONE } else { requirement.limited_by.as_str() };
    vec![
        Cell::from(name(requirement)).note(format!(
            "test {}, {}",
            requirement.test,
            text::count(requirement.pcores as usize, "pCore")
        )),
        result(requirement, state),
        Cell::from(text::mb(requirement.required_per_pcore)).note(text::mib(requirement.required_per_pcore)),
        median,
        range,
        Cell::from(requirement.margin.map_or_else(|| text::NONE.to_owned(), text::signed_percent)),
        validity(requirement.validity),
        limited_by.into(),
    ]
}

fn result(requirement: &RequirementVerdict, state: RunState) -> Cell {
    match (requirement.met, requirement.measured_per_pcore) {
        (met, Some(_)) if state != RunState::Complete => {
            Cell::from(if met { "! met so far" } else { "! not met so far" }).tone(Tone::Warn)
        }
        (true, _) if requirement.validity == Validity::NotValid => {
            Cell::from("✗ not shown").note("fast enough, not believed").tone(Tone::Bad)
        }
        (true, _) => Cell::from("✓ met").tone(Tone::Good),
        (false, None) => Cell::from("! not measured").tone(Tone::Warn),
        (false, Some(_)) => Cell::from("✗ not met").tone(Tone::Bad),
    }
}

/// How far the numbers can be believed.
pub fn validity(validity: Validity) -> Cell {
    let (sign, tone) = match validity {
        Validity::Valid => ("✓", Tone::Good),
        Validity::ValidWithNotes => ("!", Tone::Warn),
        Validity::NotValid => ("✗", Tone::Bad),
    };
    Cell::from(format!("{sign} {}", validity.words())).tone(tone)
}

/// What stopped the run early: title and text.
pub fn early_end(record: &RunRecord) -> Option<(&'static str, String, Option<&str>)> {
    let title = match record.state {
        RunState::Complete => return None,
        RunState::Running => "This run is still going, or was killed",
        RunState::Interrupted => "This run was interrupted",
        RunState::Failed => "This run failed",
    };
    let message = record
        .error
        .as_ref()
        .map_or_else(|| "The record does not say why.".to_owned(), |error| error.message.clone());
    Some((title, message, record.error.as_ref().and_then(|error| error.hint.as_deref())))
}
