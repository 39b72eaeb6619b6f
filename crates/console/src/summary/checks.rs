use record::{Check, Outcome, TestRecord};

use crate::paint;
use crate::wrap::to_terminal;

/// The checks that found something, worst first; nothing if all passed.
pub fn section(test: &TestRecord) -> Option<String> {
    let mut found = found(test);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.check.outcome));
    let lines: Vec<String> = found.iter().map(Finding::lines).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

struct Finding<'a> {
    /// Phase it is about; `None` for the whole test.
    phase: Option<&'a str>,
    check: &'a Check,
    /// In how many repetitions.
    times: usize,
}

impl Finding<'_> {
    fn lines(&self) -> String {
        let word = match self.check.outcome {
            Outcome::Fail => paint::bad("not valid"),
            _ => paint::note("note"),
        };
        let phase = self.phase.map(|phase| format!("{phase}: ")).unwrap_or_default();
        let times = if self.times > 1 { format!(" ({} times)", self.times) } else { String::new() };
        let advice = self.check.advice.as_ref().filter(|advice| !advice.is_empty());
        let advice = advice.map(|advice| to_terminal(&format!("  {advice}"), "  "));
        let finding = format!("{word}: {phase}{}{times}: {}", self.check.rule, self.check.evidence);
        let finding = to_terminal(&finding, "  ");
        advice.map_or(finding.clone(), |advice| format!("{finding}\n{advice}"))
    }
}

/// The same finding in several repetitions is told once, with the first one's evidence.
fn found(test: &TestRecord) -> Vec<Finding<'_>> {
    let phases = test.repetitions.iter().flat_map(|repetition| &repetition.phases);
    let of_phases =
        phases.flat_map(|phase| phase.checks.iter().map(|check| (Some(phase.name.as_str()), check)));
    let of_test = test.checks.iter().map(|check| (None, check));
    let mut found: Vec<Finding<'_>> = Vec::new();
    for (phase, check) in of_test.chain(of_phases).filter(|(_, check)| check.outcome >= Outcome::Note) {
        let same = |known: &&mut Finding<'_>| {
            (known.phase, &known.check.rule, known.check.outcome) == (phase, &check.rule, check.outcome)
        };
        match found.iter_mut().find(same) {
            Some(known) => known.times += 1,
            None => found.push(Finding { phase, check, times: 1 }),
        }
    }
    found
}
