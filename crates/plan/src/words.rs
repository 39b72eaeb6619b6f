//! Designs in words: one line that says what to order.

use std::fmt::Write as _;

use units::Bytes;

use crate::design::{Design, Layout, LustreOnVms, Service, Volume};
use crate::evaluate::Evaluation;

/// A layout in one line: `Lustre: 8 x Standard_E16bs_v5 with 3 x S70 (384 TiB)`.
pub fn layout(layout: &Layout, capacity: Bytes) -> String {
    let text = match layout {
        Layout::LustreOnVms(lustre) => lustre_text(lustre),
        Layout::Service(service) => service_text(service),
        Layout::StripedVolumes(striped) => {
            format!("RAID-0 of {} x {} on each client", striped.volumes_per_client, volume(&striped.volume))
        }
        Layout::SharedVolumes(shared) => {
            format!("GFS2 on {} x {}, attached to all clients", shared.volumes, volume(&shared.volume))
        }
        Layout::LocalNvme(local) => {
            format!("RAID-0 of {} local NVMe on each client", local.devices_per_client)
        }
    };
    format!("{text}, {capacity:.0}", capacity = Whole(capacity))
}

/// Bytes in the largest binary unit that leaves a short number.
struct Whole(Bytes);

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tib = self.0.get() as f64 / (1u64 << 40) as f64;
        match tib {
            tib if tib >= 10.0 => write!(f, "{tib:.0} TiB"),
            tib if tib >= 1.0 => write!(f, "{tib:.1} TiB"),
            tib => write!(f, "{:.0} GiB", tib * 1024.0),
        }
    }
}

fn lustre_text(lustre: &LustreOnVms) -> String {
    format!(
        "Lustre: {} x {} with {} x {}, MDS {}",
        lustre.servers,
        lustre.sku,
        lustre.disks_per_server,
        volume(&lustre.disk),
        lustre.metadata.sku
    )
}

fn service_text(service: &Service) -> String {
    // Tiers are named after their service by most providers; the others need both.
    let first = service.service.split(' ').next().unwrap_or_default();
    let named =
        service.tier.contains(first) || service.tier.starts_with("AMLFS") || service.tier.starts_with("ANF");
    let mut text = if named { service.tier.clone() } else { format!("{} {}", service.service, service.tier) };
    if service.count > 1 {
        text = format!("{} x {text}", service.count);
    }
    if let Some(throughput) = service.throughput {
        let _ = write!(text, " with {throughput}");
    }
    if let Some(iops) = service.iops {
        let _ = write!(text, ", {iops} IOPS");
    }
    text
}

fn volume(volume: &Volume) -> String {
    let mut text = volume.tier.clone();
    if volume.iops.is_some() || volume.bandwidth.is_some() {
        let _ = write!(text, " ({}", Whole(volume.size));
        if let Some(iops) = volume.iops {
            let _ = write!(text, ", {iops} IOPS");
        }
        if let Some(bandwidth) = volume.bandwidth {
            let _ = write!(text, ", {bandwidth}");
        }
        text.push(')');
    }
    text
}

/// A whole design in one line: its storages, joined.
pub fn title(evaluation: &Evaluation) -> String {
    let Design { storage, .. } = &evaluation.design;
    let parts = storage.iter().zip(&evaluation.storages);
    let several = storage.len() > 1;
    let texts = parts.map(|(design, storage)| {
        let text = layout(&design.layout, storage.capacity);
        if several { format!("{}: {text}", storage.requirement.name) } else { text }
    });
    texts.collect::<Vec<_>>().join("; ")
}
