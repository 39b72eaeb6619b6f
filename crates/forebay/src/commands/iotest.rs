use bench::data::Pattern;
use bench::languages::iotest::{Iotest as Test, TRANSFER_SIZE, classic};
use console::Format;

use super::{Context, Result, ending, measure};
use crate::cli::{Data, Iotest};

/// Runs the SAS test on one directory.
pub fn run(context: &Context, arguments: &Iotest) -> Result {
    let test = Test {
        pcores: arguments.pcores.map(std::num::NonZero::get),
        file_size: arguments.file_size,
        transfer_size: TRANSFER_SIZE,
        time_boxed: arguments.time_boxed,
        direct: arguments.direct,
        keep_cache: arguments.keep_cache,
        pattern: match arguments.data {
            Data::Random => Pattern::Unique,
            Data::Zeros => Pattern::Zeros,
        },
        engine: arguments.engine.into(),
        pin: arguments.pin,
        repetitions: arguments.repetitions.get(),
        ..Test::default()
    };
    let (mut plan, sizing) = test.plan("iotest", &arguments.target)?;
    plan.workload.ranks = context.ranks(plan.workload.ranks);
    plan.pcores = context.pcores(plan.pcores);
    for note in &sizing.notes {
        context.printer.warn(note);
    }
    let classic_block = arguments.classic && context.printer.format() == Format::Text;
    let (record, outcome) = measure::measure(
        context,
        vec![plan],
        &arguments.guards,
        &arguments.outputs,
        measure::Judge::default(),
    )?;
    measure::finish(record.as_ref(), outcome, |record| {
        if classic_block {
            context.printer.data(classic(record))?;
            ending::write_reports(context, record, &arguments.outputs)?;
            ending::outcome(record)
        } else {
            ending::show(context, record, &arguments.outputs)
        }
    })
}
