//! The plan document: designs for a grid with everything people look at. Tables, JSON and HTML are readers of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the plan document this program writes.
pub const PLAN_VERSION: u32 = 1;

/// Designs for a grid, ranked, and why there are no others. The same question gives the same document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDocument {
    /// Version of this document's layout.
    pub version: u32,
    /// The grid's name.
    pub grid: String,
    /// Its physical cores.
    pub pcores: u32,
    /// `calibrated` or `spec sheet`: the figures designs are judged by.
    pub figures: String,
    /// `cost` or `cost per MB/s`: what designs are ranked by.
    pub objective: String,
    /// Regions looked at: `azure eastus`.
    pub regions: Vec<String>,
    /// Rules that keep out designs nobody would run, in words.
    pub rules: Vec<String>,
    /// Designs whose limits and prices are known, best first.
    pub ranked: Vec<DesignSheet>,
    /// Designs that can't be ranked because a limit they pass is not in the catalog.
    pub limits_unknown: Vec<DesignSheet>,
    /// Designs that can't be ranked because a price is not in the catalog.
    pub prices_unknown: Vec<DesignSheet>,
    /// Designs that meet everything but the budget; `null` if there are none.
    #[serde(default)]
    pub over_budget: Option<OverBudgetRow>,
    /// Where no design is ranked: what makes it impossible, and the nearest that is possible, in words.
    #[serde(default)]
    pub impossible: Vec<String>,
    /// Places in `ranked`, from 0, of designs that none beats in cost, throughput, capacity and servers at once.
    pub front: Vec<usize>,
    /// Families without a design, with the reasons.
    pub refused: Vec<RefusedFamily>,
    /// The same question for a larger grid.
    pub growth: Vec<GrowthStep>,
    /// Combinations that were costed.
    pub looked_at: u64,
}

/// Designs that the budget leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverBudgetRow {
    /// How many.
    pub count: usize,
    /// Storage of the cheapest.
    pub least_usd_per_month: f64,
}

/// Why a family has no design for a storage in a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedFamily {
    /// `azure eastus`.
    pub region: String,
    /// The storage's name.
    pub storage: String,
    /// `managed-lustre`.
    pub family: String,
    /// In words.
    pub reasons: Vec<String>,
}

/// One design: what it delivers, what limits it, what it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignSheet {
    /// The design in one line.
    pub title: String,
    /// `azure`, `aws`, `gcp`.
    pub cloud: String,
    /// The provider's name for the region.
    pub region: String,
    /// `payg`, `one_year`, `three_years`.
    pub commitment: String,
    /// SKU of the clients.
    pub client_sku: String,
    /// How many clients.
    pub client_count: u32,
    /// One per file system.
    pub storages: Vec<StorageSheet>,
    /// Everything that is paid for.
    pub costs: Vec<CostRow>,
    /// Storage without clients; `null` when a price is unknown.
    pub storage_usd_per_month: Option<f64>,
    /// The clients; `null` when their price is unknown.
    pub clients_usd_per_month: Option<f64>,
    /// Both; `null` when a price is unknown.
    pub usd_per_month: Option<f64>,
    /// Storage cost per MB/s delivered at the requirements' mixes.
    pub usd_per_month_per_mb_per_second: Option<f64>,
    /// What the figures rest on: `published`, `assumed`, `spec sheet`, `measured`; the weakest of its storages.
    pub confidence: String,
    /// What stands against using it; empty when it meets every requirement.
    pub refusals: Vec<String>,
    /// The next step that delivers more.
    pub upgrade: Option<Upgrade>,
    /// The design file, as JSON.
    pub design: serde_json::Value,
}

