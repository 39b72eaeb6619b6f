use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  forebay spec check grid.toml
  forebay spec schema > grid.schema.json";

/// Check a spec file, or print the schema of spec files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Spec {
    #[command(subcommand)]
    pub action: SpecAction,
}

/// What to do with specs.
#[derive(Debug, Subcommand)]
pub enum SpecAction {
    Check(Check),
    /// Print the JSON Schema of spec files
    #[command(after_help = "Examples:\n  forebay spec schema > grid.schema.json")]
    Schema,
}

/// Check a spec file and show each problem where it is
///
/// Exits 0 when the spec is right, 2 when it has problems.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  forebay spec check grid.toml\n  forebay spec check grid.toml --format json"
)]
pub struct Check {
    /// The spec file
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
}
