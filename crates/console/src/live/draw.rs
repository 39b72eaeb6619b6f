//! The picture: title, time line, two charts, hosts and slowest ranks, what was said.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Axis, Bar, BarChart, Block, Chart, Dataset, GraphType, LineGauge, Paragraph, Row, Table,
};
use units::{Bandwidth, Bytes, Iops, format_duration};

use super::history::{Curve, History, top};
use crate::phase_clock::PhaseClock;

/// Lines for what was said.
const LOG: u16 = 6;
/// Lines for hosts and ranks.
const PEOPLE: u16 = 8;
/// Below this height only the charts and the log fit.
const TALL: u16 = 28;

/// What the picture shows.
pub struct View<'a> {
    pub clock: &'a PhaseClock,
    pub history: &'a History,
    pub log: &'a [String],
}

/// Draws it.
pub fn draw(frame: &mut Frame, view: &View) {
    let tall = frame.area().height >= TALL;
    let people = if tall { PEOPLE } else { 0 };
    let rows =
        [Constraint::Length(2), Constraint::Min(6), Constraint::Length(people), Constraint::Length(LOG)];
    let [head, charts, people, log] = Layout::vertical(rows).areas(frame.area());
    draw_head(frame, head, view);
    let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
    let [rates, latency] = Layout::horizontal(halves).areas(charts);
    draw_rate(frame, rates, view.history);
    draw_latency(frame, latency, view.history);
    if tall {
        let [hosts, ranks] = Layout::horizontal(halves).areas(people);
        draw_hosts(frame, hosts, view.history);
        draw_slowest(frame, ranks, view.history);
    }
    draw_log(frame, log, view.log);
}

fn draw_head(frame: &mut Frame, area: Rect, view: &View) {
    let [title, line] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut words = vec![Span::styled(view.clock.title.clone(), bold)];
    if let Some(now) = &view.history.now {
        let elapsed = format_duration(Duration::from_secs(now.elapsed.as_secs()));
        words.push(Span::raw(format!("  {elapsed}  {}", view.clock.figures(now))));
    }
    if view.history.draining {
        words.push(Span::styled("  fsync and close", Style::new().fg(Color::Yellow)));
    }
    frame.render_widget(Line::from(words), title);
    let done = view.history.now.and_then(|now| now.done);
    if let Some(done) = done {
        let ratio = done.get().clamp(0.0, 1.0);
        let gauge = LineGauge::default().ratio(ratio).filled_style(Style::new().fg(Color::Green));
        frame.render_widget(gauge.label(format!("{:>3.0} %", ratio * 100.0)), line);
    }
}

fn draw_rate(frame: &mut Frame, area: Rect, history: &History) {
    if history.moves_bytes() {
        let name = |value: f64| Bandwidth::bytes_per_second(value).to_string();
        let now = history.bandwidth.last().unwrap_or_default();
        let lines = [("", Color::Cyan, &history.bandwidth)];
        draw_chart(frame, area, &format!("throughput  {}", name(now)), &lines, history.seconds(), &name);
    } else {
        let name = |value: f64| Iops::new(value).to_string();
        let now = history.operations.last().unwrap_or_default();
        let lines = [("", Color::Cyan, &history.operations)];
        draw_chart(frame, area, &format!("operations  {}", name(now)), &lines, history.seconds(), &name);
    }
}

fn draw_latency(frame: &mut Frame, area: Rect, history: &History) {
    let name = |value: f64| format_duration(Duration::from_secs_f64(value.max(0.0) / 1e3));
    let now = |curve: &Curve| curve.last().map_or_else(|| "-".to_owned(), name);
    let title = format!("latency  p50 {}  p99 {}", now(&history.median), now(&history.p99));
    let lines = [("p99", Color::Yellow, &history.p99), ("p50", Color::Green, &history.median)];
    draw_chart(frame, area, &title, &lines, history.seconds(), &name);
}

