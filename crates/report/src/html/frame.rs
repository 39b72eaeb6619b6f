//! What every page has: the shell around its sections, and the parts that sections are made of.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// One part of the page: anchor, title, content.
pub struct Section {
    /// The anchor.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// What is below it.
    pub content: Markup,
}

/// A page that needs nothing else.
pub struct Frame {
    /// The window's title.
    pub title: String,
    /// Program and version.
    pub program: String,
    /// What the page is, for people who use its list of parts.
    pub what: &'static str,
    /// Name and facts above everything.
    pub header: Markup,
    /// Its parts; the first has the answer.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: Markup,
}

impl Frame {
    /// The whole page.
    pub fn page(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(self.program);
                    // An empty icon keeps browsers from asking for one.
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    @if let Some(first) = self.sections.first() {
                        a.skip href=(format!("#{}", first.id)) { "Skip to the " (first.id) }
                    }
                    (self.header)
                    (self.navigation())
                    main { @for section in &self.sections { (section.html()) } }
                    footer { (self.footer) }
                }
            }
        };
        page.into_string()
    }

    fn navigation(&self) -> Markup {
        html! {
            nav aria-label=(format!("Parts of this {}", self.what)) {
                ul { @for section in &self.sections { li { a href=(format!("#{}", section.id)) { (section.title) } } } }
            }
        }
    }
}

impl Section {
    /// A part of the page.
    pub const fn new(id: &'static str, title: &'static str, content: Markup) -> Self {
        Self { id, title, content }
    }

    fn html(&self) -> Markup {
        html! {
            section id=(self.id) aria-labelledby=(format!("{}-title", self.id)) {
                h2 id=(format!("{}-title", self.id)) { (self.title) }
                (self.content)
            }
        }
    }
}

/// A chart with its caption and its legend, and the same in words or rows.
pub fn figure(caption: &str, chart: &Markup, legend: Option<Markup>, equivalent: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            div.scroll tabindex="0" role="group" aria-label=(format!("Chart: {caption}")) { (chart) }
            @if let Some(legend) = legend { (legend) }
            (equivalent)
        }
    }
}

/// Rows that open on demand, and are open on paper.
pub fn details(summary: &str, content: &Markup) -> Markup {
    html! { details { summary { (summary) } (content) } }
}
