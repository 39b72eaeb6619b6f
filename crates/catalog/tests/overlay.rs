//! Directories laid over the catalog that comes with the program, and what is said when they are wrong.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::path::Path;

use catalog::{Catalog, Change, Severity, Table};
use fault::{Fault, Kind};
use spec::{Cloud, Commitment};

/// A directory with one file.
fn dir(file: &str, text: impl AsRef<[u8]>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(file), text).unwrap();
    dir
}

fn failure(file: &str, text: impl AsRef<[u8]>) -> Fault {
    Catalog::load(dir(file, text).path()).err().unwrap()
}

/// Message and hint, without the directory.
fn said(file: &str, text: &str) -> (String, String) {
    let fault = failure(file, text);
    assert_eq!(fault.kind(), Kind::Spec);
    let message = fault.message().to_owned();
    let start = message.find(file).unwrap_or_default();
    (message[start..].to_owned(), fault.hint_text().unwrap().to_owned())
}

const VM: &str = "cloud,sku,series,vcpus,pcores,memory_gib,bandwidth_unit,disk_bandwidth,source,as_of\n";
const PRICE: &str = "cloud,region,item,unit,usd,band_from,band_to,term,source,as_of\n";

#[test]
fn an_empty_directory_changes_nothing() {
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(Catalog::load(empty.path()).unwrap(), Catalog::embedded().unwrap());
}

#[test]
fn rows_replace_and_add_and_know_where_they_came_from() {
    let text = format!(
        "{VM}azure,Standard_E16s_v3,Esv3,16,8,128,MB/s,400,our test,2026\naws,x9.huge,x9,4,2,,,,our test,2026\n"
    );
    let over = dir("vms.csv", text);
    let (base, catalog) = (Catalog::embedded().unwrap(), Catalog::load(over.path()).unwrap());
    assert_eq!(catalog.vms.len(), base.vms.len() + 1);
    assert!((catalog.vm("Standard_E16s_v3").unwrap().disks.bandwidth.unwrap().as_mb() - 400.0).abs() < 1e-9);
    assert_eq!(catalog.vm("x9.huge").unwrap().memory, None);
    let rows = catalog.rows.of(Table::Vms);
    let row = rows.iter().find(|row| row.cell(Table::Vms, "sku") == "Standard_E16s_v3").unwrap();
    assert!(!row.origin.built_in && row.origin.file.ends_with("vms.csv"));
    assert_eq!(row.line, 2);
    assert!(base.rows.of(Table::Vms).iter().all(|row| row.origin.built_in));
}

#[test]
fn a_price_is_replaced_with_all_its_bands() {
    let text = format!("{PRICE}aws,us-east-1,io2-bx:iops,IOPS-month,0.05,,,payg,our contract,2026\n");
    let catalog = Catalog::load(dir("prices.csv", text).path()).unwrap();
    let price = catalog.prices.of(Cloud::Aws, "us-east-1", "io2-bx:iops", Commitment::Payg).unwrap();
    assert_eq!(price.bands.len(), 1);
    assert!((price.of(100_000.0).get() - 5000.0).abs() < 1e-6);
    assert_eq!(price.doubt, None);
}

#[test]
fn an_overlay_laid_twice_is_laid_once() {
    let text = format!(
        "{VM}azure,Standard_E16s_v3,Esv3,16,8,128,MB/s,400,our test,2026\naws,x9.huge,x9,4,2,,,,our test,2026\n"
    );
    let over = dir("vms.csv", text);
    let once = Catalog::load(over.path()).unwrap();
    assert_eq!(once.clone().overlaid(over.path()).unwrap(), once);
}

#[test]
fn differences_name_the_cells() {
    let text = format!(
        "{VM}azure,Standard_E16s_v3,Esv3,16,8,128.0,MB/s,400,our test,2026\naws,x9.huge,x9,4,2,,,,our test,2026\n"
    );
    let (base, over) = (Catalog::embedded().unwrap(), Catalog::load(dir("vms.csv", text).path()).unwrap());
    assert!(base.diff(&base).is_empty());
    let differences = base.diff(&over);
    assert_eq!(differences.len(), 2);
    let Change::Changed(cells) = &differences[0].change else { panic!("{differences:?}") };
    assert_eq!(differences[0].key, "azure/Standard_E16s_v3");
    let disk = cells.iter().find(|cell| cell.column == "disk_bandwidth").unwrap();
    assert_eq!((disk.old.as_str(), disk.new.as_str()), ("384", "400"));
    assert!(!cells.iter().any(|cell| cell.column == "memory_gib"), "128 and 128.0 are the same");
    assert!(matches!(differences[1].change, Change::Added(_)));
    assert!(over.diff(&base).iter().any(|difference| matches!(difference.change, Change::Removed(_))));
}

