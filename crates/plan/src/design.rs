//! Designs as people write and keep them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Cloud, Commitment, Grid, Storage};
use units::{Bandwidth, Bytes};

/// Version of the design file this program reads and writes.
pub const VERSION: u32 = 1;

/// One concrete way to meet a grid's requirements, with the requirements it was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Version of this format: 1.
    pub version: u32,
    /// Where it is rented.
    pub place: Region,
    /// The grid it is for.
    pub grid: Grid,
    /// The hosts that use the storage.
    pub clients: Clients,
    /// One per file system.
    pub storage: Vec<StorageDesign>,
}

/// A region of a cloud and the price list used there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The provider.
    pub cloud: Cloud,
    /// Its name for the region.
    pub region: String,
    /// The price list.
    #[serde(default)]
    pub commitment: Commitment,
}

/// The hosts that use the storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// The VM SKU.
    pub sku: String,
    /// How many.
    pub count: u32,
}

/// A file system of a design: what is asked of it and how it is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageDesign {
    /// What the grid needs of it.
    pub requirement: Storage,
    /// How it is built.
    pub layout: Layout,
}

/// How a file system is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Lustre on VMs with network disks.
    LustreOnVms(LustreOnVms),
    /// A file service the provider runs.
    Service(Service),
    /// Network volumes of each client, striped, for that client alone.
    StripedVolumes(StripedVolumes),
    /// Volumes attached to all clients at once under GFS2.
    SharedVolumes(SharedVolumes),
    /// The clients' own NVMe, for each client alone; lost when a client stops.
    LocalNvme(LocalNvme),
}

/// A network disk as ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// The catalog's tier: `S70`, `gp3`.
    pub tier: String,
    /// Its size.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub size: Bytes,
    /// I/Os per second ordered, where the tier sells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// Bandwidth ordered, where the tier sells it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "Option<String>")]
    pub bandwidth: Option<Bandwidth>,
}

/// Lustre on VMs: equal OSSs with equal disks, each disk an OST.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LustreOnVms {
    /// SKU of the OSSs.
    pub sku: String,
    /// Number of OSSs.
    pub servers: u32,
    /// Disks of each OSS; each is one OST.
    pub disks_per_server: u32,
    /// One disk.
    pub disk: Volume,
    /// The MGS and MDS.
    pub metadata: MetadataServers,
    /// OSTs a file is spread over.
    pub stripe_count: u32,
    /// Bytes per OST in turn.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub stripe_size: Bytes,
}

/// MGS and MDS of a Lustre file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetadataServers {
    /// Their SKU.
    pub sku: String,
    /// How many.
    pub count: u32,
    /// The MDT of each.
    pub disk: Volume,
}

/// A file service the provider runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The catalog's name of the service.
    pub service: String,
    /// Its tier.
    pub tier: String,
    /// Capacity ordered of each.
    #[serde(with = "units::text")]
    #[schemars(with = "String")]
    pub capacity: Bytes,
    /// Throughput ordered of each, where it is ordered beside the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "units::text::option")]
    #[schemars(with = "Option<String>")]
    pub throughput: Option<Bandwidth>,
    /// I/Os per second ordered of each, where they are ordered beside the capacity; as many as it includes when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// File systems or volumes ordered; more than one are as many name spaces.
    #[serde(default = "one")]
    pub count: u32,
    /// The mount profile whose client limits hold: `nconnect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
}

/// Volumes of each client, striped by RAID-0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StripedVolumes {
    /// Volumes per client.
    pub volumes_per_client: u32,
    /// One volume.
    pub volume: Volume,
}

/// Volumes attached to every client at once, under GFS2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedVolumes {
    /// Number of volumes, striped.
    pub volumes: u32,
    /// One volume.
    pub volume: Volume,
}

/// NVMe that comes with the clients' SKU, striped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalNvme {
    /// Devices used on each client.
    pub devices_per_client: u32,
}

/// The kind of a design, by which designs are grouped and calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Lustre on VMs.
    LustreOnVms,
    /// Azure Managed Lustre, FSx for Lustre, Google Cloud Managed Lustre.
    ManagedLustre,
    /// Azure NetApp Files, FSx for OpenZFS and ONTAP, EFS, Filestore.
    NfsService,
    /// Network volumes of one host.
    StripedVolumes,
    /// Multi-attach volumes under GFS2.
    SharedVolumes,
    /// Local NVMe.
    LocalNvme,
}

impl Family {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 6] = [
        Self::LustreOnVms,
        Self::ManagedLustre,
        Self::NfsService,
        Self::StripedVolumes,
        Self::SharedVolumes,
        Self::LocalNvme,
    ];

    /// The word users type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LustreOnVms => "lustre-on-vms",
            Self::ManagedLustre => "managed-lustre",
            Self::NfsService => "nfs-service",
            Self::StripedVolumes => "striped-volumes",
            Self::SharedVolumes => "shared-volumes",
            Self::LocalNvme => "local-nvme",
        }
    }
}

fn one() -> u32 {
    1
}
