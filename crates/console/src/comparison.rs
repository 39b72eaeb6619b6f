//! Two runs side by side, for a terminal.

use record::{Comparison, FigureComparison, Verdict};

use crate::{Align, Cell, Table, paint};

/// Every figure of both runs, whether its difference is larger than the noise, and what else to know.
pub fn comparison(comparison: &Comparison) -> String {
    let mut parts =
        vec![format!("{} against {}", paint::strong(&comparison.b), paint::strong(&comparison.a))];
    parts.extend(lines(&comparison.unlike, &paint::bad("not the same")));
    if comparison.figures.is_empty() {
        parts.push("no figure is in both runs".to_owned());
    } else {
        parts.push(table(comparison).to_string());
    }
    parts.extend(lines(&comparison.notes, &paint::note("note")));
    parts.join("\n\n")
}

fn lines(sentences: &[String], word: &str) -> Option<String> {
    let lines: Vec<String> = sentences.iter().map(|sentence| format!("{word}: {sentence}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn table(comparison: &Comparison) -> Table {
    let mut table = Table::new([
        ("test", Align::Left),
        ("phase", Align::Left),
        ("figure", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("95 % interval", Align::Right),
        ("difference", Align::Left),
    ]);
    for figure in &comparison.figures {
        table.row(row(figure));
    }
    table
}

fn row(figure: &FigureComparison) -> [Cell; 8] {
    let interval = figure.interval.as_ref().map_or_else(
        || "-".to_owned(),
        |interval| format!("{} to {}", percent(interval.low), percent(interval.high)),
    );
    [
        Cell::new(&figure.test),
        Cell::new(&figure.phase),
        Cell::new(name(figure)),
        Cell::new(figure.figure.show(figure.a.median)),
        Cell::new(figure.figure.show(figure.b.median)),
        Cell::new(figure.ratio.map_or_else(|| "-".to_owned(), percent)),
        Cell::new(interval),
        difference(figure),
    ]
}

fn name(figure: &FigureComparison) -> String {
    match figure.kind {
        Some(kind) => format!("{} {}", kind.word(), figure.figure.words()),
        None => figure.figure.words().to_owned(),
    }
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn difference(figure: &FigureComparison) -> Cell {
    let larger = match figure.verdict {
        Verdict::WithinNoise => return Cell::new("within the noise"),
        Verdict::TooFewRepetitions => return Cell::note("too few repetitions"),
        Verdict::Larger | Verdict::LikelyLarger => true,
        Verdict::Smaller | Verdict::LikelySmaller => false,
    };
    let likely = matches!(figure.verdict, Verdict::LikelyLarger | Verdict::LikelySmaller);
    let better = larger == figure.figure.larger_is_better();
    let word = if better { "better" } else { "worse" };
    let words = if likely { format!("likely {word}") } else { word.to_owned() };
    if better { Cell::good(words) } else { Cell::bad(words) }
}