#[test]
fn a_wrong_cell_is_named_with_what_is_accepted() {
    let row = |cells: &str| format!("{VM}{cells},our test,2026\n");
    let cases = [
        (
            row("azure,Big,Esv3,many,8,128,MB/s,384"),
            "vms.csv:2: column `vcpus`: `many` is not a whole number",
            "write a whole number such as 16; leave it blank if unknown",
        ),
        (
            row("azure,Big,Esv3,,8,128,MB/s,384"),
            "vms.csv:2: column `vcpus`: is blank",
            "this column is needed in every row",
        ),
        (
            row("azure,Big,Esv3,16,0,128,MB/s,384"),
            "vms.csv:2: column `pcores`: `0` is not a count of processors",
            "write a whole number from 1",
        ),
        (
            row("azure,Big,Esv3,16,8,-1,MB/s,384"),
            "vms.csv:2: column `memory_gib`: `-1` is negative",
            "write a plain number such as 1250 or 0.5; leave it blank if unknown",
        ),
        (
            row("azure,Big,Esv3,16,8,inf,MB/s,384"),
            "vms.csv:2: column `memory_gib`: `inf` is not a finite number",
            "write a plain number such as 1250 or 0.5; leave it blank if unknown",
        ),
        (
            row("azure,Big,Esv3,16,8,128,MB,384"),
            "vms.csv:2: column `bandwidth_unit`: `MB` is not known here",
            "did you mean `MB/s`? Accepted: `MB/s`, `MiB/s`, `Mbit/s`, `Gbit/s`",
        ),
        (
            row("azure,Big,Esv3,16,8,128,,384"),
            "vms.csv:2: column `disk_bandwidth`: `384` has no unit",
            "name it in this row: MB/s, MiB/s, Mbit/s or Gbit/s",
        ),
        (
            row("azur,Big,Esv3,16,8,128,MB/s,384"),
            "vms.csv:2: column `cloud`: `azur` is not known here",
            "did you mean `azure`? Accepted: `azure`, `aws`, `gcp`",
        ),
    ];
    for (text, message, hint) in cases {
        assert_eq!(said("vms.csv", &text), (message.to_owned(), hint.to_owned()));
    }
}

#[test]
fn a_wrong_price_is_named_with_what_is_accepted() {
    let (message, hint) =
        said("prices.csv", &format!("{PRICE}aws,us-east-1,gp3:iops,IOPS,1,,,payg,s,2026\n"));
    assert_eq!(message, "prices.csv:2: column `unit`: `IOPS` is not a unit of prices");
    assert!(hint.contains("`GiB-month`"));
    let bands = "aws,us-east-1,x:iops,IOPS-month,1,0,100,payg,s,2026\naws,us-east-1,x:iops,IOPS-month,1,200,,payg,s,2026\n";
    let (message, hint) = said("prices.csv", &format!("{PRICE}{bands}"));
    assert_eq!(message, "prices.csv:3: column `band_from`: `200` is not where the band before it ends");
    assert!(hint.starts_with("the band before it is") && hint.ends_with("prices.csv:2"));
    let (message, _) =
        said("prices.csv", &format!("{PRICE}aws,us-east-1,x:iops,IOPS-month,1,100,50,payg,s,2026\n"));
    assert_eq!(message, "prices.csv:2: column `band_to`: `50` is not above `band_from`");
    let twice =
        "aws,us-east-1,x:iops,IOPS-month,1,,,payg,s,2026\naws,us-east-1,x:iops,IOPS-month,2,,,payg,s,2026\n";
    let (message, hint) = said("prices.csv", &format!("{PRICE}{twice}"));
    assert_eq!(message, "prices.csv:3: `aws/us-east-1/x:iops/payg` is in the table twice");
    assert!(hint.ends_with("prices.csv:2; keep one"));
}

#[test]
fn a_wrong_table_is_named() {
    let (message, hint) = said("vms.csv", "cloud,sku,vcpu\n");
    assert_eq!(
        (message.as_str(), hint.as_str()),
        ("vms.csv: unknown column `vcpu`", "did you mean `vcpus`?")
    );
    let (message, _) = said("vms.csv", "cloud,sku,sku,source,as_of\n");
    assert_eq!(message, "vms.csv: column `sku` appears twice");
    let (message, _) = said("vms.csv", "cloud,sku\n");
    assert_eq!(message, "vms.csv: no column `source`");
    let (message, hint) = said("vms.csv", &format!("{VM}azure,Big\n"));
    assert_eq!(message, "vms.csv:2: 2 cells, but the first line names 10 columns");
    assert_eq!(hint, "put cells that contain a comma in double quotes");
    let (message, _) = said("vms.csv", &format!("{VM}azure,A,s,2,1,,,,s,2026\nazure,A,s,2,1,,,,s,2026\n"));
    assert_eq!(message, "vms.csv:3: `azure/A` is in the table twice");
}

#[test]
fn a_file_that_is_not_the_catalogs_is_not_passed_over() {
    let fault = failure("vm.csv", "cloud\n");
    assert!(fault.message().ends_with("vm.csv` is not a file of the catalog"));
    assert_eq!(fault.hint_text(), Some("did you mean `vms.csv`?"));
    Catalog::load(dir("notes.txt", "anything").path()).unwrap();
    let fault = failure("vms.csv", [VM.as_bytes(), b"azure,\xff,\n"].concat());
    assert!(fault.message().ends_with("vms.csv:2: not UTF-8 text"), "{}", fault.message());
}

