use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::{Format, Printer, Reading};
use fault::Fault;
use serde_json::json;
use sync::{Counters, Event, Stage, Status, Step, Watcher, printable};
use units::Bytes;

use super::figures::Figures;
use super::tally::Tally;
use crate::signals;

/// How often the live line is brought up to date.
const TICK: Duration = Duration::from_millis(250);

/// Tells a person how far a sync is, and each entry that could not be done.
pub struct SyncProgress<'a> {
    printer: &'a Printer,
    counters: &'a Counters,
    status: &'a Status,
    figures: Option<&'a Figures>,
    reading: Reading,
    started: Instant,
    stage: Mutex<Stage>,
    ended: AtomicBool,
}

impl<'a> SyncProgress<'a> {
    pub fn new(
        printer: &'a Printer,
        counters: &'a Counters,
        status: &'a Status,
        figures: Option<&'a Figures>,
    ) -> Self {
        let (stage, ended) = (Mutex::new(Stage::Recover), AtomicBool::new(false));
        let (reading, started) = (Reading::new(printer), Instant::now());
        Self { printer, counters, status, figures, reading, started, stage, ended }
    }

    /// Shows the numbers until the job ends; those of all ranks, if there are several.
    pub fn tick(&self, tally: Option<&Tally<'_>>) {
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::park_timeout(TICK);
            tally.inspect(|tally| tally.exchange());
            self.reading.so_far(self.numbers());
            self.figures.inspect(|figures| figures.update(self.counters, self.status));
        }
    }

    /// The job ended.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn numbers(&self) -> String {
        let (counters, elapsed) = (self.counters, self.started.elapsed());
        let stage = title(*self.stage.lock().unwrap_or_else(PoisonError::into_inner));
        let sent = Bytes::new(counters.bytes_sent.get());
        if !self.status.by().is_empty() {
            return format!("{stage}: {}, {sent} copied so far", self.behind());
        }
        let done = counters.copied.get() + counters.made.get() + counters.linked.get();
        format!(
            "{stage}: {} entries looked at, {done} copied, {sent} ({}, {:.0} entries/s)",
            counters.scanned.get(),
            sent.per(elapsed),
            counters.scanned.get() as f64 / elapsed.as_secs_f64().max(1e-3)
        )
    }

    /// How far a watch is behind.
    fn behind(&self) -> String {
        let (status, lag) = (self.status, self.status.lag());
        let behind = if lag.is_zero() {
            "nothing waits".to_owned()
        } else {
            format!("{:.1} s behind, {} changes wait", lag.as_secs_f64(), status.waiting())
        };
        let failing = match status.failing() {
            0 => String::new(),
            failing => format!(", {failing} can't be done now"),
        };
        format!("{behind}{failing}, {} rounds ({})", status.rounds(), status.by())
    }

    fn failed(&self, path: &[u8], fault: &Fault) {
        if self.printer.format() == Format::Jsonl {
            let line = json!({ "event": "failed", "path": printable(path), "reason": fault.message(), "hint": fault.hint_text() });
            // Standard output that is gone ends the output, not the job.
            let _ = self.printer.json_line(&line);
        }
        self.reading.above(|printer| printer.fault(fault));
    }

    fn planned(&self, step: &Step<'_>) {
        let path = printable(step.path);
        let _ = match self.printer.format() {
            Format::Text if step.bytes > 0 => {
                self.printer.data(format!("{:<10} {path} ({})", step.act.word(), Bytes::new(step.bytes)))
            }
            Format::Text => self.printer.data(format!("{:<10} {path}", step.act.word())),
            Format::Jsonl => self.printer.json_line(&json!({
                "event": "planned", "act": step.act.word(), "kind": step.kind.words(), "path": path, "size_bytes": step.bytes,
            })),
            Format::Json => Ok(()),
        };
    }
}

impl Watcher for SyncProgress<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Stage(stage) => {
                *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = *stage;
            }
            Event::Planned(step) => self.planned(step),
            Event::Failed(path, fault) | Event::Unstable(path, fault) => self.failed(path, fault),
            Event::Note(text) => self.reading.above(|printer| printer.warn(text)),
        }
    }

    fn stopping(&self) -> bool {
        signals::received().is_some()
    }
}

const fn title(stage: Stage) -> &'static str {
    match stage {
        Stage::Recover => "recovering",
        Stage::Copy => "copying",
        Stage::Link => "linking",
        Stage::Delete => "deleting",
        Stage::Finish => "finishing directories",
        Stage::Index => "writing the index",
        Stage::Watch => "watching",
    }
}
