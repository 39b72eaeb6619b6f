use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::planning::{CloudName, Facts};

const EXAMPLES: &str = "\
Examples:
  forebay catalog list vms --cloud azure --filter 'Standard_E*bs_v5'
  forebay catalog show Standard_E16bs_v5
  forebay catalog check --catalog my-facts
  forebay catalog diff my-facts";

/// Show, check and compare the facts that planning rests on
///
/// The catalog comes with the program; `--catalog DIR` lays your own rows on top. Every row has its source and date.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Catalog {
    #[command(subcommand)]
    pub action: CatalogAction,
}

/// What to do with the catalog.
#[derive(Debug, Subcommand)]
pub enum CatalogAction {
    List(ListFacts),
    Show(ShowFact),
    Check(CheckFacts),
    Diff(DiffFacts),
}

/// List the rows of a table of the catalog
///
/// Figures are shown as the provider states them. With `--csv` the whole rows are written, in the form `--catalog` reads.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay catalog list
  forebay catalog list disks --cloud gcp
  forebay catalog list prices --filter 'vm:Standard_E16*' --format jsonl
  forebay catalog list vms --csv > vms.csv")]
pub struct ListFacts {
    /// The table; without it, the number of rows of each
    #[arg(value_enum, value_name = "TABLE")]
    pub table: Option<TableName>,
    /// Only this cloud
    #[arg(long, value_enum, value_name = "CLOUD")]
    pub cloud: Option<CloudName>,
    /// Only names that match; * stands for any text
    #[arg(long, value_name = "GLOB")]
    pub filter: Option<String>,
    /// Write CSV with all columns
    #[arg(long, requires = "table")]
    pub csv: bool,
    #[command(flatten)]
    pub facts: Facts,
}

/// Show everything the catalog knows of a SKU, a tier, a service, a price item or a study
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay catalog show Standard_E16bs_v5
  forebay catalog show S70
  forebay catalog show AMLFS-Durable-Premium-250 --format json")]
pub struct ShowFact {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub facts: Facts,
}

/// Look for facts that can't be, are unlikely or are missing
///
/// Exits 1 when something can't be, 0 otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  forebay catalog check\n  forebay catalog check --catalog my-facts --notes"
)]
pub struct CheckFacts {
    /// Also what is merely missing
    #[arg(long)]
    pub notes: bool,
    #[command(flatten)]
    pub facts: Facts,
}

/// Show what a directory changes in the catalog, or how two directories differ
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  forebay catalog diff my-facts\n  forebay catalog diff facts-2025 facts-2026"
)]
pub struct DiffFacts {
    /// The directory; with a second one, what that is compared with
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// A second directory
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
}

/// The names of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableName {
    /// Machines
    Vms,
    /// Network disks
    Disks,
    /// File services
    Services,
    /// What one client of a service reaches
    ClientLimits,
    /// Prices of all of these
    Prices,
    /// Ports that storage needs open
    Ports,
    /// What studies measured
    Published,
    /// What systems reach of their limits
    Calibration,
}

impl From<TableName> for catalog::Table {
    fn from(name: TableName) -> Self {
        match name {
            TableName::Vms => Self::Vms,
            TableName::Disks => Self::Disks,
            TableName::Services => Self::Services,
            TableName::ClientLimits => Self::ClientLimits,
            TableName::Prices => Self::Prices,
            TableName::Ports => Self::Ports,
            TableName::Published => Self::Published,
            TableName::Calibration => Self::Calibration,
        }
    }
}
