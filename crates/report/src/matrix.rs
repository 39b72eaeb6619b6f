//! The matrix of a run for other programs and other pages: CSV, and heat maps that stand alone.

use fault::{Fault, Kind};
use maud::{PreEscaped, html};
use record::RunRecord;

use crate::charts;
use crate::facts::matrix::{FIGURES, heat, ordered};

const COLUMNS: [&str; 17] = [
    "run",
    "test",
    "in_flight",
    "asked_operations_per_second",
    "direct",
    "read_percent",
    "seek_percent",
    "transfer_bytes",
    "operations",
    "elapsed_ns",
    "operations_per_second",
    "bandwidth_bytes_per_second",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "in_flight_by_little",
    "bytes_over_operations_times_transfer",
];

/// One row per point; `None` when the run has no matrix.
pub fn csv(record: &RunRecord) -> fault::Result<Option<String>> {
    let matrices = record.matrices();
    if matrices.is_empty() {
        return Ok(None);
    }
    let broken = |error: &dyn std::fmt::Display| Fault::new(Kind::Bug, format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).map_err(|error| broken(&error))?;
    for matrix in &matrices {
        for point in ordered(matrix) {
            let row: [String; 17] = [
                record.id.clone(),
                matrix.test.clone(),
                matrix.depth.to_string(),
                matrix.asked.map_or_else(String::new, |asked| asked.get().to_string()),
                matrix.direct.to_string(),
                (point.read.get() * 100.0).to_string(),
                point.seek.get().to_string(),
                point.transfer.get().to_string(),
                point.operations.to_string(),
                point.time.as_nanos().to_string(),
                point.iops().get().to_string(),
                point.bandwidth().get().to_string(),
                point.latency.mean().as_nanos().to_string(),
                point.latency.percentile(50.0).as_nanos().to_string(),
                point.latency.percentile(99.0).as_nanos().to_string(),
                point.in_flight().to_string(),
                point.bytes_agree().to_string(),
            ];
            writer.write_record(row).map_err(|error| broken(&error))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| broken(&error))?;
    String::from_utf8(bytes).map(Some).map_err(|error| broken(&error))
}

/// Colours of the heat maps where no page decides them, light and dark.
const STYLE: &str = "\
:root{--card:#fff;--text:#1a1d21;--muted:#565d66;--c0:#0067b1;--c1:#c65102;--c2:#00795c}\
@media(prefers-color-scheme:dark){:root{--card:#1c2025;--text:#e8eaed;--muted:#a9b1bb;--c0:#5ab0f2;--c1:#f59a4c;--c2:#3fc8a0}}\
.ground{fill:var(--card)}.fill-text{fill:var(--text)}.fill-muted{fill:var(--muted)}\
.fill-c0{fill:var(--c0)}.fill-c1{fill:var(--c1)}.fill-c2{fill:var(--c2)}\
text{font-family:system-ui,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif}";

/// All heat maps of a run below each other, as one SVG that needs nothing else; `None` when the run has no matrix.
pub fn svg(record: &RunRecord) -> Option<String> {
    let matrices = record.matrices();
    let maps: Vec<_> = matrices
        .iter()
        .flat_map(|matrix| FIGURES.iter().map(move |figure| (matrix, heat(matrix, figure))))
        .collect();
    if maps.is_empty() {
        return None;
    }
    let width = maps.iter().map(|(_, map)| charts::heat_size(map).0).max().unwrap_or(1).max(480);
    let mut top = 12;
    let mut parts = Vec::new();
    for (matrix, map) in &maps {
        let (own, height) = charts::heat_size(map);
        parts.push(html! {
            svg x="12" y=(top) width=(own) height=(height + 22) {
                text class="fill-text" x="4" y="14" font-size="14" font-weight="600" { (matrix.test) ": " (matrix.conditions()) }
                svg y="22" width=(own) height=(height) viewBox=(format!("0 0 {} {}", own * 4, height * 4)) {
                    (PreEscaped(inner(&charts::heat(map).into_string())))
                }
            }
        });
        top += height + 22 + 16;
    }
    let page = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width + 24) height=(top) viewBox=(format!("0 0 {} {top}", width + 24)) {
            style { (PreEscaped(STYLE)) }
            rect.ground width="100%" height="100%" {}
            @for part in &parts { (part) }
        }
    };
    Some(page.into_string())
}

/// What is inside an SVG element.
fn inner(svg: &str) -> &str {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    body.strip_suffix("</svg>").unwrap_or(body)
}
