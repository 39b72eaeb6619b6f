use bench::workload::EngineChoice;
use bench::{TestPlan, Workload};

use super::{Context, Result, files, searching};
use crate::cli::{Engine, Run};

/// What the workload file says.
pub fn load(arguments: &Run) -> fault::Result<Workload> {
    Workload::from_toml(&files::read_input("workload", &arguments.workload)?)
}

/// Runs a workload file on one directory.
pub fn run(context: &Context, arguments: &Run) -> Result {
    let mut workload = load(arguments)?;
    if let Some(repetitions) = arguments.repetitions {
        workload.repetitions = repetitions.get();
    }
    if let Some(engine) = arguments.engine {
        workload.engine = engine.into();
    }
    workload.pin |= arguments.pin;
    context.spread(&mut workload);
    let plan = TestPlan {
        name: workload.name.clone(),
        test: "workload".to_owned(),
        target: arguments.target.clone(),
        workload,
        pcores: context.pcores(host::System::here().cpu().pcores.max(1)),
        equivalence: None,
        expect_file_system: None,
    };
    searching::measure_and_show(
        context,
        vec![plan],
        &arguments.searching,
        &arguments.guards,
        &arguments.outputs,
    )
}

impl From<Engine> for EngineChoice {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Auto => Self::Auto,
            Engine::Psync => Self::Psync,
            Engine::Uring => Self::Uring,
        }
    }
}
