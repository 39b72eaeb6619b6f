use host::System;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// What a process says of itself when a crew musters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// Program and version, `forebay 0.1.0`.
    pub program: String,
    /// Name of its host.
    pub host: String,
    /// Boot of the host's kernel: two hosts may have one name.
    pub boot_id: String,
    /// Process number there.
    pub process_id: u32,
    /// Physical cores of the host.
    pub pcores: u32,
    /// Schedulable threads of the host.
    pub vcpus: u32,
    /// Memory of the host that may be page cache.
    pub memory_bytes: Bytes,
}

impl Introduction {
    /// This process, on this host.
    pub fn here() -> Self {
        let system = System::here();
        let cpu = system.cpu();
        Self {
            program: format!("forebay {}", env!("CARGO_PKG_VERSION")),
            host: system.hostname(),
            boot_id: system.boot_id(),
            process_id: std::process::id(),
            pcores: cpu.pcores,
            vcpus: cpu.vcpus,
            memory_bytes: system.memory().cacheable(),
        }
    }

    /// The same under another name of its host: the one that was typed, where that is known.
    #[must_use]
    pub fn called(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self
    }
}
