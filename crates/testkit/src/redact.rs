//! The one redactor: replaces what differs from run to run, so that transcripts can be compared.

use std::path::Path;

use regex::Regex;

/// What always differs: run ids, wall clock times, versions of this program.
const ALWAYS: [(&str, &str); 3] = [
    (r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", "[run]"),
    (r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})(\[[^\]]+\])?", "[time]"),
    (r#"\b(forebay"?[: ]+"?)\d+\.\d+\.\d+"#, "${1}[version]"),
];

/// What differs where something was measured. Rates come before sizes, because their units begin the same.
const MEASURED: [(&str, &str); 4] = [
    (r"\b\d+(\.\d+)? ([kMGT]?B|[KMGT]iB)/s", "[rate]"),
    (r"\b\d+(\.\d+)? ([kM] )?op/s", "[rate]"),
    (r"\b\d+(\.\d+)? ([kMGTP]?B|[KMGTP]iB)\b", "[size]"),
    (r"\b(\d+h \d{2}m|\d+m \d{2}s|\d+(\.\d+)? (ns|µs|ms|s))\b", "[duration]"),
];

/// Replaces what differs by a word in brackets.
pub struct Redactor {
    paths: Vec<(String, String)>,
    rules: Vec<(Regex, &'static str)>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Replaces run ids, times and the program's version.
    pub fn new() -> Self {
        Self { paths: Vec::new(), rules: compile(&ALWAYS) }
    }

    /// Also replaces `path` by `[name]`.
    pub fn path(mut self, path: &Path, name: &str) -> Self {
        self.paths.push((path.to_string_lossy().into_owned(), format!("[{name}]")));
        self
    }

    /// Also replaces rates, sizes and durations.
    pub fn measured(mut self) -> Self {
        self.rules.extend(compile(&MEASURED));
        self
    }

    /// The text without what differs.
    pub fn apply(&self, text: &str) -> String {
        let named = self.paths.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name));
        self.rules.iter().fold(named, |text, (rule, word)| rule.replace_all(&text, *word).into_owned())
    }
}

fn compile(rules: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    let regex = |pattern| Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"));
    rules.iter().map(|(pattern, word)| (regex(pattern), *word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_times_versions_and_paths_always_go() {
        let text = "run 20261121-214226-3f9a1c at 2026-11-21T21:42:26Z in /tmp/x/runs by forebay 0.1.0";
        let seen = Redactor::new().path(Path::new("/tmp/x"), "dir").apply(text);
        assert_eq!(seen, "run [run] at [time] in [dir]/runs by forebay [version]");
        assert_eq!(Redactor::new().apply(r#"{"forebay":"0.1.0"}"#), r#"{"forebay":"[version]"}"#);
    }

    #[test]
    fn measurements_go_on_request() {
        let text = "write: 152.3 MB/s, 2.40 k op/s, 1.50 GiB in 4m 05s, p99 1.25 ms";
        assert_eq!(Redactor::new().apply(text), text);
        let seen = Redactor::new().measured().apply(text);
        assert_eq!(seen, "write: [rate], [rate], [size] in [duration], p99 [duration]");
    }
}
