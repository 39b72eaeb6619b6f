//! Results that go to a file named by the person.

use std::path::Path;

use fault::Fault;
use serde_json::json;

use super::Context;

/// Writes `text` to `path` (replacing it) and says so: one sentence on standard error, or a document of this `kind`
/// with a JSON format.
pub fn write(context: &Context, kind: &str, path: &Path, text: &str) -> fault::Result<()> {
    std::fs::write(path, text).map_err(|error| Fault::os("write", path, error))?;
    if context.printer.format().is_json() {
        context.printer.document(kind, &json!({ "path": path }), String::new)
    } else {
        context.printer.say(format!("wrote {}", path.display()));
        Ok(())
    }
}
