//! `--verify`: whether a `result.txt` says what follows from its phases.

use super::documents::{OWN_HASH, hash};
use super::{Config, Judged, PhaseName, Scores, phases};

/// Digits that a file has of a score leave it uncertain by so much of it, and by so much.
const RELATIVE: f64 = 1e-4;
const ABSOLUTE: f64 = 2e-6;

/// What can be said of a result file.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// What follows from its phases.
    pub scores: Scores,
    /// Why it does not count or can't be believed.
    pub wrong: Vec<String>,
    /// What could not be looked at.
    pub notes: Vec<String>,
}

/// One section of a result file.
#[derive(Debug, Default)]
struct Section<'a> {
    name: &'a str,
    values: Vec<(&'a str, &'a str)>,
}

impl Section<'_> {
    fn number(&self, key: &str) -> Option<f64> {
        let text = self.values.iter().find(|(own, _)| *own == key)?.1;
        text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }
}

/// Looks at the text of a `result.txt` that came of `config`.
pub fn verify(text: &str, config: &Config) -> Verification {
    let sections = sections(text);
    let extended = sections.iter().any(|section| section.name == "SCOREX");
    let judged: Vec<Judged> =
        phases(extended).into_iter().filter_map(|phase| judged(phase, &sections, config)).collect();
    let scores = Scores::of(&judged, config, extended);
    let mut wrong: Vec<String> = judged.iter().flat_map(|one| one.invalid.clone()).collect();
    wrong.extend(scores.invalid.iter().filter(|reason| *reason != "A phase is invalid").cloned());
    wrong.extend(text.lines().filter_map(|line| line.strip_prefix("; ERROR INVALID ")).map(said));
    match sections.iter().find(|section| section.name == if extended { "SCOREX" } else { "SCORE" }) {
        None => wrong.push("there is no section [SCORE]: the run did not come to its end".to_owned()),
        Some(section) => {
            for (key, score) in [("BW", scores.bandwidth), ("MD", scores.metadata), ("SCORE", scores.total)] {
                wrong.extend(difference(section, key, score));
            }
        }
    }
    let mut notes = Vec::new();
    if text.contains(OWN_HASH) {
        wrong.extend(broken_hash(text));
    } else if text.lines().any(|line| line.starts_with("hash")) {
        notes.push("the hash is IO500's own: it was not looked at".to_owned());
    }
    wrong.sort_unstable();
    wrong.dedup();
    Verification { scores, wrong, notes }
}

fn said(reason: &str) -> String {
    format!("the file says: {reason}")
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section::default()];
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with([';', '#'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { name, values: Vec::new() });
        } else if let (Some((key, value)), Some(section)) = (line.split_once('='), sections.last_mut()) {
            section.values.push((key.trim(), value.trim()));
        }
    }
    sections
}

/// A phase as the file has it.
fn judged(name: PhaseName, sections: &[Section<'_>], config: &Config) -> Option<Judged> {
    let section = sections.iter().find(|section| section.name == name)?;
    let seconds = section.number("t_delta").unwrap_or_default();
    let score = section.number("score").unwrap_or_default();
    let mut judged = Judged { score, ..Judged::timestamp(seconds) };
    judged.name = name;
    let asked = config.asked_stonewall().as_secs_f64();
    if name.ends_with("-write") && seconds < asked {
        judged.invalid.push(format!("{name}: {seconds} s are less than the {asked} s that it must take"));
    }
    if judged.is_scored(true) && score <= 0.0 {
        judged.invalid.push(format!("{name} has no score"));
    }
    Some(judged)
}

/// What the file says of a mean where something else follows from its phases.
fn difference(section: &Section<'_>, key: &str, follows: f64) -> Option<String> {
    let Some(said) = section.number(key) else { return Some(format!("[{}] has no `{key}`", section.name)) };
    let is_near = (said - follows).abs() <= ABSOLUTE + RELATIVE * follows.abs();
    (!is_near).then(|| format!("`{key}` is {said}, and {follows:.6} follows from the phases"))
}

/// The first hash that is not that of the text above it.
fn broken_hash(text: &str) -> Option<String> {
    let mut above = 0;
    for line in text.split_inclusive('\n') {
        let value = line.strip_prefix("hash").and_then(|rest| rest.trim_start().strip_prefix('='));
        if let Some(value) = value {
            let expected = format!("{:X}", hash(&text[..above]));
            if value.trim() != expected {
                let message =
                    format!("the hash {} is not {expected}: what is above it was changed", value.trim());
                return Some(message);
            }
        }
        above += line.len();
    }
    None
}
