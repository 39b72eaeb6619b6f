//! Rules that keep a search from designs nobody would run.

use catalog::Disk;
use units::Bytes;

/// Rules that keep a search from designs nobody would run. All are on unless changed, and every plan shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Guards {
    /// Share of the month in which the storage runs at its required rate; decides charges per disk operation.
    pub duty_cycle: f64,
    /// Smallest OST: many tiny disks look cheap by their "up to" rates but are slow to rebuild and to watch.
    pub min_ost: Bytes,
    /// Most OSTs of a file system. A file can be striped over 160 OSTs unless the MDT's format allows more.
    pub max_osts: u32,
    /// Fewest storage servers, so that losing one leaves most of the file system.
    pub min_servers: u32,
    /// Fewest clients of a grid, so that losing one leaves a grid; a spec's `clients` overrides it.
    pub min_clients: u32,
    /// Fewest pCores of a client, where the grid has as many; a spec's `client_sku` overrides it.
    pub min_client_pcores: u32,
    /// Constrained-vCPU SKUs as servers: they cost as much as the full machine and help only per-core licences.
    pub constrained_servers: bool,
    /// Tiers that are previews, deprecated or of previous limits.
    pub cautioned_tiers: bool,
    /// Volumes of a service that one requirement may be spread over, each a name space of its own.
    pub max_name_spaces: u32,
    /// Hosts that may attach one volume under GFS2 (F27).
    pub max_shared_hosts: u32,
}

impl Default for Guards {
    fn default() -> Self {
        Self {
            duty_cycle: 0.2,
            min_ost: Bytes::gib(256),
            max_osts: 160,
            min_servers: 3,
            min_clients: 2,
            min_client_pcores: 4,
            constrained_servers: false,
            cautioned_tiers: false,
            max_name_spaces: 4,
            max_shared_hosts: 16,
        }
    }
}

impl Guards {
    /// Whether a disk tier may be used: no limits of earlier years, no tier that the provider phases out.
    pub fn permits(&self, disk: &Disk) -> bool {
        self.cautioned_tiers || disk.caution.is_none()
    }

    /// The rules in words, for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("disk operations are charged for {:.0} % of the month", self.duty_cycle * 100.0),
            format!("an OST has at least {:#}", self.min_ost),
            format!("a file system has at most {} OSTs", self.max_osts),
            format!("Lustre has at least {} OSSs", self.min_servers),
            format!(
                "a grid has at least {} clients of at least {} pCores",
                self.min_clients, self.min_client_pcores
            ),
            format!("a service is split over at most {} name spaces", self.max_name_spaces),
            format!("at most {} hosts share a volume", self.max_shared_hosts),
        ];
        if !self.constrained_servers {
            lines.push("constrained-vCPU SKUs are not servers".to_owned());
        }
        if !self.cautioned_tiers {
            lines.push("no previews, deprecated tiers or limits of earlier years".to_owned());
        }
        lines
    }
}
