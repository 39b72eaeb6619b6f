use record::{DesignComparison, LimitComparison, RunRecord, Standing};

use crate::{Align, Cell, Table, paint};

/// What was measured beside the limits of the design; nothing if the run had none.
pub fn section(record: &RunRecord) -> Option<String> {
    let design = record.design.as_ref()?;
    let mut lines = vec![format!("{}: {}", paint::strong("design"), design.title)];
    let comparisons = record.design_comparisons();
    lines.extend(comparisons.iter().map(|comparison| {
        format!("{} {}: {}", comparison.storage, comparison.direction.word(), comparison.sentence())
    }));
    lines.extend(comparisons.iter().find_map(|comparison| comparison.extent.clone()));
    if comparisons.iter().any(|comparison| !comparison.limits.is_empty()) {
        lines.push(table(&comparisons).to_string());
    }
    Some(lines.join("\n"))
}

fn table(comparisons: &[DesignComparison]) -> Table {
    let mut table = Table::new([
        ("requirement", Align::Left),
        ("limit of the design", Align::Left),
        ("expected per pCore", Align::Right),
        ("stated", Align::Right),
        ("measured is", Align::Right),
        ("finding", Align::Left),
    ]);
    for comparison in comparisons {
        for (index, limit) in comparison.limits.iter().enumerate() {
            table.row(row(comparison, limit, comparison.bottleneck == Some(index)));
        }
    }
    table
}

fn row(comparison: &DesignComparison, limit: &LimitComparison, bottleneck: bool) -> [Cell; 6] {
    let share = limit.share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
    let finding = match limit.standing {
        Standing::Exceeded => Cell::note("exceeded"),
        Standing::Near if bottleneck => Cell::new("bottleneck").strong(),
        Standing::Near => Cell::new("reached"),
        Standing::Open => Cell::new("not reached"),
        Standing::NotMeasured => Cell::new("not measured"),
    };
    [
        Cell::new(format!("{} {}", comparison.storage, comparison.direction.word())),
        Cell::new(&limit.name),
        Cell::new(limit.reached_per_pcore),
        Cell::new(limit.stated_per_pcore),
        Cell::new(share),
        finding,
    ]
}