fn draw_chart<'a>(
    frame: &mut Frame,
    area: Rect,
    title: &str,
    curves: &[(&str, Color, &'a Curve)],
    seconds: f64,
    name: &dyn Fn(f64) -> String,
) {
    let all: Vec<&Curve> = curves.iter().map(|curve| curve.2).collect();
    let highest = top(&all) * 1.05;
    let dataset = |(label, color, curve): &(&str, Color, &'a Curve)| {
        let set = Dataset::default().graph_type(GraphType::Line).marker(Marker::Braille);
        let set = set.style(Style::new().fg(*color)).data(curve.points());
        if label.is_empty() { set } else { set.name((*label).to_owned()) }
    };
    let length = format_duration(Duration::from_secs(seconds as u64));
    let across = Axis::default().bounds([0.0, seconds]).labels(["0 s".to_owned(), length]);
    let up =
        Axis::default().bounds([0.0, highest]).labels(["0".to_owned(), name(highest / 2.0), name(highest)]);
    let chart =
        Chart::new(curves.iter().map(dataset).collect()).block(Block::bordered().title(format!(" {title} ")));
    frame.render_widget(chart.x_axis(across).y_axis(up), area);
}

fn draw_hosts(frame: &mut Frame, area: Rect, history: &History) {
    let block = Block::bordered().title(" hosts ");
    if history.hosts.is_empty() {
        frame.render_widget(Paragraph::new("one host").block(block), area);
        return;
    }
    let bytes = history.moves_bytes();
    let bar = |host: &record::HostMoment| {
        let (value, text) = if bytes {
            (host.bytes_per_second, Bandwidth::bytes_per_second(host.bytes_per_second).to_string())
        } else {
            (host.operations_per_second, Iops::new(host.operations_per_second).to_string())
        };
        let label = format!("{} {}/{}", host.host, host.ranks - host.ranks_done.min(host.ranks), host.ranks);
        Bar::default().value(value as u64).text_value(text).label(Line::from(label))
    };
    // The slowest first: with more hosts than lines, these are the ones to see.
    let mut hosts: Vec<&record::HostMoment> = history.hosts.iter().collect();
    hosts.sort_by(|one, other| {
        let rate = |host: &record::HostMoment| {
            if bytes { host.bytes_per_second } else { host.operations_per_second }
        };
        rate(one).total_cmp(&rate(other)).then_with(|| one.host.cmp(&other.host))
    });
    let bars: Vec<Bar> = hosts.into_iter().map(bar).collect();
    let chart = BarChart::horizontal(bars).bar_gap(0).bar_style(Style::new().fg(Color::Cyan));
    frame.render_widget(chart.block(block), area);
}

fn draw_slowest(frame: &mut Frame, area: Rect, history: &History) {
    let row = |rank: &record::RankMoment| {
        let bytes = if rank.bytes > 0 { Bytes::new(rank.bytes).to_string() } else { String::new() };
        Row::new([rank.rank.to_string(), rank.host.clone(), bytes, rank.operations.to_string()])
    };
    let widths = [Constraint::Length(6), Constraint::Min(8), Constraint::Length(12), Constraint::Length(12)];
    let table = Table::new(history.slowest.iter().map(row), widths)
        .header(
            Row::new(["rank", "host", "bytes", "operations"])
                .style(Style::new().add_modifier(Modifier::BOLD)),
        )
        .block(Block::bordered().title(" slowest ranks "));
    frame.render_widget(table, area);
}

fn draw_log(frame: &mut Frame, area: Rect, log: &[String]) {
    let block = Block::bordered().title(" Ctrl-C stops cleanly ");
    let room = usize::from(area.height.saturating_sub(2));
    let last = &log[log.len().saturating_sub(room)..];
    let lines: Vec<Line> =
        last.iter().map(|line| Line::from(anstream::adapter::strip_str(line).to_string())).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
