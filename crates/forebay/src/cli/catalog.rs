use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::planning::{CloudName, Facts};

const EXAMPLES: &str = "\
Examples:
  forebay catalog list vms --cloud azure --filter 'Standard_E*bs_v5'
  forebay catalog show Standard_E16bs_v5
  forebay catalog check --catalog my-facts
  forebay catalog diff my-facts
  forebay catalog refresh --cloud azure --region eastus
  forebay catalog calibrate latest";

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
    Refresh(RefreshPrices),
    Calibrate(CalibrateFacts),
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

/// Show all that is known of a SKU, a tier, a service, a price item or a study
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

/// Read a provider's public price list into your own catalog
///
/// Prices of the machines, disks and services that the catalog knows are written with their source and date; your other rows
/// stay. A refresh that is stopped goes on where it was when it is run again within a day, and changes nothing before its end.
/// Google's list needs an API key in FOREBAY_GCP_API_KEY or GOOGLE_API_KEY.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay catalog refresh --cloud azure
  forebay catalog refresh --cloud aws --region eu-central-1 --items 'vm:r5b.*' --items 'io2*'
  forebay catalog refresh --cloud gcp --to my-facts")]
pub struct RefreshPrices {
    /// Whose prices
    #[arg(long, value_enum, value_name = "CLOUD")]
    pub cloud: CloudName,
    /// Only these regions [default: those that the catalog has prices of]
    #[arg(long, value_delimiter = ',', value_name = "REGION")]
    pub region: Vec<String>,
    /// Only items that match, such as 'vm:Standard_E*' or 'service:*'; * stands for any text
    #[arg(long, value_name = "GLOB")]
    pub items: Vec<String>,
    /// Write to this directory [default: forebay/catalog in the user's data directory]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Read from this server instead of the provider's
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Begin anew, whatever an earlier refresh left
    #[arg(long)]
    pub restart: bool,
    /// Seconds a server may be silent before the connection is made again
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    pub timeout: u64,
}

/// Learn from runs what systems reach of their limits
///
/// Each requirement that a run measured is held against the smallest limit of the design its storage was built by. The
/// median share of all runs becomes the factor that plans use. Results that are not valid, or that the memory of servers took
/// part in, are left out and named. A run counts once, however often it is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  forebay catalog calibrate latest
  forebay catalog calibrate 20261121-214226-3f9a1c --design design.toml")]
pub struct CalibrateFacts {
    /// The runs
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// The design that the storage was built by [default: the one in the run's record]
    #[arg(long, value_name = "FILE")]
    pub design: Option<PathBuf>,
    /// Write to this directory [default: forebay/catalog in the user's data directory]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
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
