use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::schema::{BytesText, DurationText};

/// Which test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// One writer, then one reader per pCore, sequential: the test SAS judges storage by.
    Iotest,
    /// A workload file of your own.
    Workload,
}

/// How I/O is handed to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Whatever suits the queue depth.
    #[default]
    Auto,
    /// One blocking call at a time.
    Psync,
    /// io_uring.
    Uring,
}

/// One test and what it overrides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "if" = { "properties": { "test": { "const": "workload" } } },
    "then" = { "required": ["workload"] },
    "else" = { "not": { "required": ["workload"] } },
))]
pub struct Test {
    /// What you call it.
    #[schemars(example = &"sas")]
    pub name: String,
    /// Which test.
    #[schemars(example = &"iotest")]
    pub test: TestKind,
    /// Directory under test. Relative paths start at the spec file; `--target` overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"/mnt/data")]
    pub target: Option<PathBuf>,
    /// Name of the `[[storage]]` this test judges; may be left out when there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"data")]
    pub storage: Option<String>,
    /// How often it runs. More repetitions, a firmer verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000), example = 3)]
    pub repetitions: Option<u32>,
    /// pCores to use, one rank each. Without it: those of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000), example = 8)]
    pub pcores: Option<u32>,
    /// Size of each file. Without it: the memory of the machine, so that the page cache can't hold it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"64 GiB")]
    pub file_size: Option<Bytes>,
    /// Bytes of one I/O call. Without it: the storage's `io_size`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"64 KiB")]
    pub transfer_size: Option<Bytes>,
    /// Stop each phase after this time, at least 1 s: an equivalent short run, labelled so.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::duration::option")]
    #[schemars(with = "DurationText", example = &"60s")]
    pub time_boxed: Option<Duration>,
    /// Bypass the page cache with O_DIRECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub direct: Option<bool>,
    /// How I/O is handed to the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"psync")]
    pub engine: Option<Engine>,
    /// File system the target must be on (`lustre`, `nfs4`, `xfs`): a missing mount is refused, not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"lustre")]
    pub expect_file_system: Option<String>,
    /// The workload file of `test = "workload"`. Relative paths start at the spec file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"checkpoint.toml")]
    pub workload: Option<PathBuf>,
}

impl Test {
    /// The SAS-style test with nothing overridden.
    pub fn iotest(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            test: TestKind::Iotest,
            target: None,
            storage: None,
            repetitions: None,
            pcores: None,
            file_size: None,
            transfer_size: None,
            time_boxed: None,
            direct: None,
            engine: None,
            expect_file_system: None,
            workload: None,
        }
    }
}
