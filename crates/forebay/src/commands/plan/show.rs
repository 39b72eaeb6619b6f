//! The answer to a question: searched, shown as asked, and written to the files that were named.

use fault::{Fault, Kind};
use record::{DesignSheet, PlanDocument};

use crate::cli::Showing;
use crate::commands::{Context, Result, files};
use crate::design;
use crate::exit::Outcome;
use crate::question::Question;

/// Answers a question.
pub fn answer(context: &Context, question: &Question, showing: &Showing) -> Result {
    if let Some(path) = showing.design.as_deref().filter(|_| !showing.force) {
        files::refuse_existing(path)?;
    }
    let (plan, document) = documented(question, showing)?;
    if let Some(family) = showing.why_not {
        let family = ::plan::Family::from(family).as_str();
        context
            .printer
            .document("refused", &refused_of(&document, family), || console::why_not(&document, family))?;
    } else if let Some(rank) = showing.why {
        let sheet = ranked(&document, rank.get())?;
        let title = format!("design {rank} of {}", document.ranked.len());
        context.printer.document("design", sheet, || console::why(&title, sheet))?;
    } else {
        context.printer.document("plan", &document, || console::plan(&document, showing.top))?;
    }
    if let Some(path) = &showing.design {
        let sheet = ranked(&document, showing.choose.get())?;
        let chosen = &plan.ranked[showing.choose.get() as usize - 1].design;
        files::write_whole(context, path, &design::text(&sheet.title, chosen)?, showing.force)?;
    }
    Ok(if document.ranked.is_empty() { Outcome::NotMet } else { Outcome::Done })
}

/// The plan and its document, with the next upgrade of every design that is shown in full, and growth.
fn documented(question: &Question, showing: &Showing) -> fault::Result<(::plan::Plan, PlanDocument)> {
    let Question { catalog, spec, options } = question;
    let plan = ::plan::search(catalog, spec, options)?;
    let mut document = ::plan::document(&plan, options)?;
    for (sheet, evaluation) in document.ranked.iter_mut().zip(&plan.ranked) {
        sheet.upgrade = ::plan::upgrade(catalog, evaluation, &spec.constraints, options)?;
    }
    document.growth = ::plan::grow(catalog, spec, options, &showing.grow)?;
    Ok((plan, document))
}

fn refused_of<'a>(document: &'a PlanDocument, family: &str) -> Vec<&'a record::RefusedFamily> {
    document.refused.iter().filter(|refused| refused.family == family).collect()
}

/// The design of a rank.
fn ranked(document: &PlanDocument, rank: u32) -> fault::Result<&DesignSheet> {
    document.ranked.get(rank as usize - 1).ok_or_else(|| {
        let count = document.ranked.len();
        Fault::new(Kind::Usage, format!("there is no design {rank}: the plan has {count}"))
            .hint("ranks count from 1, as `forebay plan` shows them")
    })
}
