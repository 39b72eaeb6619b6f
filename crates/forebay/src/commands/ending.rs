//! How every command that measures ends: reports are written, the run is shown, and its verdict is the outcome.

use fault::{Fault, Kind};
use record::{RunRecord, RunState};

use super::{Context, Result, files};
use crate::cli::Outputs;
use crate::exit::{Outcome, Signal};
use crate::signals;

/// Shows a finished run, writes the reports that `outputs` ask for, and says how it went.
pub fn show(context: &Context, record: &RunRecord, outputs: &Outputs) -> Result {
    context.printer.document("run", record, || console::summary(record))?;
    write_reports(context, record, outputs)?;
    outcome(record)
}

/// Writes the report, beside the record unless `outputs` name a place, and whatever else they ask for.
pub fn write_reports(context: &Context, record: &RunRecord, outputs: &Outputs) -> fault::Result<()> {
    let html = report::html(record)?;
    if let Some(path) = &outputs.report {
        files::write(context, path, &html)?;
    } else {
        let path = context.settings.store()?.save_report(&record.id, &html)?;
        context.printer.say(format!("report: {}", path.display()));
    }
    if let Some(path) = &outputs.md {
        files::write(context, path, &report::markdown(record))?;
    }
    Ok(())
}

/// What a run's record says about how the command went.
pub fn outcome(record: &RunRecord) -> Result {
    match record.state {
        RunState::Interrupted => Ok(Outcome::Stopped(signals::received().unwrap_or(Signal::Interrupt))),
        RunState::Failed | RunState::Running => Err(failure(record).into()),
        RunState::Complete if damaged_words(record) > 0 => Err(damaged(record).into()),
        RunState::Complete if record.met() == Some(false) => Ok(Outcome::NotMet),
        RunState::Complete => Ok(Outcome::Done),
    }
}

fn failure(record: &RunRecord) -> Fault {
    let Some(error) = &record.error else {
        return Fault::new(Kind::Bug, format!("run `{}` ended without saying why", record.id));
    };
    let fault = Fault::new(Kind::Io, &error.message);
    match &error.hint {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// Words that verification found different from what was written, in all phases.
fn damaged_words(record: &RunRecord) -> u64 {
    let repetitions = record.tests.iter().flat_map(|test| &test.repetitions);
    repetitions.flat_map(|repetition| &repetition.phases).map(|phase| phase.verify_failures).sum()
}

fn damaged(record: &RunRecord) -> Fault {
    let words = damaged_words(record);
    Fault::new(Kind::Corrupt, format!("{words} words of 8 bytes were read that differ from what was written"))
        .hint(format!(
            "`forebay runs show {}` names the first of each phase; suspect hardware, and keep no data here",
            record.id
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use record::RunError;
    use testkit::samples::Sample;

    fn code(sample: &Sample) -> u8 {
        match outcome(&sample.build()) {
            Ok(outcome) => exit::of_outcome(outcome),
            Err(failure) => failure.exit_code(),
        }
    }

    #[test]
    fn the_verdict_is_the_exit_code() {
        let met = Sample::default();
        let slow = Sample { write_mb: 90.0, ..met.clone() };
        let unbelievable = Sample { with_failed_check: true, ..met.clone() };
        let without = Sample { required_mb: None, ..slow.clone() };
        assert_eq!([met.clone(), slow, unbelievable, without].map(|sample| code(&sample)), [0, 4, 4, 0]);
        let error = Some(RunError { message: "no space".into(), hint: None });
        assert_eq!(code(&Sample { state: RunState::Failed, error, ..met.clone() }), 1);
        assert_eq!(code(&Sample { state: RunState::Interrupted, ..met }), 130);
    }
}
