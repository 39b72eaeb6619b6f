//! vdbench's parameter language: sd, wd, rd and fsd, fwd, rd, with its defaults, wildcards, variables and loops (Vdbench
//! Users Guide 5.04.07), compiled into workloads.
//!
//! `text -> lexer -> statements -> definitions -> expansion -> compile`. A file of vdbench says what is done *and* where:
//! the directories of its files and anchors are the targets.

mod compile;
mod definitions;
mod expansion;
mod files;
mod grounds;
mod hosts;
mod keys;
mod lexer;
mod live;
mod report;
mod run;
mod statements;
mod trees;
mod trouble;
mod values;

use std::path::Path;

use spec::LoadError;

pub use compile::{Overrides, Shown, Test, World};
pub use grounds::Placing;
pub use hosts::Hosts;
pub use live::LiveReport;
pub use report::{Report, flat_file, intervals};

use trouble::{Files, Troubles};

/// A parameter file, understood.
#[derive(Debug)]
pub struct Script {
    /// Its tests, in order.
    pub tests: Vec<Test>,
    /// What should be said about it.
    pub notes: Vec<String>,
    /// The hosts it names.
    pub hosts: Hosts,
}

/// Understands the parameter file `text`, which is at `path`; or says everything that is wrong with it.
pub fn read(path: &Path, text: String, overrides: &Overrides<'_>) -> Result<Script, Box<LoadError>> {
    let (mut files, mut troubles) = (Files::default(), Troubles::default());
    let statements = lexer::statements(path, text, overrides.variables, &mut files, &mut troubles);
    let definitions = statements::resolve(statements, &mut troubles);
    let script = compile::compile(&definitions, overrides, &mut troubles);
    if troubles.is_empty() { Ok(script) } else { Err(Box::new(troubles.into_error(&files))) }
}
