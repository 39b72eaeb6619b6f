use fault::Result;

use crate::rows::{Origin, Rows, read};
use crate::{Catalog, Table};

macro_rules! files {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("../../../catalog/", $name)))),+] };
}

/// The files of the catalog that comes with the program.
const FILES: [(&str, &str); 9] = files![
    "vms.csv",
    "disks.csv",
    "services.csv",
    "client_limits.csv",
    "prices.csv",
    "vm_prices.csv",
    "ports.csv",
    "published.csv",
    "calibration.csv"
];

impl Catalog {
    /// The facts that come with the program. An error is a mistake in them, which a test would have caught.
    pub fn embedded() -> Result<Self> {
        crate::reading::catalog(rows()?)
    }
}

pub(crate) fn rows() -> Result<Rows> {
    let mut rows = Rows::default();
    for (name, text) in FILES {
        let origin = Origin { file: format!("catalog/{name}").into(), built_in: true };
        if let Some(table) = Table::of_file(name) {
            rows.add(table, read(table, &origin, text)?);
        }
    }
    Ok(rows)
}
