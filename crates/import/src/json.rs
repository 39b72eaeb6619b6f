//! JSON documents with other text around them, as tools print them after warnings.

use fault::Result;
use serde_json::Value;

use crate::page::Page;

/// The first JSON object of a page.
pub fn object(page: &Page) -> Result<Value> {
    let mut start = 0;
    let mut first_line = None;
    for (number, line) in (1..).zip(page.text().split_inclusive('\n')) {
        if line.trim_start().starts_with('{') {
            first_line = Some(number);
            break;
        }
        start += line.len();
    }
    let Some(first_line) = first_line else {
        return Err(page.missing("a line that begins a JSON object with `{`"));
    };
    let mut documents = serde_json::Deserializer::from_str(&page.text()[start..]).into_iter::<Value>();
    match documents.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => {
            let number = first_line + error.line().saturating_sub(1);
            let found = page.lines().nth(number.saturating_sub(1)).map_or("", |(_, line)| line);
            Err(page.wrong(number, &format!("valid JSON ({error})"), found))
        }
        None => Err(page.missing("a JSON object")),
    }
}

/// A number at a path of keys.
pub fn number(value: &Value, keys: &[&str]) -> Option<f64> {
    at(value, keys)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

/// A whole number at a path of keys.
pub fn count(value: &Value, keys: &[&str]) -> Option<u64> {
    at(value, keys)?.as_u64()
}

/// A text at a path of keys.
pub fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys)?.as_str()
}

fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}
