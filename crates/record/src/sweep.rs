//! Which point of a sweep a run is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One combination of a sweep's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// Name of the `[[sweep]]`.
    pub sweep: String,
    /// What was set, the outermost first.
    pub settings: Vec<SweepSetting>,
    /// Everything else that decides what runs, as one number in hexadecimal: points of another spec, test or target are
    /// not those of this sweep.
    pub fingerprint: String,
}

/// One setting of a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepSetting {
    /// `hosts`, `ranks`, `transfer_size`, or the path of a workload's parameter.
    pub name: String,
    /// As the spec has it.
    pub value: String,
}

impl SweepPoint {
    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    }

    /// `hosts=8 ranks=4`.
    pub fn words(&self) -> String {
        let words: Vec<String> = self
            .settings
            .iter()
            .map(|setting| format!("{}={}", short(&setting.name), setting.value))
            .collect();
        words.join(" ")
    }
}

/// The last part of a path.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
