//! What a grid needs, in totals.

use fault::{Fault, Kind, Result};
use spec::{Access, Constraints, Durability, Role, Spec, Storage};
use units::{Bandwidth, Bytes, Ratio};

/// Largest I/O a file system makes of sequential neighbours: a Lustre RPC or an NFS transfer of 1 MiB.
pub const MERGED_IO: Bytes = Bytes::mib(1);

/// Everything a grid needs, in totals.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// What the grid is called.
    pub name: String,
    /// Physical cores of all clients.
    pub pcores: u32,
    /// Memory of a client per pCore.
    pub memory_per_pcore: Bytes,
    /// Number of clients, when it is fixed.
    pub clients: Option<u32>,
    /// The clients' SKU, when it is decided.
    pub client_sku: Option<String>,
    /// One per file system.
    pub requirements: Vec<Requirement>,
    /// What a design may use.
    pub constraints: Constraints,
}

/// What the grid needs of one file system.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// The spec's name for it.
    pub name: String,
    /// What it holds.
    pub role: Role,
    /// Usable capacity.
    pub capacity: Bytes,
    /// All clients reading.
    pub read: Bandwidth,
    /// All clients writing.
    pub write: Bandwidth,
    /// Share of reads in bytes when both happen together.
    pub read_share: Ratio,
    /// One I/O of the application.
    pub io_size: Bytes,
    /// In which order.
    pub access: Access,
    /// What it must survive.
    pub durability: Durability,
    /// Bytes written at once and fsynced, when writes come in bursts of that size only.
    pub checkpoint: Option<Bytes>,
    /// The larger of what one pCore reads and writes, as one stream.
    pub stream: Bandwidth,
}

impl Demand {
    /// What `spec` asks for. A storage without a capacity can be measured but not planned.
    pub fn of(spec: &Spec) -> Result<Self> {
        let requirements =
            spec.storage.iter().map(|storage| Requirement::of(spec, storage)).collect::<Result<_>>()?;
        Ok(Self {
            name: spec.grid.name.clone(),
            pcores: spec.grid.pcores,
            memory_per_pcore: spec.grid.memory_per_pcore,
            clients: spec.grid.clients,
            client_sku: spec.grid.client_sku.clone(),
            requirements,
            constraints: spec.constraints.clone(),
        })
    }
}

impl Requirement {
    /// What one storage of a spec asks for.
    pub fn of(spec: &Spec, storage: &Storage) -> Result<Self> {
        let grid = &spec.grid;
        let capacity = storage.capacity.ok_or_else(|| {
            Fault::new(Kind::Spec, format!("storage `{}` has no capacity", storage.name))
                .hint("planning needs one: add a line such as `capacity = \"100 TiB\"`")
        })?;
        let (read, write) = (storage.required_read_per_pcore(grid), storage.required_write_per_pcore(grid));
        Ok(Self {
            name: storage.name.clone(),
            role: storage.role,
            capacity,
            read: storage.required_read_aggregate(grid),
            write: storage.required_write_aggregate(grid),
            read_share: storage.read_share(),
            io_size: storage.io_size,
            access: storage.access,
            durability: storage.required_durability(),
            checkpoint: storage.checkpoint,
            stream: if read > write { read } else { write },
        })
    }

    /// Reads and writes together: the larger of the two rates, at the stated mix.
    pub fn mixed(&self) -> Bandwidth {
        if self.read > self.write { self.read } else { self.write }
    }

    /// The size in which I/Os reach a disk: sequential neighbours are merged.
    pub fn disk_io(&self) -> Bytes {
        match self.access {
            Access::Sequential => self.io_size.max(MERGED_IO),
            Access::Random => self.io_size,
        }
    }
}
