mod questions;

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal as _, Write as _, stdin};
use std::num::NonZeroU32;
use std::path::Path;

use console::Format;
use fault::{Fault, Kind};
use serde_json::json;
use spec::{Answers, DEFAULT_MEMORY_PER_PCORE, Grid, Storage, default_per_pcore};

use self::questions::Questions;
use super::{Context, Result, files};
use crate::cli::{Init, Role};
use crate::exit::Outcome;

const STANDARD_OUTPUT: &str = "-";

/// Writes a spec from flags and answers.
pub fn run(context: &Context, arguments: &Init) -> Result {
    let to_stdout = arguments.path.as_os_str() == STANDARD_OUTPUT;
    if !to_stdout && !arguments.force {
        files::refuse_existing(&arguments.path)?;
    }
    let text = spec::template(&answers(context, arguments)?);
    spec::parse(&arguments.path, text.as_str())?;
    if to_stdout {
        context.printer.data(text)?;
    } else {
        write(&arguments.path, &text, arguments.force)?;
        tell(context, &arguments.path)?;
    }
    Ok(Outcome::Done)
}

fn answers(context: &Context, arguments: &Init) -> fault::Result<Answers> {
    let printer = &context.printer;
    let person = stdin().is_terminal() && printer.err_is_terminal() && printer.format() == Format::Text;
    let mut questions = Questions::new(printer, person.then(|| stdin().lock()));
    let name = questions.ask("Name of the grid", arguments.name.clone(), "grid".to_owned())?;
    let pcores = questions.ask("pCores of the whole grid", arguments.pcores, pcores_here())?;
    let clients = questions.ask("Hosts that use the storage", arguments.clients, NonZeroU32::MIN)?;
    let memory = questions.ask("Memory per pCore", arguments.memory_per_pcore, DEFAULT_MEMORY_PER_PCORE)?;
    let role = spec::Role::from(arguments.role.unwrap_or(Role::Data));
    let read = questions.ask("Reading, per pCore", arguments.read, default_per_pcore())?;
    let write = questions.ask("Writing, per pCore", arguments.write, default_per_pcore())?;
    let grid =
        Grid { memory_per_pcore: memory, clients: Some(clients.get()), ..Grid::new(name, pcores.get()) };
    let storage = Storage {
        capacity: questions.ask_optional("Usable capacity", arguments.capacity)?,
        read_per_pcore: Some(read),
        write_per_pcore: Some(write),
        mix: arguments.mix,
        ..Storage::new(role.as_str(), role)
    };
    let target = arguments.target.as_deref().map(as_text).transpose()?;
    let target = questions.ask_optional("Directory on the storage under test", target)?;
    Ok(Answers { grid, storage: vec![storage], target })
}

fn pcores_here() -> NonZeroU32 {
    NonZeroU32::new(host::System::here().cpu().pcores).unwrap_or(NonZeroU32::MIN)
}

fn as_text(path: &Path) -> fault::Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Fault::new(Kind::Usage, format!("`{}` is not text that a spec can hold", path.display()))
            .hint("leave it out of the spec and give it to `forebay prove` as --target")
    })
}

fn write(path: &Path, text: &str, force: bool) -> fault::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => files::already_there(path),
        _ => Fault::os("create", path, error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| Fault::os("write", path, error))
}

fn tell(context: &Context, path: &Path) -> fault::Result<()> {
    if context.printer.format().is_json() {
        return context.printer.document("spec_written", &json!({ "path": path }), String::new);
    }
    context.printer.say(format!(
        "wrote {0}\nnext: forebay spec check {0}, then forebay prove {0} --target DIR",
        path.display()
    ));
    Ok(())
}
