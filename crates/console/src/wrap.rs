//! Sentences broken into lines that a narrow terminal shows whole.

/// Columns that every terminal and every mail has.
pub const WIDTH: usize = 100;

/// A terminal with fewer columns does not know how many it has.
pub const NARROWEST: usize = 40;

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

/// One line of words as the terminal shows it: broken between words, what follows behind `indent`. Elsewhere it stays one
/// line, which is easier to look for.
pub fn to_terminal(line: &str, indent: &str) -> String {
    let room = comfy_table::Table::new().width().map(usize::from).filter(|room| *room >= NARROWEST);
    room.map_or_else(|| line.to_owned(), |room| within(line, indent, room))
}

fn within(line: &str, indent: &str, room: usize) -> String {
    let margin: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut lines: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match lines.last_mut() {
            Some(last) if width(last) + 1 + width(word) <= room => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(format!("{margin}{word}")),
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

    #[test]
    fn a_line_is_broken_where_a_terminal_would_break_a_word() {
        let line = "  note: a sentence that goes on";
        assert_eq!(within(line, "    ", 20), "  note: a sentence\n    that goes on");
        assert_eq!(within(line, "", 80), line);
    }
}