#[test]
fn links_are_followed_to_files_only() {
    let real = dir("mine.txt", format!("{VM}aws,x9.huge,x9,4,2,,,,our test,2026\n"));
    let over = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(real.path().join("mine.txt"), over.path().join("vms.csv")).unwrap();
    assert!(Catalog::load(over.path()).unwrap().vm("x9.huge").is_ok());
    for target in [real.path(), Path::new("/dev/zero")] {
        let over = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(target, over.path().join("vms.csv")).unwrap();
        let fault = Catalog::load(over.path()).err().unwrap();
        assert!(fault.message().ends_with("is not a regular file"), "{}", fault.message());
    }
    let gone = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("nowhere", gone.path().join("vms.csv")).unwrap();
    assert_eq!(Catalog::load(gone.path()).unwrap_err().kind(), Kind::NotFound);
    assert_eq!(Catalog::load(Path::new("/no/such/catalog")).unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn a_file_that_is_far_too_large_is_refused() {
    let over = tempfile::tempdir().unwrap();
    fs::File::create(over.path().join("vms.csv")).unwrap().set_len((64 << 20) + 1).unwrap();
    let fault = Catalog::load(over.path()).err().unwrap();
    assert!(fault.message().ends_with("is larger than 64 MiB"));
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    let catalog = Catalog::embedded().unwrap();
    let hint = |fault: Fault| {
        assert_eq!(fault.kind(), Kind::NotFound);
        fault.hint_text().unwrap().to_owned()
    };
    assert_eq!(hint(catalog.vm("E16s_v3").unwrap_err()), "did you mean `Standard_E16s_v3`?");
    assert_eq!(hint(catalog.vm("standard_e16s_v3").unwrap_err()), "did you mean `Standard_E16s_v3`?");
    assert_eq!(hint(catalog.disk("p30").unwrap_err()), "did you mean `P30`?");
    assert_eq!(hint(catalog.disk("io2bx").unwrap_err()), "did you mean `io2-bx`?");
    assert_eq!(
        hint(catalog.service("premium-250").unwrap_err()),
        "did you mean `AMLFS-Durable-Premium-250`?"
    );
    assert!(hint(catalog.service("floppy").unwrap_err()).contains("catalog list"));
    assert_eq!(catalog.service("floppy").unwrap_err().message(), "the catalog has no service tier `floppy`");
}

#[test]
fn checks_find_what_cannot_be_and_what_is_unlikely() {
    let vms = "cloud,sku,series,vcpus,pcores,hyperthreaded,memory_gib,memory_residual_gib,bandwidth_unit,disk_iops,disk_bandwidth,burst_iops,burst_bandwidth,constrained_of,source,as_of\n\
        azure,A,t,16,16,yes,64,,MB/s,100,384,,,,s,2026\n\
        azure,B,t,16,8,yes,64,0.9,MB/s,25600,384,25600,100,,s,2026\n\
        azure,C,t,16,8,yes,64,,MB/s,25600,384,,,Nothing,s,2026\n";
    let catalog = Catalog::load(dir("vms.csv", vms).path()).unwrap();
    let found = catalog.check();
    let has = |severity, row: &str, what: &str| {
        assert!(
            found.iter().any(|f| f.severity == severity && f.row.ends_with(row) && f.what.contains(what)),
            "{row}: {what} not in {found:#?}"
        );
    };
    has(Severity::Error, "azure/A", "16 pCores of 16 vCPUs");
    has(Severity::Warning, "azure/A", "bytes per I/O");
    has(Severity::Error, "azure/B", "its burst is below its sustained rate");
    has(Severity::Warning, "azure/B", "misses it by 0.9 GiB");
    has(Severity::Error, "azure/C", "its parent `Nothing` is not in the table");
    has(Severity::Note, "azure/A", "no region has a price of `vm:A`");
    assert_eq!(found[0].severity, Severity::Error, "the worst comes first");
    assert!(found[0].to_string().contains("vms.csv:"));
}

#[test]
fn checks_find_prices_that_stand_out() {
    let text = format!(
        "{PRICE}azure,eastus,vm:Standard_E4as_v5,each-hour,0.41,,,payg,s,2026\nazure,eastus,disk:S60,each-month,362.14,,,payg,s,2026\n\
         azure,eastus,disk:S61,each-month,1,,,payg,s,2026\nazure,eastus,disk:P30,each-year,9000,,,1y,s,2026\n"
    );
    let found = Catalog::load(dir("prices.csv", text).path()).unwrap().check();
    let has = |row: &str, what: &str| {
        assert!(
            found.iter().any(|f| f.row.contains(row) && f.what.contains(what)),
            "{row}: {what} not in {found:#?}"
        );
    };
    has("vm:Standard_E4as_v5", "0.1025 USD per vCPU, where the series has 0.0565");
    has("disk:S60", "more than 0.0350 of `S50`");
    has("disk:S61", "nothing in the catalog is sold as `disk:S61`");
    has("disk:P30", "costs more committed than as one goes");
}
