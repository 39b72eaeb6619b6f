use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::schema::BytesText;

/// SAS's minimum memory per physical core: 8 GiB.
pub const DEFAULT_MEMORY_PER_PCORE: Bytes = Bytes::gib(8);

/// The compute side: the hosts that will use the storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// What you call this grid; it heads every report.
    #[schemars(example = &"risk-analytics")]
    pub name: String,
    /// Physical cores of all clients together. On hyper-threaded machines 2 vCPUs are 1 pCore.
    #[schemars(range(min = 1, max = 10_000_000), example = 48)]
    pub pcores: u32,
    /// Memory per pCore.
    #[serde(default = "default_memory_per_pcore", with = "units::text")]
    #[schemars(with = "BytesText", example = &"8 GiB")]
    pub memory_per_pcore: Bytes,
    /// Number of hosts the pCores are spread over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), example = 6)]
    pub clients: Option<u32>,
    /// The clients' VM SKU, when it is decided; otherwise planning chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Standard_E16s_v5")]
    pub client_sku: Option<String>,
}

impl Grid {
    /// A grid with SAS's minimum memory per pCore and an open number of clients.
    pub fn new(name: impl Into<String>, pcores: u32) -> Self {
        Self {
            name: name.into(),
            pcores,
            memory_per_pcore: DEFAULT_MEMORY_PER_PCORE,
            clients: None,
            client_sku: None,
        }
    }

    /// Memory of all clients together.
    pub fn memory(&self) -> Bytes {
        Bytes::new(self.memory_per_pcore.get().saturating_mul(u64::from(self.pcores)))
    }
}

fn default_memory_per_pcore() -> Bytes {
    DEFAULT_MEMORY_PER_PCORE
}
