use std::path::PathBuf;

use crate::cli::Report;
use crate::commands::{Context, Result, files};
use crate::exit::Outcome;

const STANDARD_OUTPUT: &str = "-";

/// Writes the report of a run to a file, or to standard output.
pub fn report(context: &Context, arguments: &Report) -> Result {
    let record = context.settings.store()?.load(&arguments.run)?;
    let (text, extension) =
        if arguments.md { (::report::markdown(&record), "md") } else { (::report::html(&record)?, "html") };
    match &arguments.output {
        Some(path) if path.as_os_str() == STANDARD_OUTPUT => context.printer.data(text)?,
        Some(path) => files::write_as_result(context, "report_written", path, &text)?,
        None => {
            let path = PathBuf::from(format!("forebay-{}.{extension}", record.id));
            files::write_as_result(context, "report_written", &path, &text)?;
        }
    }
    Ok(Outcome::Done)
}
