use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

/// A failure in words, as it travels from one process to another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    /// Its place among [`KINDS`].
    kind: u8,
    message: String,
    hint: Option<String>,
}

/// All sorts of failures, in an order that stays.
const KINDS: [Kind; 11] = [
    Kind::Usage,
    Kind::Spec,
    Kind::NotFound,
    Kind::Denied,
    Kind::NoSpace,
    Kind::Refused,
    Kind::Io,
    Kind::Corrupt,
    Kind::Interrupted,
    Kind::Unsupported,
    Kind::Bug,
];

impl Told {
    /// What there is to tell.
    pub fn of(fault: &Fault) -> Self {
        let kind = KINDS.iter().position(|kind| *kind == fault.kind()).unwrap_or(KINDS.len());
        Self {
            kind: kind as u8,
            message: fault.message().to_owned(),
            hint: fault.hint_text().map(str::to_owned),
        }
    }

    /// The same, as told by somebody.
    pub fn by(mut self, who: &str) -> Self {
        self.message = format!("{who}: {}", self.message);
        self
    }

    /// As if it had happened here.
    pub fn into_fault(self) -> Fault {
        let kind = KINDS.get(usize::from(self.kind)).copied().unwrap_or(Kind::Bug);
        let fault = Fault::new(kind, self.message);
        match self.hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}
