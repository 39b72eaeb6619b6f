use std::fmt;

use comfy_table::{
    Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table as Grid, presets,
};

/// Which side a column's cells stand on: names left, numbers right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One cell, perhaps with a meaning that is shown by colour too.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    color: Option<Color>,
    strong: bool,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), color: None, strong: false }
    }

    /// Met, valid.
    pub fn good(text: impl fmt::Display) -> Self {
        Self { color: Some(Color::Green), ..Self::new(text) }
    }

    /// Worth knowing.
    pub fn note(text: impl fmt::Display) -> Self {
        Self { color: Some(Color::Yellow), ..Self::new(text) }
    }

    /// Not met, not valid, failed.
    pub fn bad(text: impl fmt::Display) -> Self {
        Self { color: Some(Color::Red), strong: true, ..Self::new(text) }
    }

    /// The figure that matters.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    fn render(self, align: Align) -> comfy_table::Cell {
        let side = match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        };
        let mut cell = comfy_table::Cell::new(self.text).set_alignment(side);
        if let Some(color) = self.color {
            cell = cell.fg(color);
        }
        if self.strong { cell.add_attribute(Attribute::Bold) } else { cell }
    }
}

impl<T: fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Rows under a header, without lines between them.
pub struct Table {
    columns: Vec<Align>,
    grid: Grid,
    header_lines: usize,
    notes: Vec<(usize, String)>,
    names: Vec<String>,
    /// Columns that may be left out, those that go first in front.
    spare: Vec<usize>,
}

/// Words are broken before a number is left out for them, but not into pieces shorter than this.
const WORDS: u16 = 24;

