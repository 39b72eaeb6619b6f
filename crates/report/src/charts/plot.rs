//! The frame every chart shares: size, axes, grid, and the way from plotters to a page.

use fault::{Fault, Kind};
use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

use super::scale::Axis;
use super::theme::{Ink, Look, dress};

/// SVG units per drawn pixel: plotters rounds to whole units, which would make steps in gentle curves.
const FINE: i32 = 4;
/// Pixels right of the plot: half of the last tick's label.
pub const MARGIN_RIGHT: i32 = 32;
/// Font size in pixels.
const FONT: i32 = 13;

type Coordinates = Cartesian2d<Axis, Axis>;
/// A chart under construction.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Coordinates>;
/// What plotters answers.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Which axis's ticks have lines across the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Those of the x axis.
    Across,
    /// Those of the y axis.
    Up,
}

/// Size and axes.
pub struct Frame {
    /// Width in pixels.
    pub width: i32,
    /// Height in pixels.
    pub height: i32,
    /// Pixels left of the plot for the y labels.
    pub left: i32,
    /// Pixels above the plot; the y title is there.
    pub top: i32,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// Lines across.
    pub grid: Grid,
    /// What the chart shows, for those who cannot see it.
    pub alternative: String,
}

/// `pixels` in SVG units.
pub const fn px(pixels: i32) -> i32 {
    pixels * FINE
}

/// A style for text of the usual size.
pub fn label(ink: Ink) -> TextStyle<'static> {
    // plotters divides font sizes by 1.24 before it writes them.
    let size = f64::from(px(FONT)) * 1.24;
    let colour = Look::solid(ink).stand_in().to_backend_color();
    TextStyle { color: colour, ..TextStyle::from(("sans-serif", size).into_font()) }
}

/// A line of `look`, `width` quarter pixels wide.
pub fn stroke(look: Look, width: u32) -> ShapeStyle {
    look.stand_in().stroke_width(width)
}

/// Draws axes and grid, lets `marks` add the data, and dresses the result for the page.
pub fn draw(frame: &Frame, marks: impl FnOnce(&mut Chart<'_, '_>) -> Drawn) -> fault::Result<Markup> {
    let mut svg = String::new();
    let drawn = render(&mut svg, frame, marks);
    drawn.map_err(|error| Fault::new(Kind::Bug, format!("cannot draw a chart: {error}")))?;
    let body = svg.split_once('>').map_or("", |(_, body)| body).trim_end();
    let body = body.strip_suffix("</svg>").unwrap_or(body);
    let size = format!("0 0 {} {}", px(frame.width), px(frame.height));
    Ok(html! {
        svg.chart viewBox=(size) role="img" aria-label=(frame.alternative) data-width=(frame.width) {
            (PreEscaped(dress(body)))
        }
    })
}

fn render(svg: &mut String, frame: &Frame, marks: impl FnOnce(&mut Chart<'_, '_>) -> Drawn) -> Drawn {
    let size = (px(frame.width) as u32, px(frame.height) as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    let bottom = if frame.x.title.is_empty() { 26 } else { 43 };
    let mut chart = ChartBuilder::on(&root)
        .margin_top(px(frame.top))
        .margin_right(px(MARGIN_RIGHT))
        .set_label_area_size(LabelAreaPosition::Left, px(frame.left))
        .set_label_area_size(LabelAreaPosition::Bottom, px(bottom))
        .build_cartesian_2d(frame.x.clone(), frame.y.clone())?;
    mesh(&mut chart, frame)?;
    let title = label(Ink::Muted).pos(plotters::style::text_anchor::Pos::default());
    root.draw_text(&frame.y.title, &title, (px(4), px(4)))?;
    marks(&mut chart)?;
    root.present()
}

fn mesh(chart: &mut Chart<'_, '_>, frame: &Frame) -> Drawn {
    let grid = stroke(Look::solid(Ink::Grid), FINE as u32);
    let axis = stroke(Look::solid(Ink::Muted), FINE as u32);
    let mut mesh = chart.configure_mesh();
    match frame.grid {
        Grid::Across => mesh.disable_y_mesh(),
        Grid::Up => mesh.disable_x_mesh(),
    };
    mesh.bold_line_style(grid)
        .light_line_style(TRANSPARENT)
        .axis_style(axis)
        .set_all_tick_mark_size(px(4))
        .label_style(label(Ink::Muted))
        .axis_desc_style(label(Ink::Muted))
        .x_labels(frame.x.ticks.len().max(1))
        .y_labels(frame.y.ticks.len().max(1))
        .x_desc(frame.x.title.as_str())
        .draw()
}

/// A line through `points`; one point becomes a dot.
pub fn line(chart: &mut Chart<'_, '_>, points: &[(f64, f64)], look: Look, width: u32) -> Drawn {
    if let [point] = points {
        return marker(chart, *point, look);
    }
    chart.draw_series(std::iter::once(PathElement::new(points.to_vec(), stroke(look, width)))).map(|_| ())
}

/// Shapes along a line, so that lines differ without colour; `index` shifts them so that they don't cover each other.
pub fn markers(chart: &mut Chart<'_, '_>, points: &[(f64, f64)], look: Look, index: usize) -> Drawn {
    let step = points.len().div_ceil(6).max(1);
    for point in points.iter().skip(index * step / 4 % step).step_by(step) {
        marker(chart, *point, look)?;
    }
    Ok(())
}

/// The shape of a series at one point.
pub fn marker(chart: &mut Chart<'_, '_>, point: (f64, f64), look: Look) -> Drawn {
    let fill = Look { dash: 0, ..look }.stand_in().filled();
    let index = if let Ink::Series(index) = look.ink { index } else { 0 };
    let half = px(3);
    match index % 3 {
        0 => chart.draw_series(std::iter::once(Circle::new(point, half + 2, fill))).map(|_| ()),
        1 => {
            let square = EmptyElement::at(point) + Rectangle::new([(-half, -half), (half, half)], fill);
            chart.draw_series(std::iter::once(square)).map(|_| ())
        }
        _ => chart.draw_series(std::iter::once(TriangleMarker::new(point, px(5), fill))).map(|_| ()),
    }
}
