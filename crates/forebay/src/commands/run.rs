use bench::workload::EngineChoice;
use bench::{TestPlan, Workload};
use fault::Fault;

use super::{Context, Result, searching};
use crate::cli::{Engine, Run};

/// Runs a workload file on one directory.
pub fn run(context: &Context, arguments: &Run) -> Result {
    let path = &arguments.workload;
    let text = std::fs::read_to_string(path).map_err(|error| Fault::os("read workload", path, error))?;
    let mut workload = Workload::from_toml(&text)?;
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
