//! AWS's products as items of the catalog. Their prices stand further on in the file: until then, `unit` is what is counted.

use serde::Deserialize;

use crate::meter::Meter;
use crate::sold::Sold;

/// A product of a price list.
#[derive(Debug, Default, Deserialize)]
pub struct Product {
    #[serde(default, rename = "productFamily")]
    family: String,
    attributes: Attributes,
}

/// What matters of a product's attributes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    servicecode: String,
    region_code: String,
    usagetype: String,
    group: String,
    instance_type: String,
    operating_system: String,
    tenancy: String,
    pre_installed_sw: String,
    capacitystatus: String,
    operation: String,
    volume_api_name: String,
    file_system_type: String,
    storage_type: String,
    storage_class: String,
    deployment_option: String,
    throughput_capacity: String,
}

/// What is sold of an item, with the units that come before it (the second tier of io2's IOPS starts at 32000).
type Match = (Vec<String>, &'static str, f64);

/// The meters that a product becomes once its price is known; none for the many that the catalog has no item of.
pub fn of(product: &Product, region: &str, sold: &Sold<'_>, source: &str, published: &str) -> Vec<Meter> {
    let attributes = &product.attributes;
    if !attributes.region_code.is_empty() && attributes.region_code != region {
        return Vec::new();
    }
    let found = match attributes.servicecode.as_str() {
        "AmazonEC2" if !attributes.instance_type.is_empty() => machine(product, sold),
        "AmazonEC2" => volume(product, sold),
        "AmazonFSx" => fsx(product, sold),
        "AmazonEFS" => efs(product, sold),
        _ => None,
    };
    let Some((items, counted, from)) = found else { return Vec::new() };
    let usage = attributes.usagetype.as_str();
    let meter = |item: String| Meter {
        item,
        region: region.to_owned(),
        term: "payg".to_owned(),
        // The tiers of one meter are products of their own.
        meter: usage.trim_end_matches(".tier2").trim_end_matches(".tier3").to_owned(),
        unit: counted.to_owned(),
        billed_unit: String::new(),
        usd: 1.0,
        from,
        notes: String::new(),
        source: source.to_owned(),
        as_of: published.to_owned(),
    };
    items.into_iter().map(meter).collect()
}

/// Linux on shared hardware without extra software, as it runs and not as it is reserved.
fn machine(product: &Product, sold: &Sold<'_>) -> Option<Match> {
    let attributes = &product.attributes;
    let plain = product.family.starts_with("Compute Instance")
        && attributes.operating_system == "Linux"
        && attributes.tenancy == "Shared"
        && attributes.pre_installed_sw == "NA"
        && attributes.capacitystatus == "Used"
        && (attributes.operation.is_empty() || attributes.operation == "RunInstances");
    plain.then(|| Some((vec![sold.vm(&attributes.instance_type)?], "each", 0.0)))?
}

fn volume(product: &Product, sold: &Sold<'_>) -> Option<Match> {
    let attributes = &product.attributes;
    let (usage, tier) = (attributes.usagetype.as_str(), attributes.volume_api_name.as_str());
    if usage.ends_with("EBS:VolumeIOUsage") {
        return Some((vec![sold.operations("EBS magnetic")?], "operations", 0.0));
    }
    let (what, from) = if usage.contains("EBS:VolumeUsage") && product.family == "Storage" {
        ("capacity", 0.0)
    } else if usage.contains("EBS:VolumeP-IOPS") && attributes.group.starts_with("EBS IOPS") {
        (
            "iops",
            if tier_of(usage) == "tier2" {
                32_000.0
            } else if tier_of(usage) == "tier3" {
                64_000.0
            } else {
                0.0
            },
        )
    } else if usage.contains("EBS:VolumeP-Throughput") {
        ("throughput", 0.0)
    } else {
        return None;
    };
    // The catalog tells apart what AWS sells under one name.
    let tiers: &[&str] = match tier {
        "gp3" => &["gp3", "gp3-2020"],
        "io2" => &["io2", "io2-bx"],
        _ => &[tier],
    };
    some(tiers.iter().filter_map(|tier| sold.disk(tier, what)).collect(), what, from)
}

/// What a usage type ends with: `EBS:VolumeP-IOPS.io2.tier2`.
fn tier_of(usage: &str) -> &str {
    usage.rsplit_once('.').map_or("", |(_, tier)| tier)
}

fn some(items: Vec<String>, counted: &'static str, from: f64) -> Option<Match> {
    (!items.is_empty()).then_some((items, counted, from))
}

fn fsx(product: &Product, sold: &Sold<'_>) -> Option<Match> {
    let attributes = &product.attributes;
    let usage = attributes.usagetype.to_lowercase();
    if usage.contains("backup") || usage.contains("intelligent") {
        return None;
    }
    let what = match product.family.as_str() {
        "Storage" => "capacity",
        "Provisioned IOPS" => "iops",
        "Provisioned Throughput" => "throughput",
        _ => return None,
    };
    if attributes.file_system_type == "Lustre" {
        return some(
            lustre(attributes).iter().filter_map(|tier| sold.service(tier, what)).collect(),
            what,
            0.0,
        );
    }
    if what == "capacity" && attributes.storage_type != "SSD" {
        return None;
    }
    let option: String = attributes.deployment_option.chars().filter(char::is_ascii_alphanumeric).collect();
    let tier = match (attributes.file_system_type.as_str(), option.to_lowercase().as_str()) {
        ("OpenZFS", "singleaz") => "FSx-OpenZFS-SSD",
        ("OpenZFS", "singleaz2") => "FSx-OpenZFS-2-SSD",
        ("ONTAP", "singleaz") => "FSx-ONTAP-SSD",
        ("ONTAP", "singleaz2") => "FSx-ONTAP-2-SSD",
        _ => return None,
    };
    some(sold.service(tier, what).into_iter().collect(), what, 0.0)
}

/// The tiers of FSx for Lustre: each rate per TiB is of one generation alone; file systems without one are scratch.
fn lustre(attributes: &Attributes) -> Vec<String> {
    let digits: String = attributes
        .throughput_capacity
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    match (attributes.storage_type.as_str(), digits.parse::<u32>()) {
        ("SSD", Ok(rate @ (125 | 250 | 500 | 1000))) => vec![format!("PERSISTENT_2-SSD-{rate}")],
        ("SSD", Ok(rate @ (50 | 100 | 200))) if !is_scratch(attributes) => {
            vec![format!("PERSISTENT_1-SSD-{rate}")]
        }
        ("HDD", Ok(rate @ (12 | 40))) => vec![format!("PERSISTENT_1-HDD-{rate}")],
        ("SSD", _) if is_scratch(attributes) => vec!["SCRATCH_1-SSD".to_owned(), "SCRATCH_2-SSD".to_owned()],
        _ => Vec::new(),
    }
}

fn is_scratch(attributes: &Attributes) -> bool {
    [&attributes.deployment_option, &attributes.usagetype]
        .iter()
        .any(|text| text.to_lowercase().contains("scratch"))
}

fn efs(product: &Product, sold: &Sold<'_>) -> Option<Match> {
    let attributes = &product.attributes;
    let tiers: &[&str] = match (product.family.as_str(), attributes.storage_class.as_str()) {
        ("Storage", "General Purpose") => &["EFS-Elastic", "EFS-Provisioned"],
        ("Storage", "One Zone-General Purpose") => &["EFS-OneZone-Provisioned"],
        ("Provisioned Throughput", _) if attributes.usagetype.contains("ProvisionedTP-MiBpsHrs") => {
            let tiers = ["EFS-Provisioned", "EFS-OneZone-Provisioned"];
            return some(
                tiers.iter().filter_map(|tier| sold.service(tier, "throughput")).collect(),
                "throughput",
                0.0,
            );
        }
        _ => return None,
    };
    some(tiers.iter().filter_map(|tier| sold.service(tier, "capacity")).collect(), "capacity", 0.0)
}

#[cfg(test)]
mod tests {
    use catalog::Catalog;
    use serde_json::json;
    use spec::Cloud;

    use super::*;

    fn items(family: &str, attributes: &serde_json::Value) -> Vec<String> {
        let product: Product =
            serde_json::from_value(json!({ "productFamily": family, "attributes": attributes })).unwrap();
        let catalog = Catalog::embedded().unwrap();
        let sold = Sold::new(&catalog, Cloud::Aws, &|_| true);
        of(&product, "us-east-1", &sold, "s", "d")
            .into_iter()
            .map(|meter| format!("{} {}", meter.item, meter.from))
            .collect()
    }

    fn machine(change: (&str, &str)) -> Vec<String> {
        let mut attributes = json!({
            "servicecode": "AmazonEC2", "regionCode": "us-east-1", "instanceType": "i3en.6xlarge",
            "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used",
            "operation": "RunInstances", "usagetype": "BoxUsage:i3en.6xlarge",
        });
        attributes[change.0] = change.1.into();
        items("Compute Instance", &attributes)
    }

    #[test]
    fn machines_run_linux_on_shared_hardware() {
        assert_eq!(machine(("tenancy", "Shared")), ["vm:i3en.6xlarge 0"]);
        for other in [
            ("tenancy", "Dedicated"),
            ("operatingSystem", "Windows"),
            ("preInstalledSw", "SQL Web"),
            ("capacitystatus", "UnusedCapacityReservation"),
            ("regionCode", "us-east-2"),
            ("instanceType", "z9.large"),
            ("operation", "RunInstances:0002"),
        ] {
            assert!(machine(other).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn the_tiers_of_a_volume_are_bands_of_one_price() {
        let iops = |usage: &str, group: &str| {
            let attributes = json!({ "servicecode": "AmazonEC2", "volumeApiName": "io2", "usagetype": usage, "group": group });
            items("System Operation", &attributes)
        };
        assert_eq!(iops("EBS:VolumeP-IOPS.io2", "EBS IOPS"), ["io2:iops 0", "io2-bx:iops 0"]);
        assert_eq!(
            iops("EUC1-EBS:VolumeP-IOPS.io2.tier2", "EBS IOPS Tier 2"),
            ["io2:iops 32000", "io2-bx:iops 32000"]
        );
        assert_eq!(
            iops("EBS:VolumeP-IOPS.io2.tier3", "EBS IOPS Tier 3"),
            ["io2:iops 64000", "io2-bx:iops 64000"]
        );
    }

    #[test]
    fn file_services_by_generation_and_zone() {
        let lustre = |family: &str, storage: &str, rate: &str, usage: &str| {
            let attributes = json!({
                "servicecode": "AmazonFSx", "fileSystemType": "Lustre", "storageType": storage,
                "throughputCapacity": rate, "usagetype": usage, "deploymentOption": "Single-AZ",
            });
            items(family, &attributes)
        };
        assert_eq!(
            lustre("Storage", "SSD", "250 MB/s/TiB", "Lustre-Storage"),
            ["service:PERSISTENT_2-SSD-250:capacity 0"]
        );
        assert_eq!(
            lustre("Storage", "HDD", "12", "Lustre-Storage"),
            ["service:PERSISTENT_1-HDD-12:capacity 0"]
        );
        assert_eq!(lustre("Storage", "SSD", "200", "Lustre-Scratch").len(), 2);
        assert!(lustre("Storage", "SSD", "250", "Lustre-BackupUsage").is_empty());
        let zfs = |option: &str| {
            let attributes = json!({
                "servicecode": "AmazonFSx", "fileSystemType": "OpenZFS", "storageType": "SSD", "deploymentOption": option,
            });
            items("Storage", &attributes)
        };
        assert_eq!(zfs("Single-AZ"), ["service:FSx-OpenZFS-SSD:capacity 0"]);
        assert_eq!(zfs("Single-AZ_2"), ["service:FSx-OpenZFS-2-SSD:capacity 0"]);
        assert!(zfs("Multi-AZ").is_empty());
    }
}
