//! `prove --design`: what is measured, held against the limits of the design.

use crate::transcript::Place;

const SPEC: &str = r#"version = 1

[grid]
name = "small"
pcores = 4

[[storage]]
name = "data"
role = "data"
capacity = "1 TiB"
read_per_pcore = "1 MB/s"
write_per_pcore = "1 MB/s"

[[test]]
name = "data"
test = "iotest"
storage = "data"
target = "target"
pcores = 2
file_size = "2 MiB"
repetitions = 1
"#;

/// Two clients of two pCores each on a Lustre of three OSSs.
const DESIGN: &str = r#"version = 1

[place]
cloud = "azure"
region = "eastus"

[grid]
name = "small"
pcores = 4

[clients]
sku = "Standard_D4s_v3"
count = 2

[[storage]]

[storage.requirement]
name = "data"
role = "data"
capacity = "1 TiB"
read_per_pcore = "1 MB/s"
write_per_pcore = "1 MB/s"

[storage.layout.lustre_on_vms]
sku = "Standard_E16s_v3"
servers = 3
disks_per_server = 1
stripe_count = 1
stripe_size = "4 MiB"

[storage.layout.lustre_on_vms.disk]
tier = "S30"
size = "1 TiB"

[storage.layout.lustre_on_vms.metadata]
sku = "Standard_E16s_v3"
count = 1

[storage.layout.lustre_on_vms.metadata.disk]
tier = "P30"
size = "1 TiB"
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("grid.toml", SPEC);
    place.write("design.toml", DESIGN);
    std::fs::create_dir(place.path().join("target")).unwrap();
    place
}

#[test]
fn a_run_is_held_against_the_limits_of_its_design() {
    let place = place();
    let files = ["--report", "report.html", "--md", "report.md"];
    let call = place.call(&[&["prove", "grid.toml", "--design", "design.toml"][..], &files].concat());
    assert!(matches!(call.code, 0 | 4), "{}", call.err);
    let (page, markdown) = (place.read("report.html"), place.read("report.md"));
    for text in [&call.out, &page, &markdown] {
        for words in [
            "Lustre: 3 x ",
            "data write: measured ",
            "data read: measured ",
            "client network",
            "server VM disk limit",
        ] {
            assert!(text.contains(words), "`{words}` is missing in {text}");
        }
        assert!(text.contains("2 of the design's 4 pCores, on 1 of its 2 clients"), "{text}");
    }
    assert!(page.contains("id=\"design\"") && markdown.contains("## Measured against the design"));

    let shown = place.call(&["runs", "show", "latest"]);
    assert!(shown.out.contains("data write: measured "), "{}", shown.out);
    let json = place.call(&["runs", "show", "latest", "--format", "json"]);
    assert!(json.out.contains("\"place\": \"server_disks\""), "the record has no design");
}

#[test]
fn a_design_for_other_storage_is_refused_before_anything_is_measured() {
    let place = place();
    place.write("design.toml", &DESIGN.replace("name = \"data\"", "name = \"scratch\""));
    let call = place.call(&["prove", "grid.toml", "--design", "design.toml"]);
    assert_eq!(call.code, 2, "{}", call.err);
    assert!(call.err.contains("the design in `design.toml` has no storage called `data`"), "{}", call.err);
    assert!(call.err.contains("it has `scratch`"), "{}", call.err);
    assert!(std::fs::read_dir(place.path().join("target")).unwrap().next().is_none());
}

#[test]
fn a_design_that_names_what_nobody_sells_is_shown_where_it_is() {
    let place = place();
    place.write("design.toml", &DESIGN.replace("Standard_D4s_v3", "Standard_D4s_v33"));
    let call = place.call(&["prove", "grid.toml", "--design", "design.toml"]);
    assert_eq!(call.code, 2, "{}", call.err);
    assert!(call.err.contains("Standard_D4s_v33") && call.err.contains("design.toml"), "{}", call.err);
}
