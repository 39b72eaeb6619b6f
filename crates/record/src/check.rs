//! Why a result can be believed, or not: named checks with their evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How one check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The rule does not apply here, or what it needs is not visible; the evidence says which.
    NotApplicable,
    /// Nothing wrong.
    Pass,
    /// Worth knowing; the number stands.
    Note,
    /// The number does not say what it seems to say.
    Fail,
}

/// One rule applied to one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The rule's stable name, such as `cache-hit-proof`.
    pub rule: String,
    /// How it came out.
    pub outcome: Outcome,
    /// The numbers behind it, in one sentence.
    pub evidence: String,
    /// What to do about it (notes and failures).
    pub advice: Option<String>,
}

impl Check {
    /// A check that found nothing wrong.
    pub fn pass(rule: &str, evidence: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), outcome: Outcome::Pass, evidence: evidence.into(), advice: None }
    }

    /// A check that does not apply or cannot see what it needs.
    pub fn not_applicable(rule: &str, evidence: impl Into<String>) -> Self {
        Self { outcome: Outcome::NotApplicable, ..Self::pass(rule, evidence) }
    }

    /// Something worth knowing.
    pub fn note(rule: &str, evidence: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { outcome: Outcome::Note, advice: Some(advice.into()), ..Self::pass(rule, evidence) }
    }

    /// Something that makes the number unusable.
    pub fn fail(rule: &str, evidence: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { outcome: Outcome::Fail, advice: Some(advice.into()), ..Self::pass(rule, evidence) }
    }
}

/// What all checks together say.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// Every check passed.
    #[default]
    Valid,
    /// The numbers stand, but read the notes.
    ValidWithNotes,
    /// Do not use these numbers.
    NotValid,
}

impl Validity {
    /// The verdict that follows from `checks`.
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Self {
        checks.into_iter().fold(Self::Valid, |worst, check| {
            worst.max(match check.outcome {
                Outcome::Fail => Self::NotValid,
                Outcome::Note => Self::ValidWithNotes,
                Outcome::Pass | Outcome::NotApplicable => Self::Valid,
            })
        })
    }

    /// The words shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::ValidWithNotes => "valid with notes",
            Self::NotValid => "not valid",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_check_decides() {
        let pass = Check::pass("a", "");
        let note = Check::note("b", "", "");
        let fail = Check::fail("c", "", "");
        assert_eq!(Validity::of([&pass, &Check::not_applicable("d", "")]), Validity::Valid);
        assert_eq!(Validity::of([&pass, &note]), Validity::ValidWithNotes);
        assert_eq!(Validity::of([&note, &fail, &pass]), Validity::NotValid);
    }
}
