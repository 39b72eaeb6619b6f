//! The answer to a question: searched, shown as asked, and written to the files that were named.

use fault::{Fault, Kind};
use record::{DesignSheet, PlanDocument};

use crate::cli::Showing;
use crate::commands::{Context, Result, files};
use crate::design;
use crate::exit::Outcome;
use crate::question::{Question, impossible};

/// Answers a question.
pub fn answer(context: &Context, question: &Question, showing: &Showing) -> Result {
    if let Some(path) = showing.design.as_deref().filter(|_| !showing.force) {
        files::refuse_existing(path)?;
    }
    let (plan, document) = documented(question, showing)?;
    show(context, &document, showing)?;
    write(context, &plan, &document, showing)?;
    Ok(if document.ranked.is_empty() { Outcome::NotMet } else { Outcome::Done })
}

fn show(context: &Context, document: &PlanDocument, showing: &Showing) -> fault::Result<()> {
    let printer = &context.printer;
    if let Some(family) = showing.why_not {
        let family = ::plan::Family::from(family).as_str();
        let refused: Vec<_> = document.refused.iter().filter(|refused| refused.family == family).collect();
        printer.document("refused", &refused, || console::why_not(document, family))
    } else if let Some(rank) = showing.why {
        let sheet = ranked(document, rank.get())?;
        let title = format!("design {rank} of {}", document.ranked.len());
        printer.document("design", sheet, || console::why(&title, sheet))
    } else {
        printer.document("plan", document, || console::plan(document, showing.top))
    }
}

/// Writes the files that were asked for.
fn write(
    context: &Context,
    plan: &::plan::Plan,
    document: &PlanDocument,
    showing: &Showing,
) -> fault::Result<()> {
    if let Some(path) = &showing.html {
        files::write(context, path, &report::plan_html(document)?)?;
    }
    if let Some(path) = &showing.md {
        files::write(context, path, &report::plan_markdown(document))?;
    }
    if let Some(path) = showing.design.as_ref().filter(|_| !document.ranked.is_empty()) {
        let sheet = ranked(document, showing.choose.get())?;
        let chosen = &plan.ranked[showing.choose.get() as usize - 1].design;
        files::write_whole(context, path, &design::text(&sheet.title, chosen)?, showing.force)?;
    }
    Ok(())
}

/// The plan and its document, with the next upgrade of every design, growth, and what makes it impossible.
fn documented(question: &Question, showing: &Showing) -> fault::Result<(::plan::Plan, PlanDocument)> {
    let Question { catalog, spec, options } = question;
    let plan = ::plan::search(catalog, spec, options)?;
    let mut document = ::plan::document(&plan, options)?;
    for (sheet, evaluation) in document.ranked.iter_mut().zip(&plan.ranked) {
        sheet.upgrade = ::plan::upgrade(catalog, evaluation, &spec.constraints, options)?;
    }
    if document.ranked.is_empty() {
        document.impossible = impossible::reasons(question)?;
    }
    document.growth = ::plan::grow(catalog, spec, options, &showing.grow)?;
    Ok((plan, document))
}

/// The design of a rank.
fn ranked(document: &PlanDocument, rank: u32) -> fault::Result<&DesignSheet> {
    document.ranked.get(rank as usize - 1).ok_or_else(|| {
        let count = document.ranked.len();
        Fault::new(Kind::Usage, format!("there is no design {rank}: the plan has {count}"))
            .hint("ranks count from 1, as `forebay plan` shows them")
    })
}
