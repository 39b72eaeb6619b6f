//! Mistakes in each table, as they are told, and what blank and unusual cells become.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;

use catalog::{Catalog, Performance};
use units::{Bandwidth, Bytes};

fn load(file: &str, text: &str) -> fault::Result<Catalog> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(file), text).unwrap();
    Catalog::load(dir.path())
}

/// The message, from the file's name on.
fn said(file: &str, text: &str) -> String {
    let fault = load(file, text).err().unwrap();
    assert!(fault.hint_text().is_some(), "{fault} has no hint");
    let message = fault.message();
    message[message.find(file).unwrap_or_default()..].to_owned()
}

const SERVICE: &str = "cloud,service,tier,protocol,sizes,size_unit,rate_unit,throughput_values,throughput_min,mixed_max,metadata_iops,durable,regional,source,as_of\n";

fn service(cells: &str) -> String {
    format!("{SERVICE}aws,Our service,T,{cells},yes,no,our test,2026\n")
}

#[test]
fn services() {
    let catalog =
        load("services.csv", &service("nfs,1; 2+2..9,TiB,MiB/s,64;128,64,80:3000;50:2500,10; 20+10..40"))
            .unwrap();
    let tier = catalog.service("T").unwrap();
    let sizes: Vec<_> = tier.sizes.iter().map(|range| (range.min, range.step, range.max)).collect();
    let tib = Bytes::tib;
    assert_eq!(sizes, [(tib(1), tib(1), Some(tib(1))), (tib(2), tib(2), Some(tib(9)))]);
    let order = tier.throughput.as_ref().unwrap();
    assert_eq!(order.values, [Bandwidth::mib_per_second(64.0), Bandwidth::mib_per_second(128.0)]);
    assert_eq!(tier.mixed_max.len(), 2);
    assert_eq!(tier.metadata_iops.iter().map(|iops| iops.get() as u32).collect::<Vec<_>>(), [10, 20, 30, 40]);
    assert_eq!((tier.read_per_tib, tier.customer_keys, tier.durable), (None, None, true));
    assert!(
        catalog
            .check()
            .iter()
            .any(|finding| finding.row == "aws/T" && finding.what.contains("don't meet its largest size"))
    );

    let said = |cells| said("services.csv", &service(cells));
    assert_eq!(said("nfs,2+,TiB,,,,,"), "services.csv:2: column `sizes`: `2+` is not a list of ranges");
    assert_eq!(said("nfs,2+0,TiB,,,,,"), "services.csv:2: column `sizes`: `2+0` is not a list of ranges");
    assert_eq!(
        said("nfs,9+1..2,TiB,,,,,"),
        "services.csv:2: column `sizes`: `9+1..2` is not a list of ranges"
    );
    assert_eq!(
        said("nfs,4+4;2,TiB,,,,,"),
        "services.csv:2: column `sizes`: `4+4;2` has ranges that are not in ascending order"
    );
    assert_eq!(
        said("nfs,1,TiB,MB/s,,,80,"),
        "services.csv:2: column `mixed_max`: `80` is not a list of mixes and totals"
    );
    assert_eq!(
        said("nfs,1,TiB,MB/s,,,180:1,"),
        "services.csv:2: column `mixed_max`: `180:1` is not a list of mixes and totals"
    );
    assert_eq!(said("nfs,1,TiB,MB/s,,,,12+12"), "services.csv:2: column `metadata_iops`: `12+12` has no end");
    assert_eq!(said("smb,1,TiB,MB/s,,,,"), "services.csv:2: column `protocol`: `smb` is not known here");
}

const DISK: &str = "cloud,tier,family,media,model,size_min_gib,size_max_gib,bandwidth_unit,bandwidth,bandwidth_max,bytes_per_io,source,as_of\n";

