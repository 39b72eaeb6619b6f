use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bandwidth, Bytes, Ratio};

use crate::exact;
use crate::grid::Grid;
use crate::schema::{BandwidthText, BytesText, MixText};

/// Size of one I/O of SAS and of its test: 64 KiB.
pub const DEFAULT_IO_SIZE: Bytes = Bytes::kib(64);

/// What SAS asks of storage where a spec says nothing: 150 MB/s per pCore, for reading and for writing.
pub fn default_per_pcore() -> Bandwidth {
    Bandwidth::mb_per_second(150.0)
}

/// What a storage holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Permanent data (SASDATA): read more than written.
    Data,
    /// Temporary data of running jobs (SASWORK, UTILLOC): written and read once.
    Work,
    /// Home directories and programs.
    Home,
    /// Anything else; the name says what.
    Other,
}

impl Role {
    /// The word used in spec files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Work => "work",
            Self::Home => "home",
            Self::Other => "other",
        }
    }
}

/// What a storage must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Nothing: its content can be computed again, so local NVMe will do.
    Scratch,
    /// The loss of a disk or a server.
    Zone,
    /// The loss of a whole zone.
    Region,
}

impl Durability {
    /// The word used in spec files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Zone => "zone",
            Self::Region => "region",
        }
    }
}

/// In which order an application touches its files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// From front to end: file systems merge neighbouring I/Os into large ones.
    #[default]
    Sequential,
    /// Anywhere: every I/O reaches the disk as it is.
    Random,
}

impl Access {
    /// The word used in spec files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

/// One requirement: what the grid needs from one file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    { "not": { "required": ["read_per_pcore", "read_aggregate"] } },
    { "not": { "required": ["write_per_pcore", "write_aggregate"] } },
]))]
pub struct Storage {
    /// What you call it; tests refer to it by this name.
    #[schemars(example = &"data")]
    pub name: String,
    /// What it holds.
    #[schemars(example = &"data")]
    pub role: Role,
    /// Usable capacity needed.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"100 TiB")]
    pub capacity: Option<Bytes>,
    /// Read throughput per pCore. Without this and `read_aggregate`: 150 MB/s.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::bandwidth")]
    #[schemars(with = "BandwidthText", example = &"150 MB/s")]
    pub read_per_pcore: Option<Bandwidth>,
    /// Write throughput per pCore. Without this and `write_aggregate`: 150 MB/s.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::bandwidth")]
    #[schemars(with = "BandwidthText", example = &"150 MB/s")]
    pub write_per_pcore: Option<Bandwidth>,
    /// Read throughput of all clients together, instead of `read_per_pcore`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::bandwidth")]
    #[schemars(with = "BandwidthText", example = &"7200 MB/s")]
    pub read_aggregate: Option<Bandwidth>,
    /// Write throughput of all clients together, instead of `write_per_pcore`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::bandwidth")]
    #[schemars(with = "BandwidthText", example = &"7200 MB/s")]
    pub write_aggregate: Option<Bandwidth>,
    /// Reads to writes in bytes when both happen together. Without it: 50:50 for `work`, 80:20 for the rest.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::mix")]
    #[schemars(with = "MixText", example = &"80:20")]
    pub mix: Option<Ratio>,
    /// Size of one I/O of the application; rates must hold at this size.
    #[serde(default = "default_io_size", with = "units::text")]
    #[schemars(with = "BytesText", example = &"64 KiB")]
    pub io_size: Bytes,
    /// The order of I/Os.
    #[serde(default)]
    #[schemars(example = &"sequential")]
    pub access: Access,
    /// Bytes all clients together write at once and then fsync, such as a checkpoint, when the write rate is needed only
    /// for that long.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "BytesText", example = &"500 GiB")]
    pub checkpoint: Option<Bytes>,
    /// What it must survive. Without it: `scratch` for `work`, `zone` for the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"zone")]
    pub durability: Option<Durability>,
}

