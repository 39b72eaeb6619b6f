//! Results that go to a file named by the person.

use std::path::Path;

use fault::Fault;
use serde_json::json;

use super::Context;

/// Writes `text` to `path`, replacing it, and says so on standard error.
pub fn write(context: &Context, path: &Path, text: &str) -> fault::Result<()> {
    std::fs::write(path, text).map_err(|error| Fault::os("write", path, error))?;
    context.printer.say(format!("wrote {}", path.display()));
    Ok(())
}

/// The same where the file is all that a command makes: with a JSON format, a document of this `kind` says so.
pub fn write_as_result(context: &Context, kind: &str, path: &Path, text: &str) -> fault::Result<()> {
    write(context, path, text)?;
    if context.printer.format().is_json() {
        context.printer.document(kind, &json!({ "path": path }), String::new)?;
    }
    Ok(())
}
