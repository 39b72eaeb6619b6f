use std::sync::Arc;

use spec::Cloud;
use units::{Bandwidth, Bytes};

use crate::{Rate, Source};

/// A class of network block storage.
#[derive(Debug, Clone, PartialEq)]
pub struct Disk {
    /// Whose it is.
    pub cloud: Cloud,
    /// The provider's id: `P30`, `gp3`, `hyperdisk-balanced`.
    pub tier: Arc<str>,
    /// What it is sold as: `Premium SSD`.
    pub family: Arc<str>,
    /// Spinning or not.
    pub media: Media,
    /// How its rates follow from its size.
    pub performance: Performance,
    /// Smallest size sold; the tier is billed from here.
    pub size_min: Bytes,
    /// Largest size sold.
    pub size_max: Option<Bytes>,
    /// An I/O larger than this counts as several.
    pub io_unit: Option<Bytes>,
    /// Rates while burst credits last.
    pub burst: Rate,
    /// What the burst needs: credits, or a paid option.
    pub burst_kind: Option<Arc<str>>,
    /// Machines that may attach one volume at the same time.
    pub max_attachments: Option<u32>,
    /// Why a new design should not use it: a previous generation, limits of earlier years.
    pub caution: Option<Arc<str>>,
    /// What else the provider says.
    pub notes: Arc<str>,
    /// Where this stands.
    pub source: Source,
}

/// What a disk is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Media {
    /// Magnetic disks.
    Hdd,
    /// Flash.
    Ssd,
}

/// How a disk's rates follow from what is ordered.
#[derive(Debug, Clone, PartialEq)]
pub enum Performance {
    /// One size, one rate: the tier with the smallest size that fits is billed whole (F23).
    Fixed(Rate),
    /// Rates follow from the size (F15): each is `per_tib x size`, within its bounds.
    BySize {
        /// Bandwidth per TiB.
        bandwidth_per_tib: Option<Bandwidth>,
        /// I/Os per second per GiB.
        iops_per_gib: Option<f64>,
        /// Lower bound.
        min: Rate,
        /// Upper bound.
        max: Rate,
    },
    /// Rates are ordered beside the size (F14).
    Provisioned(Provisioning),
    /// The provider's bounds were not seen: it can't be planned with.
    Unknown,
}

/// What can be ordered of a provisioned disk.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Provisioning {
    /// Included in the capacity price.
    pub included: Rate,
    /// Least that can be ordered.
    pub min: Rate,
    /// Most that can be ordered.
    pub max: Rate,
    /// I/Os per second per GiB at most.
    pub iops_per_gib: Option<f64>,
    /// Bytes per second per I/O per second at most: 0.25 MiB/s per IOPS means 256 KiB.
    pub bytes_per_io: Option<Bytes>,
    /// The bandwidth follows from the IOPS alone and is not ordered or billed (io1, io2, Hyperdisk Extreme).
    pub bandwidth_follows: bool,
}
