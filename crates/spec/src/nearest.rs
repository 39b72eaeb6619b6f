/// The candidate a person most likely meant by `word`, if one is close enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, a suggestion confuses more than it helps: `core` for `pcores` is 0.89, `foo` for `role` 0.53.
    const CLOSE: f64 = 0.8;
    let word = folded(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &folded(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `` `a`, `b` ``: names as they appear in messages.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let keys = ["name", "pcores", "memory_per_pcore", "clients"];
        assert_eq!(nearest("core", keys), Some("pcores"));
        assert_eq!(nearest("PCores", keys), Some("pcores"));
        assert_eq!(nearest("memory-per-pcore", keys), Some("memory_per_pcore"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(quoted(["a", "b"]), "`a`, `b`");
    }
}
