use std::num::NonZeroU32;

use spec::{Access, Constraints, Document, Grid, Spec, Storage};

use super::{Context, Result, catalog, plan};
use crate::cli::Size;
use crate::question::Question;

/// Plans for what flags say.
pub fn run(context: &Context, arguments: &Size) -> Result {
    let Size { facts, allowed, judging, showing, .. } = arguments;
    if let Some(name) = &showing.explain {
        return catalog::explain(context, facts, name);
    }
    let document = Document { path: "the command line".into(), text: String::new(), spec: asked(arguments) };
    let question = Question::of(&document, facts, allowed, judging, showing)?;
    plan::answer(context, &question, showing)
}

/// The spec that the flags stand for.
fn asked(arguments: &Size) -> Spec {
    let mut grid = Grid::new("grid", arguments.pcores.map_or(1, NonZeroU32::get));
    grid.clients = arguments.clients.map(NonZeroU32::get);
    grid.client_sku.clone_from(&arguments.client_sku);
    if let Some(memory) = arguments.memory_per_pcore {
        grid.memory_per_pcore = memory;
    }
    let role = spec::Role::from(arguments.role);
    let mut storage = Storage::new(role.as_str(), role);
    storage.capacity = arguments.capacity;
    storage.read_per_pcore = arguments.read.or(arguments.per_core);
    storage.write_per_pcore = arguments.write.or(arguments.per_core);
    storage.mix = arguments.mix;
    storage.io_size = arguments.io_size.unwrap_or(storage.io_size);
    storage.access = if arguments.random { Access::Random } else { Access::Sequential };
    Spec {
        version: spec::VERSION,
        grid,
        storage: vec![storage],
        constraints: Constraints::default(),
        test: Vec::new(),
        sweep: Vec::new(),
    }
}
