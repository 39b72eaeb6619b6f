//! A run's events as plain lines, and as lines of JSON.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use console::{Format, Printer, Progress, Showing};
use record::{Event, Listener as _, PhaseResult};
use testkit::samples::Sample;

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `events` write to standard output and standard error.
fn written(format: Format, quiet: bool, events: &[Event]) -> (String, String) {
    let (out, err) = (Memory::default(), Memory::default());
    let printer = Printer::to(format, quiet, Box::new(out.clone()), Box::new(err.clone()));
    let mut progress = Progress::new(&printer, Showing::Auto);
    events.iter().for_each(|event| progress.on_event(event));
    let text = |memory: Memory| String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
    (text(out), text(err))
}

fn events(seconds: u64) -> Vec<Event> {
    let result: PhaseResult = Sample::default().build().tests[0].repetitions[0].phases[0].clone();
    let mut events = vec![
        Event::RunStarted { run: "20261121-214226-3f9a1c".into(), tests: 1 },
        Event::TestStarted { test: "data".into(), summary: "8 ranks, 64 KiB".into(), repetitions: 3 },
        Event::PhaseStarted {
            test: "data".into(),
            repetition: 1,
            phase: "write".into(),
            ranks: 8,
            planned_bytes: Some(40_000_000_000),
            planned_operations: None,
            deadline_ns: None,
        },
    ];
    events.extend((1..=seconds).map(|second| {
        Event::Progress(Box::new(record::Moment {
            phase: "write".into(),
            elapsed_ns: second * 1_000_000_000,
            bytes: second * 1_000_000_000,
            operations: second * 15_000,
            bytes_per_second: 1e9,
            operations_per_second: 15_000.0,
            ranks_done: 0,
            ..record::Moment::default()
        }))
    }));
    events.push(Event::Draining { phase: "write".into() });
    events.push(Event::Notice { message: "the page cache was not dropped".into() });
    events.push(Event::PhaseFinished { result: Box::new(result) });
    events.push(Event::RunFinished { run: "20261121-214226-3f9a1c".into(), elapsed_ns: 1 });
    events
}

#[test]
fn plain_lines_are_few() {
    let (out, err) = written(Format::Text, false, &events(35));
    assert_eq!(out, "");
    insta::assert_snapshot!(err, @r"
    data: 8 ranks, 64 KiB
    data: write 1/3, 8 ranks, 37.25 GiB
    data: write 1/3 at 10.0 s: 1000.0 MB/s, 15.0 k op/s, ETA 30 s
    data: write 1/3 at 20.0 s: 1000.0 MB/s, 15.0 k op/s, ETA 20 s
    data: write 1/3 at 30.0 s: 1000.0 MB/s, 15.0 k op/s, ETA 10 s
    warning: the page cache was not dropped
    data: write 1/3 done: 1265.9 MB/s, 19.3 k op/s in 44.1 s
    ");
}

#[test]
fn jsonl_is_the_events_themselves() {
    let events = events(3);
    let (out, err) = written(Format::Jsonl, false, &events);
    let read: Vec<Event> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, events);
    assert_eq!(err, "");
}

#[test]
fn quiet_and_json_are_silent() {
    assert_eq!(written(Format::Text, true, &events(35)), (String::new(), String::new()));
    assert_eq!(written(Format::Json, false, &events(35)), (String::new(), String::new()));
}