impl Storage {
    /// A requirement that states nothing beyond its role: SAS's defaults hold.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self {
            name: name.into(),
            role,
            capacity: None,
            read_per_pcore: None,
            write_per_pcore: None,
            read_aggregate: None,
            write_aggregate: None,
            mix: None,
            io_size: DEFAULT_IO_SIZE,
            access: Access::Sequential,
            checkpoint: None,
            durability: None,
        }
    }

    /// Read throughput each pCore must get: as stated, or its part of the aggregate, or 150 MB/s.
    pub fn required_read_per_pcore(&self, grid: &Grid) -> Bandwidth {
        per_pcore(self.read_per_pcore, self.read_aggregate, grid)
    }

    /// Write throughput each pCore must get: as stated, or its part of the aggregate, or 150 MB/s.
    pub fn required_write_per_pcore(&self, grid: &Grid) -> Bandwidth {
        per_pcore(self.write_per_pcore, self.write_aggregate, grid)
    }

    /// Read throughput all clients together must get.
    pub fn required_read_aggregate(&self, grid: &Grid) -> Bandwidth {
        aggregate(self.read_per_pcore, self.read_aggregate, grid)
    }

    /// Write throughput all clients together must get.
    pub fn required_write_aggregate(&self, grid: &Grid) -> Bandwidth {
        aggregate(self.write_per_pcore, self.write_aggregate, grid)
    }

    /// Share of reads when both happen together: as stated, or as SAS describes its two kinds of storage.
    pub fn read_share(&self) -> Ratio {
        self.mix.unwrap_or(match self.role {
            Role::Work => Ratio::percent(50.0),
            Role::Data | Role::Home | Role::Other => Ratio::percent(80.0),
        })
    }

    /// What it must survive: as stated, or by its role.
    pub fn required_durability(&self) -> Durability {
        self.durability.unwrap_or(match self.role {
            Role::Work => Durability::Scratch,
            Role::Data | Role::Home | Role::Other => Durability::Zone,
        })
    }
}

fn per_pcore(stated: Option<Bandwidth>, total: Option<Bandwidth>, grid: &Grid) -> Bandwidth {
    let share = total.map(|total| total / f64::from(grid.pcores.max(1)));
    stated.or(share).unwrap_or_else(default_per_pcore)
}

fn aggregate(stated: Option<Bandwidth>, total: Option<Bandwidth>, grid: &Grid) -> Bandwidth {
    total.unwrap_or_else(|| per_pcore(stated, total, grid) * f64::from(grid.pcores))
}

fn default_io_size() -> Bytes {
    DEFAULT_IO_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_then_aggregate_then_the_sas_default() {
        let grid = Grid::new("g", 48);
        let mut storage = Storage::new("data", Role::Data);
        assert_eq!(storage.required_read_per_pcore(&grid), Bandwidth::mb_per_second(150.0));
        assert_eq!(storage.required_write_aggregate(&grid), Bandwidth::mb_per_second(7200.0));
        storage.read_aggregate = Some(Bandwidth::mb_per_second(4800.0));
        assert_eq!(storage.required_read_per_pcore(&grid), Bandwidth::mb_per_second(100.0));
        assert_eq!(storage.required_read_aggregate(&grid), Bandwidth::mb_per_second(4800.0));
        storage.write_per_pcore = Some(Bandwidth::mb_per_second(120.0));
        assert_eq!(storage.required_write_per_pcore(&grid), Bandwidth::mb_per_second(120.0));
    }

    #[test]
    fn what_is_not_stated_follows_the_role() {
        let (data, work) = (Storage::new("d", Role::Data), Storage::new("w", Role::Work));
        assert_eq!((data.read_share(), work.read_share()), (Ratio::percent(80.0), Ratio::percent(50.0)));
        assert_eq!(data.required_durability(), Durability::Zone);
        assert_eq!(work.required_durability(), Durability::Scratch);
    }
}
