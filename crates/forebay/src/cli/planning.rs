//! Flags that every command shares that plans: where facts come from, what may be used, how designs are judged and shown.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use units::{Bytes, Ratio};

/// Where the facts come from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Facts")]
pub struct Facts {
    /// Lay the CSV files of this directory over the built-in catalog [default: forebay/catalog in the user's data
    /// directory, if it exists]
    #[arg(long, env = "FOREBAY_CATALOG", hide_env_values = true, value_name = "DIR")]
    pub catalog: Option<PathBuf>,
}

/// What designs may use, beside and instead of what the spec says.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What designs may use")]
pub struct Allowed {
    /// Only these clouds
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CLOUD")]
    pub cloud: Vec<CloudName>,
    /// Only these regions, by the provider's names
    #[arg(long, value_delimiter = ',', value_name = "REGION")]
    pub region: Vec<String>,
    /// Only machine SKUs that match; * stands for any text
    #[arg(long, value_delimiter = ',', value_name = "GLOB")]
    pub skus: Vec<String>,
    /// Only disk and service tiers that match; * stands for any text
    #[arg(long, value_delimiter = ',', value_name = "GLOB")]
    pub tiers: Vec<String>,
    /// The price list
    #[arg(long, value_enum, value_name = "LIST")]
    pub commitment: Option<CommitmentName>,
    /// Most that all storage may cost, US dollars per month
    #[arg(long, value_name = "USD")]
    pub budget: Option<NonZeroU32>,
}

/// How designs are judged, and which of them good sense keeps out.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How designs are judged")]
pub struct Judging {
    /// The providers' limits times what such systems were measured to reach, or as printed
    #[arg(long, value_enum, value_name = "FIGURES")]
    pub figures: Option<FiguresName>,
    /// Share of the month at the required rates, for charges per disk operation [default: 20%]
    #[arg(long, value_name = "SHARE")]
    pub duty_cycle: Option<Ratio>,
    /// Smallest OST [default: 256 GiB]
    #[arg(long, value_name = "SIZE")]
    pub min_ost: Option<Bytes>,
    /// Most OSTs of a file system [default: 160]
    #[arg(long, value_name = "N")]
    pub max_osts: Option<NonZeroU32>,
    /// Fewest OSSs of Lustre on VMs [default: 3]
    #[arg(long, value_name = "N")]
    pub min_servers: Option<NonZeroU32>,
    /// Fewest clients of the grid [default: 2]
    #[arg(long, value_name = "N")]
    pub min_clients: Option<NonZeroU32>,
    /// Fewest pCores of a client [default: 4]
    #[arg(long, value_name = "N")]
    pub min_client_pcores: Option<NonZeroU32>,
    /// Most volumes of a service, each a name space of its own, that one storage may be split over [default: 4]
    #[arg(long, value_name = "N")]
    pub name_spaces: Option<NonZeroU32>,
    /// Most hosts that attach one volume under GFS2 [default: 16]
    #[arg(long, value_name = "N")]
    pub shared_hosts: Option<NonZeroU32>,
    /// Also tiers that are previews, deprecated or of earlier years
    #[arg(long)]
    pub any_tier: bool,
    /// Also constrained-vCPU SKUs as servers
    #[arg(long)]
    pub constrained_servers: bool,
}

/// What to show of a plan, and where to put it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is shown")]
pub struct Showing {
    /// What designs are ranked by
    #[arg(long, value_enum, default_value_t = ObjectiveName::Cost, value_name = "WHAT")]
    pub objective: ObjectiveName,
    /// How many designs to show after the best of each family
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: usize,
    /// Explain the design of this rank: every limit with its source, every cost with its price
    #[arg(long, value_name = "N", conflicts_with_all = ["why_not", "explain"])]
    pub why: Option<NonZeroU32>,
    /// Say why a family has no design, region by region
    #[arg(long, value_enum, value_name = "FAMILY", conflicts_with = "explain")]
    pub why_not: Option<FamilyName>,
    /// Show what the catalog knows of a SKU, a tier or a service; needs no spec
    #[arg(long, value_name = "NAME")]
    pub explain: Option<String>,
    /// Ask again for the grid this many times as large: pCores, rates and capacity
    #[arg(long, value_delimiter = ',', value_parser = factor, value_name = "2x,4x")]
    pub grow: Vec<f64>,
    /// The design that `--design` writes, by its rank
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "N")]
    pub choose: NonZeroU32,
    /// Write the chosen design to this file
    #[arg(long, value_name = "FILE")]
    pub design: Option<PathBuf>,
    /// Replace the design file if it exists
    #[arg(long, requires = "design")]
    pub force: bool,
    /// Write the plan as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the plan as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
}

/// `2x` or `2`, more than nothing.
fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches(['x', 'X']).parse::<f64>();
    match number {
        Ok(number) if number > 0.0 && number <= 1000.0 => Ok(number),
        _ => Err("write for example `2x`: how many times as large, up to 1000".to_owned()),
    }
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$text:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum $name {
            $($(#[$text])* $variant),+
        }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant),+
                }
            }
        }
    };
}

names! {
    /// The names of the clouds.
    CloudName => spec::Cloud {
        /// Microsoft Azure
        Azure,
        /// Amazon Web Services
        Aws,
        /// Google Cloud
        Gcp,
    }
}

names! {
    /// The names of the price lists.
    CommitmentName => spec::Commitment {
        /// Pay as you go
        Payg,
        /// Reserved for one year
        OneYear,
        /// Reserved for three years
        ThreeYears,
    }
}

names! {
    /// The names of the figures.
    FiguresName => spec::Figures {
        /// What systems of the kind reach of the providers' limits
        Calibrated,
        /// The providers' limits as printed
        SpecSheet,
    }
}

names! {
    /// The names of the objectives.
    ObjectiveName => plan::Objective {
        /// US dollars per month, storage and clients
        Cost,
        /// US dollars per month and MB/s delivered
        CostPerRate,
    }
}

names! {
    /// The names of the families.
    FamilyName => plan::Family {
        /// Lustre on VMs with network disks
        LustreOnVms,
        /// Azure Managed Lustre, FSx for Lustre, Google Cloud Managed Lustre
        ManagedLustre,
        /// Azure NetApp Files, FSx for OpenZFS and ONTAP, EFS, Filestore
        NfsService,
        /// Network volumes of each client
        StripedVolumes,
        /// Multi-attach volumes under GFS2
        SharedVolumes,
        /// Local NVMe of each client
        LocalNvme,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_plain_or_with_an_x() {
        assert_eq!(factor("2x"), Ok(2.0));
        assert_eq!(factor("1.5"), Ok(1.5));
        assert!(factor("x").is_err() && factor("-1x").is_err() && factor("NaN").is_err());
    }
}
