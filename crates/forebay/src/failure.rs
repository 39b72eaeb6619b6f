//! Why a command did not do its work, and how that is shown: words on standard error, or an envelope with a JSON format.

mod snippet;

use clap::builder::StyledStr;
use console::{Envelope, Printer, paint};
use fault::{Fault, Kind};
use serde_json::json;
use spec::LoadError;

use crate::{exit, signals};

/// What a command returns when it fails.
#[derive(Debug)]
pub enum Failure {
    /// Any failure.
    Fault(Fault),
    /// A command line that clap does not understand, in its words.
    CommandLine(StyledStr),
    /// A spec with problems, each with its place in the file.
    Spec(Box<LoadError>),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Spec(Box::new(error))
    }
}

impl From<Box<LoadError>> for Failure {
    fn from(error: Box<LoadError>) -> Self {
        Self::Spec(error)
    }
}

impl Failure {
    /// Its exit code.
    pub fn exit_code(&self) -> u8 {
        exit::of_fault(self.kind(), signals::received())
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Fault(fault) => fault.kind(),
            Self::CommandLine(_) => Kind::Usage,
            Self::Spec(_) => Kind::Spec,
        }
    }

    /// Tells it on standard error, in the printer's format.
    pub fn tell(&self, printer: &Printer) {
        if printer.format().is_json() {
            return printer.complain(self.envelope());
        }
        match self {
            Self::Fault(fault) => printer.fault(fault),
            Self::CommandLine(words) => printer.complain(house_words(&words.ansi().to_string())),
            Self::Spec(error) => tell_spec(error, printer),
        }
    }

    fn envelope(&self) -> String {
        let (message, hint) = match self {
            Self::Fault(fault) => (fault.message().to_owned(), fault.hint_text().map(str::to_owned)),
            Self::CommandLine(words) => command_line(&house_words(&words.to_string())),
            Self::Spec(error) => (error.to_string(), None),
        };
        let data = json!({
            "kind": kind_name(self.kind()),
            "exit_code": self.exit_code(),
            "message": message,
            "hint": hint,
            "problems": match self { Self::Spec(error) => problems(error), _ => Vec::new() },
        });
        // A value of strings and numbers is always JSON.
        Envelope::new("error", data).line().unwrap_or_default()
    }
}

/// clap's tips are our hints.
fn house_words(text: &str) -> String {
    text.replace("tip:", "hint:").trim_end().to_owned()
}

/// Message and hint of what clap says.
fn command_line(text: &str) -> (String, Option<String>) {
    let paragraphs = || text.split("\n\n").map(str::trim);
    let message = paragraphs().next().unwrap_or_default();
    let hint = paragraphs().find_map(|paragraph| paragraph.strip_prefix("hint: "));
    (message.trim_start_matches("error: ").to_owned(), hint.map(str::to_owned))
}

fn tell_spec(error: &LoadError, printer: &Printer) {
    for (number, problem) in error.problems.iter().enumerate() {
        if number > 0 {
            printer.complain("");
        }
        printer.complain(snippet::render(error, problem));
        if let Some(hint) = &problem.hint {
            printer.hint(hint);
        }
    }
    if error.problems.len() > 1 {
        printer.complain(format!("\n{}: {error}", paint::bad("error")));
    }
}

fn problems(error: &LoadError) -> Vec<serde_json::Value> {
    error
        .problems
        .iter()
        .map(|problem| {
            let position = error.position(problem);
            json!({
                "message": problem.message,
                "hint": problem.hint,
                "key": problem.place,
                "line": position.map(|position| position.line),
                "column": position.map(|position| position.column),
            })
        })
        .collect()
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Usage => "usage",
        Kind::Spec => "spec",
        Kind::NotFound => "not_found",
        Kind::Denied => "denied",
        Kind::NoSpace => "no_space",
        Kind::Refused => "refused",
        Kind::Io => "io",
        Kind::Corrupt => "corrupt",
        Kind::Interrupted => "interrupted",
        Kind::Unsupported => "unsupported",
        Kind::Bug => "bug",
    }
}