impl Table {
    /// A table with its columns: name (with the unit, where all cells share one) and side.
    pub fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .enforce_styling()
            .set_header(columns.map(|(name, align)| Cell::new(name).strong().render(align)));
        grid.style_text_only();
        let header_lines = columns.iter().map(|(name, _)| name.lines().count()).max().unwrap_or(1);
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let columns = columns.iter().map(|(_, align)| *align).collect();
        let mut table = Self { columns, grid, header_lines, notes: Vec::new(), names, spare: Vec::new() };
        table.keep_numbers_whole();
        table
    }

    /// Adds a row, one cell per column.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) -> &mut Self {
        let sides = self.columns.iter().copied().chain(std::iter::repeat(Align::Left));
        self.grid.add_row(cells.into_iter().zip(sides).map(|(cell, align)| cell.render(align)));
        self
    }

    /// Adds a line of words below the last row, from margin to margin. A table with such lines is never broken to fit.
    pub fn note(&mut self, line: impl fmt::Display) -> &mut Self {
        self.grid.set_content_arrangement(ContentArrangement::Disabled);
        self.notes.push((self.grid.row_count(), line.to_string()));
        self
    }

    /// Names columns that may be left out where the terminal is too narrow for all: the first goes first. A line below the
    /// table says which are missing.
    pub fn may_leave_out(&mut self, names: &[&str]) -> &mut Self {
        let number = |name: &&str| self.names.iter().position(|own| own == name);
        self.spare = names.iter().filter_map(number).collect();
        self
    }

    /// The grid without the columns there is no room for, and which these are.
    fn fitted(&self) -> (Grid, Vec<&str>) {
        let mut grid = self.grid.clone();
        let mut missing = Vec::new();
        let Some(room) = grid.width() else { return (grid, missing) };
        if usize::from(room) < crate::wrap::NARROWEST {
            grid.set_content_arrangement(ContentArrangement::Disabled);
            return (grid, missing);
        }
        let contents = grid.column_max_content_widths();
        let wide = |column: usize| match self.columns[column] {
            Align::Left if column > 0 => contents[column].min(WORDS),
            _ => contents[column],
        };
        // Each column has a blank on either side; the first and the last need none at the margin.
        let mut needed: u32 =
            (0..self.columns.len()).map(|column| u32::from(wide(column)) + 2).sum::<u32>() - 2;
        for column in &self.spare {
            if needed <= u32::from(room) {
                break;
            }
            needed -= u32::from(wide(*column)) + 2;
            missing.push(self.names[*column].as_str());
            if let Some(hidden) = grid.column_mut(*column) {
                hidden.set_constraint(ColumnConstraint::Hidden);
            }
        }
        (grid, missing)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.grid.is_empty()
    }

    /// A narrow terminal breaks words, never numbers; and the first column starts at the margin.
    fn keep_numbers_whole(&mut self) {
        for (column, align) in self.grid.column_iter_mut().zip(&self.columns) {
            if *align == Align::Right {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        if let Some(first) = self.grid.column_mut(0) {
            first.set_padding((0, 1));
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        let (grid, missing) = self.fitted();
        for (number, line) in grid.lines().enumerate() {
            lines.push(line.trim_end().to_owned());
            let rows = (number + 1).saturating_sub(self.header_lines);
            let below = self.notes.iter().filter(|(row, _)| *row == rows && rows > 0);
            lines.extend(below.map(|(_, note)| note.clone()));
        }
        if !missing.is_empty() {
            lines.push(format!("({}: where there is more room)", missing.join(", ")));
        }
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let mut table = Table::new([("phase", Align::Left), ("rate", Align::Right)]);
        table.row(["write".into(), Cell::bad("98.5 MB/s")]);
        table.row(["read again".into(), "1500.0 MB/s".into()]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        insta::assert_snapshot!(plain, @r"
        phase              rate
        write         98.5 MB/s
        read again  1500.0 MB/s
        ");
    }

    #[test]
    fn a_narrow_terminal_leaves_out_what_may_be_and_breaks_no_number() {
        let columns = [
            ("phase", Align::Left),
            ("median", Align::Right),
            ("min", Align::Right),
            ("max", Align::Right),
            ("limited by", Align::Left),
        ];
        let mut table = Table::new(columns);
        let rate = || Cell::new("1158.5 MB/s");
        let limit = "storage latency or the number of requests in flight";
        table
            .row([Cell::new("write"), rate(), rate(), rate(), Cell::new(limit)])
            .may_leave_out(&["min", "max"]);
        table.grid.set_width(80);
        let plain = |table: &Table| anstream::adapter::strip_str(&table.to_string()).to_string();
        assert!(plain(&table).lines().all(|line| line.chars().count() <= 80), "{}", plain(&table));
        assert_eq!(plain(&table).matches("1158.5 MB/s").count(), 3, "words are broken first");
        table.grid.set_width(58);
        let narrow = plain(&table);
        assert!(narrow.lines().all(|line| line.chars().count() <= 58), "{narrow}");
        assert!(narrow.contains("(min: where there is more room)"), "{narrow}");
        assert_eq!(narrow.matches("1158.5 MB/s").count(), 2);
    }

    /// mpirun's terminal says that it has no columns at all.
    #[test]
    fn a_terminal_that_does_not_know_its_width_breaks_nothing() {
        let mut table = Table::new([("phase", Align::Left), ("limited by", Align::Left)]);
        table.row([Cell::new("write"), Cell::new("page cache of this host")]).may_leave_out(&["limited by"]);
        table.grid.set_width(0);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert!(plain.contains("write  page cache of this host"), "{plain}");
    }

    #[test]
    fn a_line_of_words_stands_below_its_row() {
        let mut table = Table::new([("design", Align::Right), ("cost\n$/month", Align::Right)]);
        table.row(["1".into(), "18,758".into()]).note("       the first").note("       more of it");
        table.row(["2".into(), "30,243".into()]).note("       the second");
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        insta::assert_snapshot!(plain, @r"
        design     cost
                $/month
             1   18,758
               the first
               more of it
             2   30,243
               the second
        ");
    }
}
