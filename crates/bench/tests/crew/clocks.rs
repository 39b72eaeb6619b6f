//! Clocks that are apart leave no trace in what is measured.

use bench::workload::{Phase, Transfer};
use fleet::group::Group;
use units::Bytes;

use super::group::{Over, check, disk, workload};

const APART_NS: i64 = 1_500_000_000;

#[test]
fn a_shifted_clock_is_in_no_time_of_the_result() {
    let phases = vec![
        Phase::transfer("write", Transfer::write(Bytes::kib(8))),
        Phase::transfer("read", Transfer::read(Bytes::kib(8))),
    ];
    for shift in [APART_NS, -APART_NS] {
        let target = disk();
        let group = Group::new(3).shifted(1, shift);
        let done = Over::group(group, &[2, 2, 2]).run(target.path(), &workload(6, phases.clone())).expect();
        for phase in done.phases() {
            let far = APART_NS as u64;
            assert!(phase.ranks.iter().all(|rank| rank.closed_ns < far), "{shift}: {:?}", phase.ranks);
            assert!(
                phase.first_done.elapsed_ns <= phase.last_done.elapsed_ns && phase.last_done.elapsed_ns < far
            );
            assert_eq!(phase.series[0].bytes(), phase.bytes(), "all in the first second");
            let offsets: Vec<i64> = phase.hosts.iter().map(|host| host.clock_offset_ns).collect();
            assert_eq!(offsets, [0, shift, 0]);
            assert!(phase.hosts.iter().all(|host| host.start_skew_ns < far));
            assert!(check(phase, "clock-uncertainty").evidence.contains("known to within"));
        }
    }
}
