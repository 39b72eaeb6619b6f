//! Writing into an overlay: new rows in the place of those of the same key, everything else as it was.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use csv::StringRecord;
use fault::{Fault, Kind, Result};

use crate::overlay::text;
use crate::rows::{Origin, Row, merged, read};
use crate::{Catalog, Table};

/// A row to write: cells by column. Columns that are left out are blank.
pub type NewRow = BTreeMap<&'static str, String>;

/// Lays `rows` into the files of `table` in the overlay `dir`, which comes into being if need be. They replace rows of the same
/// key; other rows, and remarks, stay. Whatever happens, each file is the old one or the whole new one, and what can't be read
/// again is never put in place.
pub fn update(dir: &Path, table: Table, rows: &[NewRow]) -> Result<()> {
    fs::create_dir_all(dir).map_err(|error| Fault::os("create directory", dir, error))?;
    let scratch = dir.join(format!(".{}.new", table.files().first().copied().unwrap_or_default()));
    let discard = || match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Fault::os("remove", &scratch, error))
        }
        _ => Ok(()),
    };
    discard()?;
    fs::create_dir(&scratch).map_err(|error| Fault::os("create directory", &scratch, error))?;
    let placed = write_all(dir, table, rows, &scratch).and_then(|files| place(dir, &scratch, &files));
    placed.and(discard())
}

/// Writes the new files into `scratch` and reads them again; their names.
fn write_all(dir: &Path, table: Table, rows: &[NewRow], scratch: &Path) -> Result<Vec<&'static str>> {
    let new: Vec<Row> = rows.iter().map(|row| record(table, row)).collect();
    let keys: HashSet<String> = new.iter().map(|row| row.key(table)).collect();
    let mut files = Vec::new();
    // The first file takes the new rows; from the others goes what they replace, and goes first.
    for (number, name) in table.files().iter().enumerate().rev() {
        let old = Old::read(&dir.join(name), table)?;
        let replaced = old.rows.iter().any(|row| keys.contains(&row.key(table)));
        let rows = if number == 0 {
            merged(table, old.rows, new.clone())
        } else if replaced {
            old.rows.into_iter().filter(|row| !keys.contains(&row.key(table))).collect()
        } else {
            if !old.rows.is_empty() {
                write(&scratch.join(name), table, &old.remarks, &old.rows)?;
            }
            continue;
        };
        write(&scratch.join(name), table, &old.remarks, &rows)?;
        files.push(*name);
    }
    Catalog::load(scratch)?;
    Ok(files)
}

fn place(dir: &Path, scratch: &Path, files: &[&str]) -> Result<()> {
    for name in files {
        let path = dir.join(name);
        // A symbolic link stays one: the file it leads to is replaced.
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let moved = fs::rename(scratch.join(name), &target);
        moved.map_err(|error| Fault::os("write", &path, error))?;
        let folder = target.parent().unwrap_or(dir);
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| Fault::os("write", folder, error))?;
    }
    Ok(())
}

/// A file as it was.
#[derive(Default)]
struct Old {
    rows: Vec<Row>,
    remarks: Vec<String>,
}

impl Old {
    fn read(path: &Path, table: Table) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = text(path)?;
        let origin = Origin { file: path.display().to_string().into(), built_in: false };
        let remarks = text.lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect();
        Ok(Self { rows: read(table, &origin, &text)?, remarks })
    }
}

fn record(table: Table, row: &NewRow) -> Row {
    let cell = |column: &&'static str| row.get(column).map_or("", String::as_str);
    let cells: StringRecord = table.columns().iter().map(cell).collect();
    Row { origin: Origin { file: "".into(), built_in: false }, line: 0, cells }
}

fn write(path: &PathBuf, table: Table, remarks: &[String], rows: &[Row]) -> Result<()> {
    let failed = |error: csv::Error| Fault::new(Kind::Bug, "cannot write rows as CSV").caused_by(error);
    let mut bytes: Vec<u8> = remarks.iter().flat_map(|remark| [remark, "\n"]).flat_map(str::bytes).collect();
    let mut writer = csv::Writer::from_writer(&mut bytes);
    writer.write_record(table.columns()).map_err(failed)?;
    for row in rows {
        writer.write_record(&row.cells).map_err(failed)?;
    }
    writer.flush().map_err(|error| Fault::os("write", path, error))?;
    drop(writer);
    let written = File::create_new(path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    written.map_err(|error| Fault::os("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(item: &str, usd: &str) -> NewRow {
        let cells = [
            ("cloud", "azure"),
            ("region", "eastus"),
            ("item", item),
            ("unit", "each-hour"),
            ("usd", usd),
            ("term", "payg"),
            ("source", "a list, \"quoted\""),
            ("as_of", "2026"),
        ];
        cells.into_iter().map(|(column, cell)| (column, cell.to_owned())).collect()
    }

    const HEAD: &str = "cloud,region,item,unit,usd,term,source,as_of\n";

    #[test]
    fn rows_of_the_same_key_are_replaced_and_the_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let old = format!(
            "# my prices\n{HEAD}azure,eastus,vm:a,each-hour,1,payg,me,2020\nazure,eastus,vm:b,each-hour,2,payg,me,2020\n"
        );
        fs::write(dir.path().join("prices.csv"), old).unwrap();
        let other = format!(
            "{HEAD}azure,eastus,vm:c,each-hour,3,payg,me,2020\naws,x,vm:d,each-hour,4,payg,me,2020\n"
        );
        fs::write(dir.path().join("vm_prices.csv"), other).unwrap();
        update(dir.path(), Table::Prices, &[price("vm:a", "10"), price("vm:c", "30"), price("vm:e", "50")])
            .unwrap();
        let text = fs::read_to_string(dir.path().join("prices.csv")).unwrap();
        assert!(text.starts_with("# my prices\ncloud,region,item,"), "{text}");
        let items: Vec<&str> = text.lines().skip(2).map(|line| line.split(',').nth(2).unwrap()).collect();
        assert_eq!(items, ["vm:a", "vm:b", "vm:c", "vm:e"]);
        let machines = fs::read_to_string(dir.path().join("vm_prices.csv")).unwrap();
        assert!(!machines.contains("vm:c") && machines.contains("vm:d"), "{machines}");
        assert!(Catalog::load(dir.path()).is_ok());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn what_could_not_be_read_again_is_not_put_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("prices.csv");
        update(dir.path(), Table::Prices, &[price("vm:a", "1")]).unwrap();
        let before = fs::read_to_string(&path).unwrap();
        assert!(update(dir.path(), Table::Prices, &[price("vm:a", "minus one")]).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
        fs::write(&path, "not, a table\n").unwrap();
        assert!(update(dir.path(), Table::Prices, &[price("vm:a", "1")]).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "not, a table\n");
    }
}
