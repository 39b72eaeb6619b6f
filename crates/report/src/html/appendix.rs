//! What the figures belong to, how to get them again, and what the words mean.

use maud::{Markup, html};
use record::RunRecord;

use crate::facts::{environment, glossary};
use crate::text;

pub fn environment(record: &RunRecord) -> Markup {
    html! {
        @for table in environment::tables(record) { (table.html()) }
    }
}

pub fn repeat(record: &RunRecord) -> Markup {
    html! {
        (environment::run(record).html())
        @if !record.command.is_empty() {
            h3 { "Command" }
            (listing("Command", &text::shell(&record.command)))
        }
        @if let Some(spec) = &record.spec {
            h3 { "Spec " code { (spec.path.display()) } }
            (listing("Spec", &spec.text))
        }
    }
}

fn listing(name: &str, content: &str) -> Markup {
    html! { pre.scroll tabindex="0" role="group" aria-label=(name) { code { (content) } } }
}

pub fn glossary() -> Markup {
    html! {
        dl { @for (word, meaning) in glossary::WORDS { div { dt { (word) } dd { (meaning) } } } }
    }
}