#[test]
fn disks() {
    let disk = |cells: &str| format!("{DISK}aws,d,D,{cells},our test,2026\n");
    let catalog = load("disks.csv", &disk("ssd,fixed,,,MB/s,60,,")).unwrap();
    let found = catalog.disk("d").unwrap();
    assert_eq!((found.size_min, found.size_max), (Bytes::gib(1), None));
    let Performance::Fixed(rate) = found.performance else { panic!("{found:?}") };
    assert_eq!((rate.bandwidth, rate.iops), (Some(Bandwidth::mb_per_second(60.0)), None));
    let wrong = load("disks.csv", &disk("ssd,provisioned,64,32,MB/s,,100,256KiB")).unwrap().check();
    assert!(wrong.iter().any(|finding| finding.what == "its largest size is below its smallest"));

    let said = |cells| said("disks.csv", &disk(cells));
    assert_eq!(said("tape,fixed,,,MB/s,60,,"), "disks.csv:2: column `media`: `tape` is not known here");
    assert_eq!(said("ssd,magic,,,MB/s,60,,"), "disks.csv:2: column `model`: `magic` is not known here");
    assert_eq!(
        said("ssd,provisioned,,,MB/s,,,256"),
        "disks.csv:2: column `bytes_per_io`: `256` is not a size"
    );
    assert_eq!(
        said("ssd,provisioned,,,MB/s,,,0KiB"),
        "disks.csv:2: column `bytes_per_io`: `0KiB` is not a size"
    );
}

#[test]
fn ports_results_and_calibration() {
    let ports = "rule,from,to,protocol,ports,source,as_of\nlustre,a,b,tcp,988;1018-1023,s,2026\n";
    let catalog = load("ports.csv", ports).unwrap();
    let rule = catalog.ports.iter().find(|rule| &*rule.rule == "lustre").unwrap();
    assert_eq!(rule.ports, [(988, 988), (1018, 1023)]);
    let said_of = said("ports.csv", &ports.replace("1018-1023", "1023-1018"));
    assert_eq!(said_of, "ports.csv:2: column `ports`: `988;1023-1018` is not a list of ports");

    let factor = "architecture,operation,factor,n,min,max,source,as_of\nnfs-service,read,0.8,5,0.7,0.9,own runs,2026\n";
    let catalog = load("calibration.csv", factor).unwrap();
    assert_eq!(catalog.factor("nfs-service", "read").text(), "0.80 (0.70-0.90, n=5)");
    assert_eq!(catalog.calibration.len(), Catalog::embedded().unwrap().calibration.len());
    let said_of = said("calibration.csv", &factor.replace("0.8,5", "0.6,5"));
    assert_eq!(
        said_of,
        "calibration.csv:2: column `factor`: `0.6` is not above 0 and between `min` and `max`"
    );

    let result = "id,study,architecture,test,operation,metric,value,unit,per,read_percent,dataset_gib,server_memory_gib,source,as_of\n\
        ours,Our study,lustre-on-vms,ior,read,bandwidth,2,GB/s,aggregate,100,64,128,s,2026\n";
    let catalog = load("published.csv", result).unwrap();
    let ours = catalog.published.iter().find(|result| &*result.id == "ours").unwrap();
    assert!(ours.fits_server_memory());
    assert_eq!(ours.bandwidth(), Some(Bandwidth::mb_per_second(2000.0)));
    assert!(
        catalog.check().iter().any(|finding| finding.what.contains("fits into the memory of the servers"))
    );
    let said_of = said("published.csv", &result.replace(",100,64", ",101,64"));
    assert_eq!(said_of, "published.csv:2: column `read_percent`: `101` is more than 100");
}

#[test]
fn files_that_spreadsheets_write() {
    let text = "cloud,sku,series,vcpus,pcores,source,as_of\r\naws,x9.huge , x9,4,2,our test,2026\r\n\r\n# a remark, with a comma\r\n";
    let catalog = load("vms.csv", &format!("\u{feff}{text}")).unwrap();
    assert_eq!(&*catalog.vm("x9.huge").unwrap().series, "x9");
    let key = "aws/x9.huge";
    let row = catalog.rows.keyed(catalog::Table::Vms, key).next().unwrap();
    assert_eq!((row.cell(catalog::Table::Vms, "series"), row.line), ("x9", 2));
    let below = format!("{text}\r\n# another\r\naws,x9.tiny,x9,none,1,s,2026\r\n");
    assert_eq!(said("vms.csv", &below), "vms.csv:7: column `vcpus`: `none` is not a whole number");
    let said_of = said("vms.csv", &text.replace(',', ";"));
    assert_eq!(said_of, "vms.csv:1: the columns are not separated by commas");
}
