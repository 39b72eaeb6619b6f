//! Where files lie on the servers: their layouts, and what each OST or brick holds.

use record::{PhaseResult, RunRecord, StorageLayout};

use crate::table::{Table, Tone};

/// From here on the fullest keeps the others waiting.
const UNEVEN: f64 = 1.25;
/// Rows of a table; files beyond are in the record.
const MOST: usize = 64;

/// What was found of a test: after the first phase that wrote its files.
pub struct Found<'r> {
    pub test: &'r str,
    pub phase: &'r PhaseResult,
    pub layout: &'r StorageLayout,
}

/// Of all tests; none where the file systems do not tell.
pub fn all(record: &RunRecord) -> Vec<Found<'_>> {
    let of = |test: &'_ record::TestRecord| -> Option<usize> {
        test.repetitions
            .iter()
            .position(|repetition| repetition.phases.iter().any(|phase| phase.layout.is_some()))
    };
    let mut found = Vec::new();
    for test in &record.tests {
        let Some(number) = of(test) else { continue };
        let phases = &test.repetitions[number].phases;
        if let Some((phase, layout)) = phases.iter().find_map(|phase| Some((phase, phase.layout.as_ref()?))) {
            found.push(Found { test: &test.name, phase, layout });
        }
    }
    found
}

impl Found<'_> {
    /// What it comes to.
    pub fn sentence(&self) -> String {
        let layout = self.layout;
        let looked = format!(
            "{} of {} files were looked at after {} of {}",
            layout.files, layout.files_in_all, self.phase.name, self.test
        );
        match layout.imbalance() {
            Some((fullest, over)) => format!(
                "{looked}. The fullest {}, {}, holds {over:.2} times the mean of all that hold any.",
                layout.parts_word(),
                fullest.name
            ),
            None => format!("{looked}; they hold nothing."),
        }
    }

    /// What each OST or brick holds.
    pub fn parts(&self) -> Table {
        let what = self.layout.parts_word();
        let mut table = Table::new(format!("{}: what lies on each {what}", self.test))
            .words([what])
            .figures(["Files", "Bytes", "Of the mean"]);
        let counted = |name: &str| !name.starts_with("MDT");
        let of: Vec<u64> = self
            .layout
            .parts
            .iter()
            .filter(|part| counted(&part.name))
            .map(|part| part.bytes.get())
            .collect();
        let mean = of.iter().sum::<u64>() as f64 / of.len().max(1) as f64;
        for part in self.layout.parts.iter().take(MOST) {
            let over = part.bytes.get() as f64 / mean.max(1.0);
            let shown = if counted(&part.name) { format!("{:.0} %", over * 100.0) } else { "-".to_owned() };
            let cell = crate::table::Cell::from(shown);
            let uneven = counted(&part.name) && over > UNEVEN;
            table.row(vec![
                part.name.as_str().into(),
                part.files.to_string().into(),
                part.bytes.to_string().into(),
                if uneven { cell.tone(Tone::Warn) } else { cell },
            ]);
        }
        table
    }

    /// The layout of each file.
    pub fn files(&self) -> Table {
        let shown = self.layout.each.len().min(MOST);
        let mut table = Table::new(format!("{}: {shown} of {} files", self.test, self.layout.files_in_all))
            .words(["File", "Layout", "Lies on"]);
        for file in self.layout.each.iter().take(MOST) {
            let on: Vec<String> = file.on.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
            table.row(vec![file.file.as_str().into(), file.layout.as_str().into(), on.join(", ").into()]);
        }
        table
    }
}
