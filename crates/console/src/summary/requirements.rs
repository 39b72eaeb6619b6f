use record::{RequirementVerdict, RunRecord, Validity};

use crate::{Align, Cell, Table};

/// Required against measured; nothing if the run had no requirements.
pub fn section(record: &RunRecord) -> Option<String> {
    if record.requirements.is_empty() {
        return None;
    }
    let mut table = Table::new([
        ("requirement", Align::Left),
        ("per pCore", Align::Right),
        ("measured", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("margin", Align::Right),
        ("verdict", Align::Left),
        ("numbers", Align::Left),
        ("limited by", Align::Left),
    ]);
    table.may_leave_out(&["min", "max", "margin"]);
    for requirement in &record.requirements {
        table.row(row(requirement));
    }
    Some(table.to_string())
}

fn row(requirement: &RequirementVerdict) -> [Cell; 9] {
    let spread = requirement.measured_per_pcore.as_ref();
    let rate =
        |rate: Option<units::Bandwidth>| Cell::new(rate.map_or("-".to_owned(), |rate| rate.to_string()));
    [
        Cell::new(format!("{} {}", requirement.storage, requirement.direction.word())),
        Cell::new(requirement.required_per_pcore),
        rate(spread.map(|s| s.median_bytes_per_second)).strong(),
        rate(spread.map(|s| s.min_bytes_per_second)),
        rate(spread.map(|s| s.max_bytes_per_second)),
        Cell::new(requirement.margin.map_or("-".to_owned(), |margin| format!("{:+.1} %", margin * 100.0))),
        verdict(requirement),
        numbers(requirement.validity),
        Cell::new(&requirement.limited_by),
    ]
}

fn verdict(requirement: &RequirementVerdict) -> Cell {
    match (requirement.met, requirement.measured_per_pcore) {
        (_, None) => Cell::bad("not measured"),
        (true, _) => Cell::good("met"),
        (false, _) => Cell::bad("not met"),
    }
}

fn numbers(validity: Validity) -> Cell {
    match validity {
        Validity::Valid => Cell::good(validity.words()),
        Validity::ValidWithNotes => Cell::note(validity.words()),
        Validity::NotValid => Cell::bad(validity.words()),
    }
}
