//! A heat map: rows by columns, each cell with its figure on a ground that is the stronger the larger it is.

use maud::{Markup, html};

/// Pixels of a row, of a column, of the row's names, and of the head.
const ROW: usize = 26;
const COLUMN: usize = 92;
const LEFT: usize = 178;
const TOP: usize = 44;
/// SVG units per pixel, as in the other charts: the page's style sheet counts in these.
const FINE: usize = 4;
/// Strength of the ground from the smallest figure to the largest: words stay readable on both.
const FAINT: f64 = 0.05;
const STRONG: f64 = 0.6;

/// A figure and how it is written; none where nothing was measured.
pub type HeatCell = Option<(f64, String)>;

/// What is shown.
pub struct Heat<'a> {
    /// Above the columns.
    pub title: &'a str,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows with their cells: figure and how it is written.
    pub rows: Vec<(String, Vec<HeatCell>)>,
    /// Which colour of the series.
    pub colour: usize,
    /// What the chart shows, for those who cannot see it.
    pub alternative: String,
}

/// Width and height in pixels.
pub fn heat_size(heat: &Heat<'_>) -> (usize, usize) {
    (LEFT + COLUMN * heat.columns.len() + 8, TOP + ROW * heat.rows.len() + 6)
}

/// Draws it. Grounds follow the logarithm: figures of a matrix lie orders of magnitude apart.
pub fn heat(heat: &Heat<'_>) -> Markup {
    let figures =
        || heat.rows.iter().flat_map(|(_, cells)| cells.iter().flatten()).map(|(figure, _)| *figure);
    let positive = || figures().filter(|figure| figure.is_finite() && *figure > 0.0).map(f64::log10);
    let (least, most) = positive()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), own| (least.min(own), most.max(own)));
    let strength = |figure: f64| {
        let share = if most > least { (figure.max(1e-12).log10() - least) / (most - least) } else { 1.0 };
        FAINT + (STRONG - FAINT) * share.clamp(0.0, 1.0)
    };
    let (width, height) = heat_size(heat);
    let px = |pixels: usize| (pixels * FINE).to_string();
    let middle = |row: usize| px(TOP + row * ROW + ROW / 2 + 5);
    let ground = format!("fill-c{}", heat.colour);
    let size = (13 * FINE).to_string();
    html! {
        svg.chart viewBox=(format!("0 0 {} {}", px(width), px(height))) role="img" aria-label=(heat.alternative) data-width=(width) {
            text class="fill-muted" x=(px(4)) y=(px(14)) font-size=(size) { (heat.title) }
            @for (column, name) in heat.columns.iter().enumerate() {
                text class="fill-muted" x=(px(LEFT + column * COLUMN + COLUMN / 2)) y=(px(36)) font-size=(size) text-anchor="middle" { (name) }
            }
            @for (row, (name, cells)) in heat.rows.iter().enumerate() {
                text class="fill-text" x=(px(LEFT - 8)) y=(middle(row)) font-size=(size) text-anchor="end" { (name) }
                @for (column, cell) in cells.iter().enumerate() {
                    @let x = LEFT + column * COLUMN;
                    @if let Some((figure, words)) = cell {
                        rect class=(ground) fill-opacity=(format!("{:.3}", strength(*figure)))
                            x=(px(x + 1)) y=(px(TOP + row * ROW + 1)) width=(px(COLUMN - 2)) height=(px(ROW - 2)) {}
                        text class="fill-text" x=(px(x + COLUMN / 2)) y=(middle(row)) font-size=(size) text-anchor="middle" { (words) }
                    } @else {
                        text class="fill-muted" x=(px(x + COLUMN / 2)) y=(middle(row)) font-size=(size) text-anchor="middle" { "–" }
                    }
                }
            }
        }
    }
}
