use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A provider of machines and storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cloud {
    /// Microsoft Azure.
    Azure,
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
}

/// How long you are willing to commit, which decides the price list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Commitment {
    /// Pay as you go.
    #[default]
    Payg,
    /// Reserved for one year.
    OneYear,
    /// Reserved for three years.
    ThreeYears,
}

/// Which figures a design is judged by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figures {
    /// The provider's limits times what systems of that kind were measured to reach of them.
    #[default]
    Calibrated,
    /// The provider's limits as they are printed.
    SpecSheet,
}

/// Which encryption a design must have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Encryption {
    /// Data on disks is encrypted.
    #[schemars(example = true)]
    pub at_rest: bool,
    /// Data between clients and servers is encrypted.
    #[schemars(example = true)]
    pub in_transit: bool,
    /// The keys are yours, not the provider's.
    #[schemars(example = true)]
    pub customer_keys: bool,
}

/// Which names are considered. `*` stands for any text; an empty `allow` allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Only these.
    #[schemars(extend("examples" = [["Standard_E*"]]))]
    pub allow: Vec<String>,
    /// Never these, even if allowed.
    #[schemars(extend("examples" = [["Standard_B*"]]))]
    pub deny: Vec<String>,
}

/// What a design may use. Planning obeys it; measuring ignores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constraints {
    /// Clouds to look at; empty means all.
    #[schemars(extend("examples" = [["azure"]]))]
    pub clouds: Vec<Cloud>,
    /// Regions to look at, by the provider's name; empty means all.
    #[schemars(extend("examples" = [["westeurope"]]))]
    pub regions: Vec<String>,
    /// The price list to use.
    #[schemars(example = &"one_year")]
    pub commitment: Commitment,
    /// The figures to judge designs by.
    #[schemars(example = &"calibrated")]
    pub figures: Figures,
    /// Which encryption is needed.
    pub encryption: Encryption,
    /// VM SKUs.
    pub skus: Filter,
    /// Disk and file-service tiers.
    pub tiers: Filter,
    /// At least this many storage servers, so that losing one is not losing all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000), example = 3)]
    pub min_servers: Option<u32>,
    /// At most this many OSTs: more are more to rebuild and to watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000), example = 96)]
    pub max_osts: Option<u32>,
    /// Most that all storage together may cost, in US dollars per month.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), example = 25_000)]
    pub monthly_budget_usd: Option<u32>,
}
