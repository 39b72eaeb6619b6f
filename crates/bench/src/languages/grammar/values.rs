//! Values as IOR's parser reads them.

use fault::Result;
use units::Bytes;

use super::wrong;

/// A size as IOR reads it: a whole number, perhaps one binary letter (`4k` is 4096), and letters behind that which mean
/// nothing (`64kb`, `1MiB`).
pub fn size(text: &str) -> Option<Bytes> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let shift = match text[digits..].chars().next().map(|letter| letter.to_ascii_lowercase()) {
        None => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        Some('p') => 50,
        Some(_) => return None,
    };
    number.checked_mul(1 << shift).map(Bytes::new)
}

/// A whole number that may have a sign.
pub fn number(name: &str, text: &str) -> Result<i64> {
    text.parse().map_err(|_| {
        wrong(format!("`{text}` of option `{name}` is no number"))
            .hint(format!("write a whole number in digits only: `{name} 4`"))
    })
}

/// The number that a text begins with, as C's `atoi` reads it.
pub fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    text.get(..sign + digits)?.parse().ok()
}

/// Without the quotes that come along when a command line is copied from a document: `-b=\"128m\"`.
pub fn unquoted(text: &str) -> String {
    const QUOTES: [char; 7] = ['"', '\'', '“', '”', '„', '‘', '’'];
    let cleaned = text.replace("\\\"", "\"");
    let quoted = |text: &str| text.trim_matches(|c| QUOTES.contains(&c)).to_owned();
    match cleaned.split_once('=') {
        Some((name, value)) if name.starts_with('-') => format!("{}={}", quoted(name), quoted(value)),
        _ => quoted(&cleaned),
    }
}

/// What is wrong with a size.
pub fn no_size(name: &str, text: &str) -> fault::Fault {
    wrong(format!("`{text}` of option `{name}` is no size")).hint(
        "write a whole number with at most one of the letters k, m, g, t, p (binary): `4k`, `32m`, `8g`",
    )
}
