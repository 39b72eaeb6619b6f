use serde::Serialize;

/// What every JSON document we print is wrapped in, so that a reader knows what it holds and who wrote it.
#[derive(Debug, Serialize)]
pub struct Envelope<'a, T> {
    /// Version of the program.
    pub forebay: &'static str,
    /// What `data` is: `run`, `runs`, `comparison`, `error`.
    pub kind: &'a str,
    /// The document.
    pub data: T,
}

impl<'a, T: Serialize> Envelope<'a, T> {
    /// Wraps `data`.
    pub const fn new(kind: &'a str, data: T) -> Self {
        Self { forebay: env!("CARGO_PKG_VERSION"), kind, data }
    }

    /// As indented JSON, for one document.
    pub fn pretty(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// As one line.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_who_wrote_what() {
        let line = Envelope::new("runs", [1, 2]).line().unwrap();
        assert_eq!(
            line,
            format!(r#"{{"forebay":"{}","kind":"runs","data":[1,2]}}"#, env!("CARGO_PKG_VERSION"))
        );
    }
}
