//! Results that go to a file named by the person.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use fault::{Fault, Kind};
use serde_json::json;

use super::Context;

/// The text of a file that says what to do: a wrong one is the command line's fault. `what` is what it is, for messages.
pub fn read_input(what: &str, path: &Path) -> fault::Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let fault = Fault::os(&format!("read {what}"), path, error);
        let hint = fault.hint_text().unwrap_or("name a file that is there and can be read").to_owned();
        Fault::new(Kind::Spec, fault.message()).hint(hint)
    })
}

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

/// Fails when something stands at `path`.
pub fn refuse_existing(path: &Path) -> fault::Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(already_there(path)),
        Err(_) => Ok(()),
    }
}

/// What to say of a file that is in the way.
pub fn already_there(path: &Path) -> Fault {
    Fault::new(Kind::Refused, format!("`{}` exists already", path.display()))
        .hint("name another file, or replace it with --force")
}

/// Writes `text` to `path` in one step: whatever happens, there is the old file or the whole new one. An existing file is
/// replaced only by `force`.
pub fn write_whole(context: &Context, path: &Path, text: &str, force: bool) -> fault::Result<()> {
    let failed = |error| Fault::os("write", path, error);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = durable(&temporary, text).and_then(|()| {
        if force { std::fs::rename(&temporary, path) } else { std::fs::hard_link(&temporary, path) }
    });
    // After a rename there is nothing left to remove.
    let _ = std::fs::remove_file(&temporary);
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(already_there(path)),
        Err(error) => return Err(failed(error)),
    }
    context.printer.say(format!("wrote {}", path.display()));
    Ok(())
}

fn durable(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
