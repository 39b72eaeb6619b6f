//! The command line: the whole tree, once. Help, man pages and completions are made from it.

mod catalog;
mod clean;
mod fleet;
pub mod foreign;
mod global;
mod guards;
mod import;
mod init;
mod io500;
mod ior;
mod iotest;
mod jobs;
mod mdtest;
mod outputs;
mod plan;
mod planning;
mod prove;
mod run;
mod runs;
mod searching;
mod shell;
mod size;
mod spec;
mod sweep;
mod sync;
mod vdbench;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

pub use catalog::{
    CalibrateFacts, Catalog, CatalogAction, CheckFacts, DiffFacts, ListFacts, RefreshPrices, ShowFact,
};
pub use clean::Clean;
pub use fleet::{Agent, CheckHosts, FleetOptions, Hosts, HostsAction, RanksPerHost};
pub use global::Global;
pub use guards::Guards;
pub use import::{Import, ImportFrom};
pub use init::{Init, Role};
pub use io500::{Io500, Io500Mode};
pub use ior::Ior;
pub use iotest::{Data, Engine, Iotest};
pub use jobs::{ListJobs, Serve, SteerJobs, SyncAction};
pub use mdtest::Mdtest;
pub use outputs::{Live, Outputs};
pub use plan::{CheckDesign, Plan, PlanAction};
pub use planning::{Allowed, Facts, Judging, Showing};
pub use prove::Prove;
pub use run::Run;
pub use runs::{Compare, Export, ExportAs, List, Remove, Report, Runs, RunsAction, Show};
pub use searching::{Raised, Searching, SloLoad};
pub use shell::{Completions, Man};
pub use size::Size;
pub use spec::{Check, Spec, SpecAction};
pub use sweep::Sweep;
pub use sync::{
    Choosing, CompressRule, ConflictRule, DeltaRule, LayoutRule, Sync, SyncJudging, SyncReaching,
    SyncWatching, VerifyLevel, WatchBy,
};
pub use vdbench::Vdbench;

use crate::exit;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Plans storage that feeds a compute grid, and proves whether it does
///
/// Write what the grid needs into a spec file (`forebay init`), see what would deliver it and at what cost (`forebay plan`),
/// then measure a directory on the storage (`forebay prove`). Every run is kept as a document that can be shown, compared and
/// turned into a report.
#[derive(Debug, Parser)]
#[command(name = "forebay", version, styles = STYLES, after_help = main_help(), subcommand_required = true)]
#[command(arg_required_else_help = true, max_term_width = 100, infer_long_args = false)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Plan(Plan),
    Size(Size),
    Prove(Prove),
    Iotest(Iotest),
    Run(Run),
    Ior(Ior),
    Hosts(Hosts),
    Agent(Agent),
    Mdtest(Mdtest),
    Io500(Io500),
    Import(Import),
    Vdbench(Vdbench),
    Sweep(Sweep),
    Init(Init),
    Spec(Spec),
    Runs(Runs),
    Sync(Sync),
    Catalog(Catalog),
    Clean(Clean),
    Completions(Completions),
    Man(Man),
}

fn main_help() -> String {
    format!(
        "\
Examples:
  forebay init grid.toml                        write a spec with comments
  forebay plan grid.toml                        the cheapest designs, each limit named
  forebay prove grid.toml --target /mnt/data    measure it and give a verdict

{}",
        exit::HELP
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_tree_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_short_first_line_and_examples() {
        fn look(command: &clap::Command, path: &str) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((10..=80).contains(&about.len()), "{path}: {about:?}");
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:"), "{path} has no examples");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{path} {} has no help", argument.get_id());
            }
            for sub in command.get_subcommands() {
                look(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        look(&Cli::command(), "forebay");
    }
}
