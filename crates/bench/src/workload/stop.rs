use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a phase ends. With nothing set: when every rank has done its whole share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// Deadline (the stonewall of IOR, mdtest and IO500): no transfer starts after it.
    #[serde(with = "units::text::duration::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Duration>,
    /// Begin the share again when it is done, until the deadline (vdbench `elapsed`).
    pub repeat: bool,
    /// Begin the share again when it is done, until this time has passed; whatever was begun is finished (IOR
    /// minTimeDuration).
    #[serde(with = "units::text::duration::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub at_least: Option<Duration>,
    /// After the deadline go on until every rank has done as much as the furthest one had.
    pub wear_out: bool,
    /// The longest a wear-out may take: on slow disks it can run many times the deadline (IO500 issue 14).
    #[serde(with = "units::text::duration::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub wear_out_cap: Option<Duration>,
    /// Operations after which a rank stops, however large its share is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
}

impl Stop {
    /// At the deadline, or when the share is done.
    pub fn after(time: Duration) -> Self {
        Self { time: Some(time), ..Self::default() }
    }
}
