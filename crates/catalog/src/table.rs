use std::fmt;

/// A table of the catalog. Its rows stand in CSV files of fixed names, in any order of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Machines.
    Vms,
    /// Block storage.
    Disks,
    /// File services.
    Services,
    /// What one client of a file service reaches.
    ClientLimits,
    /// Prices: a file of machines, a file of the rest.
    Prices,
    /// Ports that storage needs open.
    Ports,
    /// What studies measured.
    Published,
    /// What systems reach of their limits.
    Calibration,
}

/// How a table is laid out.
pub(crate) struct Layout {
    /// Its files, read in this order.
    pub files: &'static [&'static str],
    /// Its columns, in the order we write them.
    pub columns: &'static [&'static str],
    /// The columns that together name a row, or for prices a list of bands.
    pub key: &'static [&'static str],
}

impl Table {
    /// Every table, in the order they are read.
    pub const ALL: [Self; 8] = [
        Self::Vms,
        Self::Disks,
        Self::Services,
        Self::ClientLimits,
        Self::Prices,
        Self::Ports,
        Self::Published,
        Self::Calibration,
    ];

    /// The names of its files.
    pub fn files(self) -> &'static [&'static str] {
        self.layout().files
    }

    /// Its columns.
    pub fn columns(self) -> &'static [&'static str] {
        self.layout().columns
    }

    /// The table a file name belongs to.
    pub fn of_file(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.files().contains(&name))
    }

    pub(crate) fn layout(self) -> &'static Layout {
        match self {
            Self::Vms => &VMS,
            Self::Disks => &DISKS,
            Self::Services => &SERVICES,
            Self::ClientLimits => &CLIENT_LIMITS,
            Self::Prices => &PRICES,
            Self::Ports => &PORTS,
            Self::Published => &PUBLISHED,
            Self::Calibration => &CALIBRATION,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vms => "machines",
            Self::Disks => "disks",
            Self::Services => "services",
            Self::ClientLimits => "client limits",
            Self::Prices => "prices",
            Self::Ports => "ports",
            Self::Published => "published results",
            Self::Calibration => "calibration",
        })
    }
}

const VMS: Layout = Layout {
    files: &["vms.csv"],
    key: &["cloud", "sku"],
    columns: &[
        "cloud",
        "sku",
        "series",
        "vcpus",
        "pcores",
        "hyperthreaded",
        "memory_gib",
        "memory_derived",
        "memory_residual_gib",
        "max_disks",
        "attachments_shared",
        "bandwidth_unit",
        "disk_iops",
        "disk_bandwidth",
        "burst_iops",
        "burst_bandwidth",
        "newest_iops",
        "newest_bandwidth",
        "cached_iops",
        "cached_bandwidth",
        "cached_gib",
        "network_unit",
        "network",
        "network_peak",
        "max_nics",
        "efa",
        "temp_disk_gib",
        "nvme_count",
        "nvme_gb_each",
        "nvme_read_iops",
        "nvme_read_bandwidth",
        "constrained_of",
        "block_express",
        "notes",
        "source",
        "as_of",
    ],
};

const DISKS: Layout = Layout {
    files: &["disks.csv"],
    key: &["cloud", "tier"],
    columns: &[
        "cloud",
        "tier",
        "family",
        "media",
        "model",
        "size_min_gib",
        "size_max_gib",
        "bandwidth_unit",
        "iops",
        "bandwidth",
        "iops_per_gib",
        "bandwidth_per_tib",
        "iops_included",
        "bandwidth_included",
        "iops_min",
        "bandwidth_min",
        "iops_max",
        "bandwidth_max",
        "iops_per_gib_max",
        "bytes_per_io",
        "bandwidth_follows",
        "io_unit",
        "burst_iops",
        "burst_bandwidth",
        "burst_kind",
        "max_attachments",
        "caution",
        "notes",
        "source",
        "as_of",
    ],
};

const SERVICES: Layout = Layout {
    files: &["services.csv"],
    key: &["cloud", "tier"],
    columns: &[
        "cloud",
        "service",
        "tier",
        "protocol",
        "sizes",
        "size_unit",
        "rate_unit",
        "read_per_tib",
        "write_per_tib",
        "disk_read_per_tib",
        "disk_write_per_tib",
        "burst_per_tib",
        "disk_burst_per_tib",
        "cache_gib_per_tib",
        "read_iops_per_tib",
        "write_iops_per_tib",
        "iops_included_per_tib",
        "iops_max",
        "throughput_values",
        "throughput_included",
        "throughput_min",
        "throughput_max",
        "throughput_max_per_tib",
        "read_max",
        "write_max",
        "mixed_max",
        "metadata_iops",
        "ports",
        "encrypted_at_rest",
        "customer_keys",
        "encrypted_in_transit",
        "durable",
        "regional",
        "caution",
        "notes",
        "source",
        "as_of",
    ],
};

const CLIENT_LIMITS: Layout = Layout {
    files: &["client_limits.csv"],
    key: &["cloud", "service", "profile"],
    columns: &[
        "cloud",
        "service",
        "profile",
        "rate_unit",
        "read",
        "write",
        "flow",
        "special",
        "notes",
        "source",
        "as_of",
    ],
};

const PRICES: Layout = Layout {
    files: &["prices.csv", "vm_prices.csv"],
    key: &["cloud", "region", "item", "term"],
    columns: &[
        "cloud",
        "region",
        "item",
        "unit",
        "billed_unit",
        "usd",
        "band_from",
        "band_to",
        "term",
        "doubt",
        "notes",
        "source",
        "as_of",
    ],
};

const PORTS: Layout = Layout {
    files: &["ports.csv"],
    key: &["rule"],
    columns: &["rule", "from", "to", "protocol", "ports", "purpose", "notes", "source", "as_of"],
};

const PUBLISHED: Layout = Layout {
    files: &["published.csv"],
    key: &["id"],
    columns: &[
        "id",
        "study",
        "cloud",
        "architecture",
        "clients",
        "client_sku",
        "pcores",
        "servers",
        "server_sku",
        "storage",
        "test",
        "operation",
        "transfer_size",
        "read_percent",
        "access",
        "variant",
        "metric",
        "value",
        "unit",
        "per",
        "dataset_gib",
        "server_memory_gib",
        "cached",
        "error",
        "corrected",
        "notes",
        "source",
        "as_of",
    ],
};

const CALIBRATION: Layout = Layout {
    files: &["calibration.csv"],
    key: &["architecture", "operation"],
    columns: &["architecture", "operation", "factor", "n", "min", "max", "notes", "source", "as_of"],
};
