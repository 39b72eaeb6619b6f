//! Rows of `golden.csv` and how answers are held against them.

use std::collections::HashMap;
use std::str::FromStr;

/// A row.
pub struct Row {
    pub id: String,
    pub subject: String,
    pub metric: String,
    inputs: HashMap<String, String>,
    expected: Vec<String>,
    unit: String,
    tolerance: f64,
}

/// What the program says: one or several values, in base units (bytes, bytes per second) where the row names a unit.
pub enum Answer {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl From<f64> for Answer {
    fn from(number: f64) -> Self {
        Self::Numbers(vec![number])
    }
}

impl From<&str> for Answer {
    fn from(word: &str) -> Self {
        Self::Words(vec![word.to_owned()])
    }
}

/// All rows.
pub fn all() -> Vec<Row> {
    let mut reader = csv::Reader::from_path("tests/golden/golden.csv").unwrap();
    let columns = [
        "id",
        "document",
        "place",
        "kind",
        "subject",
        "inputs",
        "metric",
        "expected",
        "unit",
        "tolerance",
        "printed",
        "note",
    ];
    assert_eq!(reader.headers().unwrap(), columns.as_slice());
    let rows: Vec<Row> = reader.records().map(|record| Row::of(&record.unwrap())).collect();
    let mut ids: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "an id is used twice");
    rows
}

impl Row {
    fn of(record: &csv::StringRecord) -> Self {
        assert!(!record[1].is_empty() && !record[2].is_empty(), "{} says no document or place", &record[0]);
        let pair = |part: &str| {
            let (key, value) = part.split_once('=').unwrap_or_else(|| panic!("{}: `{part}`", &record[0]));
            (key.to_owned(), value.to_owned())
        };
        Self {
            id: record[0].to_owned(),
            subject: record[4].to_owned(),
            inputs: record[5].split(';').filter(|part| !part.is_empty()).map(pair).collect(),
            metric: record[6].to_owned(),
            expected: record[7].split(';').map(|part| part.trim().to_owned()).collect(),
            unit: record[8].to_owned(),
            tolerance: if record[9].is_empty() { 0.0 } else { record[9].parse().unwrap() },
        }
    }

    /// An input in words.
    pub fn text(&self, name: &str) -> &str {
        self.maybe(name).unwrap_or_else(|| panic!("{} has no input `{name}`", self.id))
    }

    /// An input that may be left out.
    pub fn maybe(&self, name: &str) -> Option<&str> {
        self.inputs.get(name).map(String::as_str)
    }

    /// An input.
    pub fn input<T: FromStr>(&self, name: &str) -> T {
        let text = self.text(name);
        text.parse().unwrap_or_else(|_| panic!("{}: `{name}` is `{text}`", self.id))
    }

    /// Parts of the metric, as the expected values have them.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metric.split(';').map(str::trim)
    }

    /// What is expected, for rows that are tested in another place.
    pub fn as_expected(&self) -> Answer {
        Answer::Words(self.expected.clone())
    }

    /// What is expected and what the answer is, where they differ.
    pub fn wrong(&self, answer: Option<Answer>) -> Option<String> {
        let said = match answer {
            None => return Some(format!("{}: nothing computes `{}`", self.id, self.subject)),
            Some(Answer::Words(words)) => words,
            Some(Answer::Numbers(numbers)) => {
                let scale = self.scale();
                numbers.into_iter().map(|number| (number / scale).to_string()).collect()
            }
        };
        let same = said.len() == self.expected.len()
            && said.iter().zip(&self.expected).all(|(said, expected)| self.same(said, expected));
        (!same).then(|| {
            let (said, expected) = (said.join(";"), self.expected.join(";"));
            format!("{}: {} {}: {said} is not {expected} {}", self.id, self.subject, self.metric, self.unit)
        })
    }

    fn same(&self, said: &str, expected: &str) -> bool {
        match (said.parse::<f64>(), expected.parse::<f64>()) {
            (Ok(said), Ok(expected)) => {
                (said - expected).abs() <= self.tolerance + 1e-9 * expected.abs().max(1.0)
            }
            _ => said == expected,
        }
    }

    fn scale(&self) -> f64 {
        match self.unit.as_str() {
            "GB/s" => 1e9,
            "MB/s" => 1e6,
            "MiB/s" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            "TiB" => 1_099_511_627_776.0,
            _ => 1.0,
        }
    }
}
