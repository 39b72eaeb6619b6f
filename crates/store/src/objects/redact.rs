//! What others say in their errors may have a signed URL or a token in it: nothing of that is passed on.

/// Words that come before a secret in URLs, headers and settings.
const MARKS: [&str; 9] = [
    "sig=",
    "signature=",
    "signature:",
    "credential=",
    "token=",
    "token:",
    "authorization:",
    "accountkey=",
    "secret",
];

/// `text` without what may be a secret: the queries of URLs, and what follows a word that announces one.
pub fn redacted(text: &str) -> String {
    text.split(' ').map(redacted_word).collect::<Vec<_>>().join(" ")
}

fn redacted_word(word: &str) -> String {
    let word = match word.split_once("://").and_then(|(_, rest)| rest.find('?')) {
        Some(_) => word.split('?').next().unwrap_or_default(),
        None => word,
    };
    let lower = word.to_ascii_lowercase();
    match MARKS.iter().filter_map(|mark| lower.find(mark)).min() {
        Some(at) if word.is_char_boundary(at) => format!("{}...", &word[..at]),
        Some(_) => "...".to_owned(),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_and_signatures_go() {
        for text in [
            "sending https://a.example/c/b?sv=2024&sig=hunter2 failed",
            "?sig=hunter2",
            "AccountKey=hunter2;x",
            "Authorization:hunter2",
            "AWS4-HMAC-SHA256 Credential=hunter2/x, Signature=hunter2",
        ] {
            assert!(!redacted(text).contains("hunter2"), "{}", redacted(text));
        }
        assert_eq!(redacted("no such bucket: x"), "no such bucket: x");
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in ".{0,60}") {
            let _ = redacted(&text);
        }
    }
}
