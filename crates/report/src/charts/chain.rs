//! The limits of a design, in the order data passes them.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::text;

const WIDTH: i32 = 720;
const LEFT: i32 = 168;
/// Pixels per bar.
const BAR: i32 = 19;
/// Space between limits, in bars.
const GAP: f64 = 0.7;
/// Bars are cut at this many times what matters: the requirement, what was measured, the smallest limit.
const CUT: f64 = 2.2;
/// Share of the axis that is kept for figures right of the bars.
const FIGURES: f64 = 0.3;

/// One limit.
#[derive(Debug, Clone)]
pub struct Link {
    /// What it is called.
    pub name: String,
    /// Whether it is the one that holds everything up.
    pub bottleneck: bool,
    /// One bar for each way of using the storage.
    pub bars: Vec<LinkBar>,
}

/// One way through a limit; figures in MB/s.
#[derive(Debug, Clone)]
pub struct LinkBar {
    /// Which series' colour it has.
    pub series: usize,
    /// What the limit lets through; `None` where it does not bound.
    pub rate: Option<f64>,
    /// What is required.
    pub required: Option<f64>,
}

/// A line through all limits.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Where, in MB/s.
    pub rate: f64,
    /// How it looks.
    pub look: Look,
    /// What it is.
    pub text: String,
}

/// Horizontal bars per limit with a tick where each requirement lies, and `marks` through all of them. Bars that are much
/// longer than what matters are cut, and say so.
pub fn chain(links: &[Link], marks: &[Mark], unit: &str, alternative: String) -> fault::Result<Markup> {
    let cut = cut(links, marks);
    let height = |link: &Link| link.bars.len() as f64 + GAP;
    let rows: f64 = links.iter().map(height).sum::<f64>() + marks.len() as f64;
    let mut top = rows - marks.len() as f64;
    let mut tops = Vec::new();
    let mut ticks = Vec::new();
    for link in links {
        let sign = if link.bottleneck { "▸ " } else { "" };
        ticks.push((top - height(link) / 2.0, format!("{sign}{}", text::shorten(&link.name, 24))));
        tops.push(top);
        top -= height(link);
    }
    let frame = Frame {
        width: WIDTH,
        height: 62 + (rows * f64::from(BAR)) as i32,
        left: LEFT,
        top: 10,
        x: Axis::linear(cut / (1.0 - FIGURES), false, unit).shown(text::grouped),
        y: Axis { min: 0.0, max: rows.max(1.0), ticks, title: String::new() },
        grid: Grid::Across,
        alternative,
    };
    let right = frame.x.max;
    plot::draw(&frame, |chart| {
        for (link, top) in links.iter().zip(&tops) {
            draw(chart, link, *top, (cut, right), marks)?;
        }
        marks.iter().enumerate().try_for_each(|(index, mark)| line(chart, mark, index, rows, right))
    })
}

fn cut(links: &[Link], marks: &[Mark]) -> f64 {
    let bars = || links.iter().flat_map(|link| &link.bars);
    let rates = || bars().filter_map(|bar| bar.rate).filter(|rate| rate.is_finite());
    let least = rates().fold(f64::INFINITY, f64::min);
    let matters = bars()
        .filter_map(|bar| bar.required)
        .chain(marks.iter().map(|mark| mark.rate))
        .chain(Some(least))
        .filter(|rate| rate.is_finite())
        .fold(0.0, f64::max);
    let most = rates().fold(matters * 1.05, f64::max);
    let cut = most.min(matters * CUT);
    if cut > 0.0 { cut } else { 1.0 }
}

fn draw(chart: &mut Chart<'_, '_>, link: &Link, top: f64, ends: (f64, f64), marks: &[Mark]) -> Drawn {
    if link.bottleneck {
        let ground = Look::solid(Ink::Band).stand_in().filled();
        let bottom = top - link.bars.len() as f64 - GAP;
        chart.draw_series(std::iter::once(Rectangle::new([(0.0, top), (ends.1, bottom)], ground)))?;
    }
    for (index, bar) in link.bars.iter().enumerate() {
        draw_bar(chart, bar, top - GAP / 2.0 - index as f64, ends, marks)?;
    }
    Ok(())
}

/// The bar from `top` down to `top - 1`.
fn draw_bar(
    chart: &mut Chart<'_, '_>,
    bar: &LinkBar,
    top: f64,
    (cut, right): (f64, f64),
    marks: &[Mark],
) -> Drawn {
    let (upper, middle, lower) = (top - 0.1, top - 0.5, top - 0.9);
    let rate = bar.rate.filter(|rate| rate.is_finite());
    let end = rate.unwrap_or(0.0).min(cut);
    if end > 0.0 {
        let fill = Look::solid(Ink::Series(bar.series)).stand_in().filled();
        chart.draw_series(std::iter::once(Rectangle::new([(0.0, upper), (end, lower)], fill)))?;
    }
    if let Some(required) = bar.required.filter(|required| required.is_finite()) {
        let path = vec![(required, top + 0.04), (required, top - 1.04)];
        plot::line(chart, &path, Look::solid(Ink::Halo), 26)?;
        plot::line(chart, &path, Look::solid(Ink::Required), 10)?;
    }
    let figure = match rate {
        Some(rate) if rate > cut => format!("» {}", text::whole_mb(rate)),
        Some(rate) => text::whole_mb(rate),
        None => "does not bound".to_owned(),
    };
    // The figure stands behind lines that would otherwise cross it.
    let width =
        right * (figure.chars().count() as f64 * 7.5 + 10.0) / f64::from(WIDTH - LEFT - plot::MARGIN_RIGHT);
    let mut lines: Vec<f64> = marks.iter().map(|mark| mark.rate).chain(bar.required).collect();
    lines.sort_by(f64::total_cmp);
    let free = |at: f64, line: &f64| if *line >= at && *line < at + width { *line } else { at };
    let at = lines.iter().fold(end, free);
    let ink = if rate.is_some() { Ink::Text } else { Ink::Muted };
    let style = plot::label(ink).pos(Pos::new(HPos::Left, VPos::Center));
    let words = EmptyElement::at((at, middle)) + Text::new(figure, (px(7), 0), style);
    chart.draw_series(std::iter::once(words)).map(|_| ())
}

/// The `index`-th mark from the top, with its words above everything.
fn line(chart: &mut Chart<'_, '_>, mark: &Mark, index: usize, rows: f64, right: f64) -> Drawn {
    let at = rows - index as f64 - 0.5;
    let path = vec![(mark.rate, at - 0.4), (mark.rate, 0.0)];
    plot::line(chart, &path, Look::solid(Ink::Halo), 24)?;
    plot::line(chart, &path, mark.look, 10)?;
    // Words beside the middle of the chart turn away from its nearer edge.
    let (side, dx) = if mark.rate < right / 2.0 { (HPos::Left, -px(4)) } else { (HPos::Right, px(4)) };
    let style = plot::label(mark.look.ink).pos(Pos::new(side, VPos::Center));
    let words = EmptyElement::at((mark.rate, at)) + Text::new(mark.text.clone(), (dx, 0), style);
    chart.draw_series(std::iter::once(words)).map(|_| ())
}
