//! The same question for a larger grid.

use record::{GrownDesign, GrowthStep};

use super::figures::{dollars, number};
use super::listed;

/// What becomes of today's design when the grid grows, and what is best then.
pub fn section(steps: &[GrowthStep]) -> Option<String> {
    listed("When the grid grows", steps.iter().flat_map(lines))
}

fn lines(step: &GrowthStep) -> Vec<String> {
    let times = format!("{}x", number(step.factor));
    let mut lines = Vec::new();
    match &step.same_kind {
        Some(design) => lines.push(format!("{times}, the same kind: {}", grown(design))),
        None if step.stops.is_empty() => lines.push(format!("{times}: the same kind has no design")),
        None => lines.push(format!("{times}: the same kind stops here: {}", step.stops.join("; "))),
    }
    match (&step.best, &step.same_kind) {
        (Some(best), same) if same.as_ref().is_none_or(|same| same.title != best.title) => {
            lines.push(format!("{times}, the best of all: {}", grown(best)));
        }
        (None, _) => lines.push(format!("{times}: no design at all")),
        _ => {}
    }
    lines
}

fn grown(design: &GrownDesign) -> String {
    let cost = dollars(design.usd_per_month);
    let change =
        if design.change.is_empty() { String::new() } else { format!(" (against today: {})", design.change) };
    format!("{}, {cost} per month{change}", design.title)
}
