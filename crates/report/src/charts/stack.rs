//! What a whole is made of: one bar per row, cut into its parts.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{self, Chart, Drawn, Frame, Grid, px};
use super::scale::Axis;
use super::theme::{Ink, Look};
use crate::text;

const ROW: i32 = 38;

/// One bar.
#[derive(Debug, Clone)]
pub struct Stack {
    /// What it is.
    pub name: String,
    /// Series and size of every part, in order.
    pub parts: Vec<(usize, f64)>,
    /// What stands behind its end.
    pub figure: String,
}

/// Horizontal bars of parts that add up.
pub fn stacks(stacks: &[Stack], unit: &str, alternative: String) -> fault::Result<Markup> {
    let sum = |stack: &Stack| stack.parts.iter().map(|part| part.1).sum::<f64>();
    let most = stacks.iter().map(sum).fold(0.0, f64::max);
    let rows = stacks.len() as f64;
    let middle = |index: usize| rows - index as f64 - 0.5;
    let ticks = stacks
        .iter()
        .enumerate()
        .map(|(index, stack)| (middle(index), text::shorten(&stack.name, 30)))
        .collect();
    let frame = Frame {
        width: 720,
        height: 62 + ROW * i32::try_from(stacks.len()).unwrap_or(100),
        left: 208,
        top: 10,
        x: Axis::linear(most * 1.3, false, unit).shown(text::short_usd),
        y: Axis { min: 0.0, max: rows.max(1.0), ticks, title: String::new() },
        grid: Grid::Across,
        alternative,
    };
    plot::draw(&frame, |chart| {
        stacks.iter().enumerate().try_for_each(|(index, stack)| draw(chart, stack, middle(index)))
    })
}

fn draw(chart: &mut Chart<'_, '_>, stack: &Stack, middle: f64) -> Drawn {
    let mut from = 0.0;
    for (series, size) in &stack.parts {
        let fill = Look::solid(Ink::Series(*series)).stand_in().filled();
        let to = from + size;
        chart.draw_series(std::iter::once(Rectangle::new(
            [(from, middle + 0.28), (to, middle - 0.28)],
            fill,
        )))?;
        let edge = vec![(to, middle + 0.28), (to, middle - 0.28)];
        plot::line(chart, &edge, Look::solid(Ink::Halo), 6)?;
        from = to;
    }
    let style = plot::label(Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
    let words = EmptyElement::at((from, middle)) + Text::new(stack.figure.clone(), (px(7), 0), style);
    chart.draw_series(std::iter::once(words)).map(|_| ())
}
