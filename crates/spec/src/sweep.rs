use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::schema::BytesText;

/// The same test at every combination of some settings: how a grid scales.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What you call it.
    #[schemars(example = &"scale-out")]
    pub name: String,
    /// Name of the `[[test]]` that runs; may be left out when there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"sas")]
    pub test: Option<String>,
    /// Numbers of hosts: the first ones of those that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1, max = 100_000)))]
    pub hosts: Vec<u32>,
    /// Ranks on each host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1, max = 100_000)))]
    pub ranks: Vec<u32>,
    /// Bytes of one I/O call.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "units::text::list")]
    #[schemars(with = "Vec<BytesText>")]
    pub transfer_size: Vec<Bytes>,
    /// OSTs that a file spreads over, on Lustre; -1 is all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = -1, max = 2000)))]
    pub stripe_count: Vec<i32>,
    /// Bytes per OST in turn, on Lustre.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "units::text::list")]
    #[schemars(with = "Vec<BytesText>")]
    pub stripe_size: Vec<Bytes>,
    /// Whole layouts for `lfs setstripe`, on Lustre: `-E 64M -c 1 -E -1 -c 8`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stripe_layout: Vec<String>,
    /// Parameters of the test's workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameter: Vec<SweepParameter>,
}

/// A parameter of a workload and its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepParameter {
    /// Where it is in the workload: `phases.0.jobs.0.activity.transfer.queue_depth`.
    #[schemars(example = &"phases.0.jobs.0.activity.transfer.queue_depth")]
    pub path: String,
    /// Its values, as a workload file has them.
    #[schemars(length(min = 1))]
    pub values: Vec<String>,
}

impl Sweep {
    /// What varies, the outermost first: name and values, as they are shown.
    pub fn axes(&self) -> Vec<(String, Vec<String>)> {
        let numbers = |values: &[u32]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let sizes = |values: &[Bytes]| values.iter().map(|size| format!("{size:#}")).collect::<Vec<_>>();
        let mut axes = vec![
            ("hosts".to_owned(), numbers(&self.hosts)),
            ("ranks".to_owned(), numbers(&self.ranks)),
            ("transfer_size".to_owned(), sizes(&self.transfer_size)),
            ("stripe_count".to_owned(), self.stripe_count.iter().map(ToString::to_string).collect()),
            ("stripe_size".to_owned(), sizes(&self.stripe_size)),
            ("stripe_layout".to_owned(), self.stripe_layout.clone()),
        ];
        axes.extend(self.parameter.iter().map(|own| (own.path.clone(), own.values.clone())));
        axes.retain(|(_, values)| !values.is_empty());
        axes
    }
}
