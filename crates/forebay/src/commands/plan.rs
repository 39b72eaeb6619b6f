mod check;
mod show;

use super::{Context, Result, catalog};
use crate::cli::{Plan, PlanAction};
use crate::question::Question;

pub use show::answer;

/// Plans for a spec, checks a design, or explains a name.
pub fn run(context: &Context, arguments: &Plan) -> Result {
    if let Some(PlanAction::Check(arguments)) = &arguments.action {
        return check::run(context, arguments);
    }
    let Plan { facts, allowed, judging, showing, .. } = arguments;
    if let Some(name) = &showing.explain {
        return catalog::explain(context, facts, name);
    }
    let document = spec::load(&arguments.spec)?;
    let question = Question::of(&document, facts, allowed, judging, showing)?;
    answer(context, &question, showing)
}
