//! Why a command did not do its work, and how that is shown: words on standard error, or an envelope with a JSON format.

mod snippet;

use console::{Envelope, Printer, paint};
use fault::{Fault, Kind};
use serde_json::json;
use spec::LoadError;

use crate::exit;

/// What a command returns when it fails.
#[derive(Debug)]
pub enum Failure {
    /// Any failure.
    Fault(Fault),
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

impl Failure {
    /// Its exit code.
    pub fn exit_code(&self) -> u8 {
        exit::of_fault(self.kind())
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Fault(fault) => fault.kind(),
            Self::Spec(_) => Kind::Spec,
        }
    }

    /// Tells it on standard error, in the printer's format.
    pub fn tell(&self, printer: &Printer) {
        if printer.format().is_json() {
            return self.tell_json(printer);
        }
        match self {
            Self::Fault(fault) => printer.fault(fault),
            Self::Spec(error) => tell_spec(error, printer),
        }
    }

    fn tell_json(&self, printer: &Printer) {
        let data = json!({
            "kind": kind_name(self.kind()),
            "exit_code": self.exit_code(),
            "message": self.message(),
            "hint": match self { Self::Fault(fault) => fault.hint_text(), Self::Spec(_) => None },
            "problems": match self { Self::Fault(_) => Vec::new(), Self::Spec(error) => problems(error) },
        });
        // A value of strings and numbers is always JSON.
        printer.complain(Envelope::new("error", data).line().unwrap_or_default());
    }

    fn message(&self) -> String {
        match self {
            Self::Fault(fault) => fault.message().to_owned(),
            Self::Spec(error) => summary(error),
        }
    }
}

fn tell_spec(error: &LoadError, printer: &Printer) {
    for problem in &error.problems {
        printer.complain(snippet::render(error, problem));
        if let Some(hint) = &problem.hint {
            printer.hint(hint);
        }
        printer.complain("");
    }
    printer.complain(format!("{}: {}", paint::bad("error"), summary(error)));
}

fn summary(error: &LoadError) -> String {
    match error.problems.len() {
        1 => format!("spec `{}` has a problem", error.path.display()),
        count => format!("spec `{}` has {count} problems", error.path.display()),
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
