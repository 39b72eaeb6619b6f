//! Columns of the catalog's tables in words, and their cells with the unit that stands beside them.

use ::catalog::{Row, Table};

/// A column as words; the unit is shown with the figure: `disk_bandwidth` is `disk bandwidth`.
pub fn words(column: &str) -> String {
    let bare = match column {
        "cached_gib" => "host_cache_size",
        "cache_gib_per_tib" => "cache",
        "nvme_gb_each" => "nvme_size",
        "iops_per_gib" => "iops_by_size",
        "bandwidth_per_tib" => "bandwidth_by_size",
        "iops_per_gib_max" => "iops_by_size_max",
        "throughput_max_per_tib" => "throughput_by_size_max",
        _ => column.strip_suffix("_gib").or_else(|| column.strip_suffix("_per_tib")).unwrap_or(column),
    };
    let words = [("_", " "), ("iops", "IOPS"), ("vcpus", "vCPUs"), ("pcores", "pCores"), ("nvme", "NVMe")];
    words.into_iter().fold(bare.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A cell with its unit; empty where it is blank.
pub fn value(table: Table, row: &Row, column: &str) -> String {
    let cell = row.cell(table, column);
    let unit = unit(column, |name| row.cell(table, name));
    if cell.is_empty() || unit.is_empty() { cell.to_owned() } else { format!("{cell} {unit}") }
}

/// The unit of a column's figures; empty where they have none. `cell` reads another cell of the row.
fn unit<'a>(column: &str, cell: impl Fn(&str) -> &'a str) -> String {
    let per_tib =
        if column.ends_with("_per_tib") || column.ends_with("_per_tib_max") { " per TiB" } else { "" };
    let base = match column {
        _ if column.contains("iops_per_gib") => return "IOPS per GiB".to_owned(),
        "cache_gib_per_tib" => return "GiB per TiB".to_owned(),
        "nvme_gb_each" => return "GB each".to_owned(),
        "network" | "network_peak" => cell("network_unit"),
        "io_unit" | "bytes_per_io" | "bandwidth_follows" => "",
        _ if column.ends_with("_gib") => "GiB",
        _ if column.contains("iops") => "IOPS",
        _ if column.contains("bandwidth") => cell("bandwidth_unit"),
        "sizes" => cell("size_unit"),
        "read" | "write" | "flow" | "read_max" | "write_max" | "mixed_max" => cell("rate_unit"),
        _ if column.starts_with("throughput_") || column.ends_with("_per_tib") => cell("rate_unit"),
        _ => "",
    };
    if base.is_empty() { String::new() } else { format!("{base}{per_tib}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_units_of_their_row() {
        let cell = |name: &str| match name {
            "bandwidth_unit" => "MB/s",
            "network_unit" => "Mbit/s",
            "rate_unit" => "MiB/s",
            _ => "",
        };
        let of = |column| unit(column, cell);
        assert_eq!(of("disk_bandwidth"), "MB/s");
        assert_eq!(of("network"), "Mbit/s");
        assert_eq!(of("memory_gib"), "GiB");
        assert_eq!(of("read_iops_per_tib"), "IOPS per TiB");
        assert_eq!(of("read_per_tib"), "MiB/s per TiB");
        assert_eq!(of("bandwidth_per_tib"), "MB/s per TiB");
        assert_eq!(of("notes"), "");
        assert_eq!(words("nvme_read_iops"), "NVMe read IOPS");
    }
}
