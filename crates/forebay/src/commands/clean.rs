use bench::ground::{CleanOptions, CleanReport, clean};
use fault::Fault;
use serde_json::json;

use super::{Context, Result};
use crate::cli::Clean;
use crate::exit::Outcome;

/// Removes what dead runs left in a directory, and nothing else.
pub fn run(context: &Context, arguments: &Clean) -> Result {
    let options = CleanOptions { dry_run: arguments.dry_run, other_hosts: arguments.other_hosts };
    let report = clean(&arguments.dir, options)?;
    let data = json!({
        "dry_run": options.dry_run,
        "removed": report.removed,
        "entries": report.entries,
        "kept": report.kept.iter().map(|(path, reason)| json!({ "path": path, "reason": reason })).collect::<Vec<_>>(),
        "foreign": report.foreign,
        "failed": report.faults.iter().map(Fault::message).collect::<Vec<_>>(),
    });
    context.printer.document("clean", &data, || words(&report, options))?;
    for fault in &report.faults {
        context.printer.fault(fault);
    }
    Ok(if report.faults.is_empty() { Outcome::Done } else { Outcome::Partial })
}

fn words(report: &CleanReport, options: CleanOptions) -> String {
    let verb = if options.dry_run { "would remove" } else { "removed" };
    let mut lines: Vec<String> =
        report.removed.iter().map(|path| format!("{verb} {}", path.display())).collect();
    lines.extend(report.kept.iter().map(|(path, reason)| format!("kept {}: {reason}", path.display())));
    lines.extend(report.foreign.iter().map(|path| format!("not ours: {}", path.display())));
    if lines.is_empty() {
        lines.push("nothing to clean: no run left anything here".to_owned());
    } else {
        lines.push(format!(
            "{verb} {} run directories, {} entries in them",
            report.removed.len(),
            report.entries
        ));
    }
    lines.join("\n")
}
