use std::fmt;
use std::sync::Arc;

/// A figure's birth certificate: the document it stands in and when it was true.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The document, by title or address.
    pub document: Arc<str>,
    /// The day, month or year it speaks of, as the document gives it.
    pub as_of: Arc<str>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.document, self.as_of)
    }
}
