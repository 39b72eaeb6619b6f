use ::catalog::{Finding, Severity};
use fault::{Fault, Kind};
use serde_json::json;

use crate::cli::CheckFacts;
use crate::commands::{Context, Result};
use crate::exit::Outcome;
use crate::settings::Settings;

/// Shows what can't be, is unlikely or is missing.
pub fn check(context: &Context, arguments: &CheckFacts) -> Result {
    let catalog = Settings::catalog(arguments.facts.catalog.as_deref())?;
    let found = catalog.check();
    let count = |severity| found.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let wanted = |finding: &&Finding| arguments.notes || finding.severity > Severity::Note;
    let shown: Vec<_> = found.iter().filter(wanted).map(as_json).collect();
    context.printer.items("findings", &shown, || {
        let lines = found.iter().filter(wanted).map(line);
        let hidden = if arguments.notes || notes == 0 { "" } else { " (--notes shows them)" };
        let last = format!("{errors} errors, {warnings} warnings, {notes} notes{hidden}");
        lines.chain([last]).collect::<Vec<_>>().join("\n")
    })?;
    if errors > 0 {
        let message = format!("{errors} rows of the catalog can't be");
        return Err(Fault::new(Kind::Corrupt, message).hint("look at their sources again").into());
    }
    Ok(Outcome::Done)
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn line(finding: &Finding) -> String {
    let word = match finding.severity {
        Severity::Error => console::paint::bad(word(finding.severity)),
        severity => console::paint::note(word(severity)),
    };
    format!("{word}: {finding}")
}

fn as_json(finding: &Finding) -> serde_json::Value {
    json!({
        "severity": word(finding.severity),
        "file": finding.file,
        "line": finding.line,
        "row": finding.row,
        "what": finding.what,
        "why": finding.why,
    })
}
