//! Sentences broken into lines that a narrow terminal shows whole.

/// Columns that every terminal and every mail has.
pub const WIDTH: usize = 100;

/// `text` in lines of at most [`WIDTH`] columns, each behind `indent`. A word longer than a line stays whole.
pub fn wrap(text: &str, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

/// Columns a text takes; escape codes take none.
fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_no_word_is_lost() {
        let text = "word ".repeat(50);
        let wrapped = wrap(&text, "  ");
        assert!(wrapped.lines().count() > 2);
        assert!(wrapped.lines().all(|line| line.starts_with("  word") && line.len() <= WIDTH));
        assert_eq!(wrapped.split_whitespace().count(), 50);
        assert_eq!(wrap("", "  "), "");
    }
}
