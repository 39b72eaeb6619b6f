//! Legends are HTML beside the chart: they wrap, and never cover data.

use maud::{Markup, html};

use super::theme::{Ink, Look};

/// One entry of a legend.
pub struct Entry {
    /// How it is drawn.
    pub look: Look,
    /// What it is.
    pub text: String,
    /// A bar rather than a line.
    pub bar: bool,
}

impl Entry {
    /// A line.
    pub fn line(look: Look, text: impl Into<String>) -> Self {
        Self { look, text: text.into(), bar: false }
    }

    /// A filled area.
    pub fn bar(look: Look, text: impl Into<String>) -> Self {
        Self { look, text: text.into(), bar: true }
    }
}

/// What is drawn how.
pub fn legend(entries: &[Entry]) -> Markup {
    html! {
        ul.legend {
            @for entry in entries {
                li { (swatch(entry)) (entry.text) }
            }
        }
    }
}

fn swatch(entry: &Entry) -> Markup {
    let class = entry.look.ink.class();
    let fill = format!("fill-{class}");
    let dash = entry.look.dash;
    let line = if dash > 0 { format!("stroke-{class} d{dash}") } else { format!("stroke-{class}") };
    html! {
        svg.swatch viewBox="0 0 144 48" aria-hidden="true" {
            @if entry.bar {
                rect class=(fill) x="24" y="4" width="96" height="40" {}
            } @else {
                line class=(line) x1="0" y1="24" x2="144" y2="24" stroke-width="9" {}
                @if let Ink::Series(index) = entry.look.ink {
                    @match index % 3 {
                        0 => circle class=(fill) cx="72" cy="24" r="14" {},
                        1 => rect class=(fill) x="60" y="12" width="24" height="24" {},
                        _ => polygon class=(fill) points="72,4 90,36 54,36" {},
                    }
                }
            }
        }
    }
}