/// One file system of a design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StorageSheet {
    /// The requirement's name.
    pub name: String,
    /// `lustre-on-vms`.
    pub family: String,
    /// How it is built, in one line.
    pub layout: String,
    /// Usable capacity.
    pub capacity_bytes: u64,
    /// What is needed of it.
    pub needed_capacity_bytes: u64,
    /// Share of reads when both happen together.
    pub read_share: f64,
    /// What is needed, all clients together.
    pub needed: RatesRow,
    /// What it should deliver to all clients together.
    pub delivered: RatesRow,
    /// The same per pCore.
    pub delivered_per_pcore: RatesRow,
    /// The chain in the order data passes it.
    pub limits: Vec<LimitRow>,
    /// Limits that are not in the catalog: place and what is missing.
    pub unknown: Vec<String>,
    /// The operation with the least room over what is needed: `read`, `write`, `mixed`.
    pub tightest: String,
    /// The limit that bounds it.
    pub bottleneck: Option<String>,
    /// The limit after that.
    pub next_limit: Option<String>,
    /// How much larger the next limit is, as a share of the bottleneck.
    pub headroom: Option<f64>,
    /// Share of the limits that systems of this kind reach when reading, with its basis.
    pub read_factor: FactorRow,
    /// The same when writing.
    pub write_factor: FactorRow,
    /// `stream` (the smallest limit) or `burst` (1 / rate = 1 / network + 1 / disks).
    pub write_law: String,
    /// More than the sustained rates for a while, in words.
    pub burst: Option<String>,
    /// Memory of its servers: reads of less data than this may come from there.
    pub cache_bytes: Option<u64>,
    /// Servers to run, metadata included.
    pub servers: u32,
    /// `null` when a price is unknown.
    pub usd_per_month: Option<f64>,
    /// What stands against using it for this requirement.
    pub refusals: Vec<String>,
    /// What one should know.
    pub notes: Vec<String>,
}

/// Rates of all three ways of using a storage; `null` where nothing bounds or nothing is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatesRow {
    /// Reading alone.
    pub read_bytes_per_second: Option<f64>,
    /// Writing alone.
    pub write_bytes_per_second: Option<f64>,
    /// Both together at the requirement's mix.
    pub mixed_bytes_per_second: Option<f64>,
}

/// One bound of a design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRow {
    /// Where it sits: `server_disks`.
    pub place: String,
    /// The same for people: `server VM disk limit`.
    pub name: String,
    /// What its source states for the whole design.
    pub stated: RatesRow,
    /// What is reached of it after calibration.
    pub reached: RatesRow,
    /// How it comes about.
    pub cause: String,
    /// Document and date.
    pub source: Option<String>,
}

/// A share of limits that is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactorRow {
    /// The share.
    pub value: f64,
    /// In words, with range, number and basis.
    pub text: String,
    /// `spec sheet`, `assumed`, `published`, `measured`.
    pub basis: String,
}

/// One line of a design's cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostRow {
    /// Name of the storage it belongs to; `null` for the clients.
    pub storage: Option<String>,
    /// `servers`, `disks`, `metadata servers`, `service`, `disk operations`, `clients`.
    pub part: String,
    /// What is paid for.
    pub what: String,
    /// `null` when the price is unknown.
    pub usd_per_month: Option<f64>,
    /// Why the price is in doubt.
    pub doubt: Option<String>,
    /// Document and date.
    pub source: Option<String>,
}

/// A change of a design that delivers more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Upgrade {
    /// The change in words: `one more OSS`.
    pub what: String,
    /// The storage it changes.
    pub storage: String,
    /// What its tightest operation then delivers.
    pub delivered_bytes_per_second: f64,
    /// What it costs more.
    pub usd_per_month: Option<f64>,
}

/// The answer for a grid that has grown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthStep {
    /// How many times as large.
    pub factor: f64,
    /// The best design of the same kinds as today's best; `null` when there is none.
    pub same_kind: Option<GrownDesign>,
    /// The best design of all; `null` when there is none.
    pub best: Option<GrownDesign>,
    /// Why the kind of today's best stops here, if it does.
    pub stops: Vec<String>,
}

/// A design of a grown grid in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrownDesign {
    /// The design in one line.
    pub title: String,
    /// Storage and clients.
    pub usd_per_month: Option<f64>,
    /// What is added to or changed in today's design, in words.
    pub change: String,
}
