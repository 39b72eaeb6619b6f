//! Why the numbers can be believed, and what limited them.

use maud::{Markup, html};
use record::{Outcome, RunRecord};

use super::details;
use crate::facts::{checks, limits, phases};

pub fn checks(record: &RunRecord) -> Markup {
    let groups = checks::groups(record);
    html! {
        p { (checks::sentence(&groups)) }
        (phases::verification(record).html())
        (phases::searches(record).html())
        @for group in &groups {
            @if matches!(group.outcome, Outcome::Fail | Outcome::Note) {
                (group.table.html())
            } @else {
                (details(&format!("{} ({})", checks::title(group.outcome), group.count), &group.table.html()))
            }
        }
    }
}

pub fn limits(record: &RunRecord) -> Markup {
    let table = limits::table(record);
    html! {
        @if table.is_empty() { p { "This host saw nothing that limited the run." } } @else { (table.html()) }
        @if !limits::traffic(record).is_empty() {
            (details("Bytes seen below the cache", &limits::traffic(record).html()))
        }
        @if !limits::cpu(record).is_empty() { (details("CPU time", &limits::cpu(record).html())) }
    }
}
