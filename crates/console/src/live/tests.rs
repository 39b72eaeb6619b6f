#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::{Event, HostMoment, Moment, MomentLatency, RankMoment};

use super::draw::{View, draw};
use super::history::History;
use crate::phase_clock::PhaseClock;

fn moment(second: u64, hosts: u32) -> Moment {
    let host = |number: u32| HostMoment {
        host: format!("node{number}"),
        ranks: 4,
        ranks_done: number % 2,
        bytes_per_second: 1e8 * f64::from(number + 1),
        operations_per_second: 0.0,
    };
    let rank =
        |number: u32| RankMoment { rank: number, host: "node0".into(), bytes: 1 << 30, operations: 1024 };
    Moment {
        phase: "write".into(),
        elapsed_ns: second * 1_000_000_000,
        bytes: second << 30,
        operations: second << 10,
        bytes_per_second: 1e9 + 1e8 * (second % 7) as f64,
        operations_per_second: 1024.0,
        ranks_done: 1,
        latency: Some(MomentLatency {
            p50_ns: 800_000,
            p99_ns: 2_000_000 + second * 10_000,
            maximum_ns: 9_000_000,
        }),
        hosts: (0..hosts).map(host).collect(),
        slowest: (0..3).map(rank).collect(),
    }
}

fn picture(width: u16, height: u16, hosts: u32) -> String {
    let mut clock = PhaseClock::default();
    clock.learn(&Event::PhaseStarted {
        test: "data".into(),
        repetition: 1,
        phase: "write".into(),
        ranks: 16,
        planned_bytes: Some(100 << 30),
        planned_operations: None,
        deadline_ns: None,
    });
    let mut history = History::default();
    for second in 1..=40 {
        let moment = moment(second, hosts);
        history.learn(&moment);
        history.now = clock.at(&Event::Progress(Box::new(moment)));
    }
    let log = vec!["data: 16 ranks".to_owned(), "data: prepare done".to_owned()];
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &View { clock: &clock, history: &history, log: &log })).unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_large_terminal_shows_rates_latency_hosts_and_the_slowest_ranks() {
    let picture = picture(100, 32, 4);
    for words in
        ["data: write", "throughput", "p99", "node0 4/4", "node3 3/4", "slowest ranks", "prepare done", "ETA"]
    {
        assert!(picture.contains(words), "{words} is missing in\n{picture}");
    }
    insta::assert_snapshot!(picture);
}

#[test]
fn any_size_can_be_drawn() {
    for (width, height) in [(1, 1), (5, 3), (60, 16), (61, 27), (300, 90)] {
        picture(width, height, 200);
    }
}
