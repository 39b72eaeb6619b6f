//! Where the files of a test lie on the servers.

use record::{StorageLayout, TestRecord};

use crate::{Align, Cell, Table};

/// OSTs or bricks listed; of more, the fullest and the emptiest.
const MOST: usize = 16;
/// From here on the fullest keeps the others waiting.
const UNEVEN: f64 = 1.25;

/// What was found after the first phase that wrote files; `None` where the file system does not tell.
pub fn section(test: &TestRecord) -> Option<String> {
    let phases = test.repetitions.iter().flat_map(|repetition| &repetition.phases);
    let (phase, layout) = phases.into_iter().find_map(|phase| Some((phase, phase.layout.as_ref()?)))?;
    let (fullest, over) = layout.imbalance()?;
    let layouts: Vec<String> =
        layout.layouts.iter().map(|count| format!("{} x {}", count.files, count.layout)).collect();
    let what = layout.parts_word();
    let mut lines = vec![format!(
        "files after {}: {} of {} looked at, {}",
        phase.name,
        layout.files,
        layout.files_in_all,
        layouts.join(", ")
    )];
    let parts = layout.parts.iter().filter(|part| !part.name.starts_with("MDT")).count();
    let plural = if parts == 1 { "" } else { "s" };
    let words =
        format!("{parts} {what}{plural}; the fullest, {}, holds {:.2} times the mean", fullest.name, over);
    lines.push(if over > UNEVEN { crate::paint::note(words) } else { words });
    lines.push(table(layout).to_string());
    Some(lines.join("\n"))
}

fn table(layout: &StorageLayout) -> Table {
    let mut parts: Vec<_> = layout.parts.iter().collect();
    let left_out = parts.len().saturating_sub(MOST);
    if left_out > 0 {
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        parts.drain(MOST / 2..MOST / 2 + left_out);
    }
    let mut table =
        Table::new([(layout.parts_word(), Align::Left), ("files", Align::Right), ("bytes", Align::Right)]);
    for part in parts {
        table.row([Cell::new(&part.name), Cell::new(part.files), Cell::new(part.bytes)]);
    }
    if left_out > 0 {
        table.note(format!("and {left_out} between the fullest and the emptiest"));
    }
    table
}

#[cfg(test)]
mod tests {
    use record::{LayoutCount, LayoutPart};
    use testkit::samples::Sample;
    use units::Bytes;

    use super::*;

    #[test]
    fn layouts_and_bytes_per_ost_are_told() {
        let part = |name: &str, mib, files| LayoutPart { name: name.into(), bytes: Bytes::mib(mib), files };
        let mut record = Sample::default().build();
        let phase = &mut record.tests[0].repetitions[0].phases[0];
        phase.layout = Some(StorageLayout {
            kind: "lustre".into(),
            files: 3,
            files_in_all: 3,
            layouts: vec![
                LayoutCount { layout: "1 stripe of 4 MiB".into(), files: 2 },
                LayoutCount { layout: "1 stripe of 1 MiB | 1 stripe of 4 MiB".into(), files: 1 },
            ],
            parts: vec![part("MDT0000", 1, 1), part("OST0000", 9, 3), part("OST0001", 3, 1)],
            each: Vec::new(),
        });
        let text = section(&record.tests[0]).unwrap();
        let plain = anstream::adapter::strip_str(&text).to_string();
        insta::assert_snapshot!(plain, @r"
        files after write: 3 of 3 looked at, 2 x 1 stripe of 4 MiB, 1 x 1 stripe of 1 MiB | 1 stripe of 4 MiB
        2 OSTs; the fullest, OST0000, holds 1.50 times the mean
        OST      files  bytes
        MDT0000      1  1 MiB
        OST0000      3  9 MiB
        OST0001      1  3 MiB
        ");
    }
}
