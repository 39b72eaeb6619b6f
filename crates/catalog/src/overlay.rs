use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind, Result};

use crate::rows::{Origin, Rows, read};
use crate::{Catalog, Table};

/// No table of facts is larger; a file that is was put here by mistake.
const MAX_FILE: u64 = 64 << 20;

impl Catalog {
    /// The facts that come with the program, with those of `dir` on top: see [`Catalog::overlaid`].
    pub fn load(dir: &Path) -> Result<Self> {
        crate::reading::catalog(crate::embedded::rows()?.overlaid(rows_of(dir)?))
    }

    /// These facts with those of a directory on top. It holds files of the same names and columns as the catalog's own,
    /// any of them; a row replaces the row of the same key (a price all bands of the same price), others are added.
    ///
    /// Symbolic links are followed to files. A directory or device under a catalog's name, a file over 64 MiB, and a CSV
    /// file with a name the catalog does not know are errors: nothing is passed over in silence.
    pub fn overlaid(self, dir: &Path) -> Result<Self> {
        crate::reading::catalog(self.rows.overlaid(rows_of(dir)?))
    }
}

fn rows_of(dir: &Path) -> Result<Rows> {
    let mut rows = Rows::default();
    for path in csv_files(dir)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let table = Table::of_file(name).ok_or_else(|| unknown(&path, name))?;
        let origin = Origin { file: path.display().to_string().into(), built_in: false };
        rows.add(table, read(table, &origin, &text(&path)?)?);
    }
    Ok(rows)
}

/// The CSV files of a directory, by name, so that the outcome does not hang on the order of the directory.
fn csv_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Fault::os("read the catalog directory", dir, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn unknown(path: &Path, name: &str) -> Fault {
    let names = || Table::ALL.into_iter().flat_map(Table::files).copied();
    let hint = match spec::nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the catalog's files are {}", spec::quoted(names())),
    };
    Fault::new(Kind::Spec, format!("`{}` is not a file of the catalog", path.display())).hint(hint)
}

pub(crate) fn text(path: &Path) -> Result<String> {
    let failed = |error| Fault::os("read catalog file", path, error);
    let meta = fs::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        let message = format!("catalog file `{}` is not a regular file", path.display());
        return Err(Fault::new(Kind::Spec, message).hint("a file, or a symbolic link to one, is needed here"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        let message = format!("catalog file `{}` is larger than 64 MiB", path.display());
        return Err(
            Fault::new(Kind::Spec, message).hint("keep the rows you plan with, not a whole price list")
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        Fault::new(Kind::Spec, format!("{}:{line}: not UTF-8 text", path.display()))
            .hint("save the file as UTF-8")
    })
}
