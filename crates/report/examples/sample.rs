//! Writes the report of a made-up run: `cargo run -p report --example sample -- OUT.html [KIND]`.
//!
//! KIND is `met` (the default), `not-met`, `invalid`, `interrupted`, `many-ranks`, `metadata`, `design` or `plan`; an
//! OUT that ends in `.md` gets the Markdown report.

use record::{RunError, RunState};
use testkit::samples::Sample;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: sample OUT.html [KIND]")?;
    let markdown = std::path::Path::new(&out).extension().is_some_and(|extension| extension == "md");
    let usual = Sample::default();
    let sample = match arguments.next().as_deref() {
        Some("plan") => {
            let document = testkit::plans::plan();
            let page = report::plan_html(&document).map_err(|fault| fault.to_string())?;
            let text = if markdown { report::plan_markdown(&document) } else { page };
            return Ok(std::fs::write(out, text)?);
        }
        Some("design") => Sample { design: Some(testkit::plans::for_a_run()), ..usual },
        None | Some("met") => usual,
        Some("not-met") => Sample { write_mb: 131.0, on_lustre: true, ..usual },
        Some("invalid") => Sample { with_failed_check: true, ..usual },
        Some("interrupted") => Sample {
            state: RunState::Interrupted,
            repetitions: 1,
            error: Some(RunError {
                message: "stopped by SIGINT".to_owned(),
                hint: Some("run the same command again".to_owned()),
            }),
            ..usual
        },
        Some("many-ranks") => Sample { ranks: 500, seconds: 600, repetitions: 1, required_mb: None, ..usual },
        Some("metadata") => Sample { with_metadata_phase: true, repetitions: 5, ..usual },
        Some(other) => return Err(format!("unknown kind `{other}`").into()),
    };
    let record = sample.build();
    let report = if markdown {
        report::markdown(&record)
    } else {
        report::html(&record).map_err(|fault| fault.to_string())?
    };
    Ok(std::fs::write(out, report)?)
}
