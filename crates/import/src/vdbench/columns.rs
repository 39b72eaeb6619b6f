//! The two heading lines of vdbench's tables, which name columns between them.

/// A heading of raw I/O: the first line has one name more than the second, `interval`.
#[derive(Debug, Clone, Default)]
pub struct Columns(Vec<String>);

impl Columns {
    /// The columns of two heading lines; `None` if they don't belong together.
    pub fn of(first: &str, second: &str) -> Option<Self> {
        let (_, first) = first.split_once("interval")?;
        let upper: Vec<&str> = first.split_whitespace().collect();
        let lower: Vec<&str> = second.split_whitespace().collect();
        if upper.len() != lower.len() || upper.len() < 5 {
            return None;
        }
        Some(Self(upper.iter().zip(lower).map(|(one, other)| format!("{one} {other}")).collect()))
    }

    /// How many values a row has after its interval.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a column in a row's values.
    pub fn get<'a>(&self, values: &[&'a str], name: &str) -> Option<&'a str> {
        let place = self.0.iter().position(|column| column == name)?;
        values.get(place).copied()
    }
}

/// Names of the metadata operations in a file system's heading, in order: `mkdir`, `rmdir`, `create`.
pub fn operations(heading: &str) -> Vec<String> {
    let Some((_, rest)) = heading.split_once(".xfer..") else { return Vec::new() };
    rest.split_whitespace().map(|word| word.trim_matches('.').to_owned()).collect()
}
