use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::planning::{Allowed, Facts, Judging, Showing};

const EXAMPLES: &str = "\
Examples:
  forebay plan grid.toml
  forebay plan grid.toml --cloud azure --why 1
  forebay plan grid.toml --grow 2x,4x --html plan.html
  forebay plan grid.toml --choose 2 --design design.toml
  forebay plan --explain Standard_E16bs_v5
  forebay plan check design.toml";

/// Find the cheapest designs that meet a spec, with every limit named
///
/// Ranks every design of the catalog that meets all `[[storage]]` of the spec within its `[constraints]`: what it should
/// deliver, what limits it, what it costs, and where each figure comes from. Exits 0 when there is a design, 4 when none
/// meets the requirement; then it says what makes it impossible and the nearest that is possible.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Plan {
    #[command(subcommand)]
    pub action: Option<PlanAction>,
    /// The spec file (`forebay init` writes one)
    #[arg(value_name = "SPEC", default_value = "grid.toml")]
    pub spec: PathBuf,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub allowed: Allowed,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub showing: Showing,
}

/// What to do beside planning.
#[derive(Debug, Subcommand)]
pub enum PlanAction {
    Check(CheckDesign),
}

/// Say what a design should deliver, what limits it, and what its money buys today
///
/// Reads a design file (`forebay plan --design` writes one, and people may), evaluates it for the requirements in it, and
/// searches the same region for the cheapest design that meets the same, and for the most throughput for the same money.
/// Exits 0 when the design meets its requirements, 4 when not.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  forebay plan check design.toml\n  forebay plan check design.toml --figures spec-sheet"
)]
pub struct CheckDesign {
    /// The design file
    #[arg(value_name = "DESIGN")]
    pub design: PathBuf,
    #[command(flatten)]
    pub facts: Facts,
    #[command(flatten)]
    pub judging: Judging,
}
