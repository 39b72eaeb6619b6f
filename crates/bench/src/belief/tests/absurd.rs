//! Rules must survive any numbers: a record may come from a damaged clock or another program.

use proptest::prelude::*;
use record::{Interval, Latency, Mark, OperationResult, RankResult};

use super::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), 0..100u64, any::<u64>()]
}

fn bytes() -> impl Strategy<Value = Bytes> {
    number().prop_map(Bytes::new)
}

fn operation() -> impl Strategy<Value = OperationResult> {
    let kind = prop::sample::select(OperationKind::ALL.to_vec());
    (kind, number(), bytes(), prop::collection::vec(number(), 0..3)).prop_map(
        |(kind, operations, bytes, seen)| {
            let mut latency = Latency::new();
            for ns in seen {
                latency.record(ns);
            }
            OperationResult { kind, operations, bytes, latency }
        },
    )
}

fn mark() -> impl Strategy<Value = Mark> {
    (number(), number(), bytes()).prop_map(|(elapsed_ns, operations, bytes)| Mark {
        elapsed_ns,
        operations,
        bytes,
    })
}

fn any_rank() -> impl Strategy<Value = RankResult> {
    prop::array::uniform7(number()).prop_map(|n| RankResult {
        operations: n[0],
        opened_ns: n[1],
        transferred_ns: n[2],
        synced_ns: n[3],
        closed_ns: n[4],
        cpu_ns: n[5],
        errors: n[6],
        ..RankResult::default()
    })
}

fn interval() -> impl Strategy<Value = Interval> {
    (number(), number(), prop::collection::vec(operation(), 0..2))
        .prop_map(|(start_ns, length_ns, operations)| Interval { start_ns, length_ns, operations, cpu: None })
}

prop_compose! {
    fn any_phase()(
        kind in prop::sample::select(OperationKind::ALL.to_vec()),
        operations in prop::collection::vec(operation(), 0..3),
        marks in prop::array::uniform2(mark()),
        ranks in prop::collection::vec(any_rank(), 0..4),
        series in prop::collection::vec(interval(), 0..16),
        depth in any::<u32>(),
        flags in prop::array::uniform3(any::<bool>()),
        numbers in prop::array::uniform16(number()),
    ) -> PhaseResult {
        let mut phase = phase(kind);
        phase.main = operations.iter().map(|o| o.kind).collect();
        (phase.operations, phase.ranks, phase.series) = (operations, ranks, series);
        [phase.first_done, phase.last_done] = marks;
        [phase.open_loop, phase.wear_out, phase.wear_out_capped] = flags;
        phase.engine.queue_depth = depth;
        let counters = &mut phase.counters;
        counters.dirty_bytes = Bytes::new(numbers[0]);
        counters.writeback_bytes = Bytes::new(numbers[1]);
        let first = &mut counters.traffic[0];
        (first.read_bytes, first.written_bytes, first.busy_ns) = (Bytes::new(numbers[2]), Bytes::new(numbers[3]), numbers[4]);
        let twin = first.clone();
        counters.traffic.push(twin);
        counters.cpu = host::CpuTimes {
            user_ns: numbers[5],
            system_ns: numbers[6],
            interrupt_ns: numbers[7],
            iowait_ns: numbers[8],
            idle_ns: numbers[9],
            steal_ns: numbers[10],
            busy_per_vcpu_ns: numbers[11..13].to_vec(),
            process_user_ns: numbers[13],
            process_system_ns: numbers[14],
        };
        phase.verify_failures = numbers[15];
        phase.verified_bytes = Bytes::new(numbers[0]);
        phase
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_panics(
        phase in any_phase(),
        sizes in prop::array::uniform8(number()),
        allowed in prop::num::f64::ANY,
        file_system in prop::sample::select(vec!["", "xfs", "tmpfs", "nfs4", "zfs"]),
        flags in prop::array::uniform5(any::<bool>()),
    ) {
        let mut host = host_with(file_system);
        host.cpu.vcpus_allowed = allowed;
        host.memory.total_bytes = Bytes::new(sizes[0]);
        host.target.as_mut().unwrap().size_bytes = Bytes::new(sizes[1]);
        let speed = Some(Bandwidth::bytes_per_second(allowed));
        host.interfaces = vec![NetworkInterface { speed_bytes_per_second: speed, ..NetworkInterface::default() }];
        let context = Context {
            files_written_by_this_host_in_this_run: flags[0],
            cache_dropped_before: flags[1],
            direct: flags[2],
            fsync: flags[3],
            allocated: flags[4].then(|| Allocation {
                apparent_bytes: Bytes::new(sizes[2]),
                allocated_bytes: Bytes::new(sizes[3]),
                unwritten_bytes: Bytes::new(sizes[4]),
            }),
            available_after: Bytes::new(sizes[5]),
            dirty_before: Bytes::new(sizes[6]),
            ..Context::new(&host, 0, Bytes::new(sizes[7]))
        };
        let checks = phase_checks(&phase, &context);
        prop_assert!(checks.iter().all(|c| !c.evidence.is_empty()));
        let limit = limit_of(&phase, &context, &checks);
        prop_assert!(!limit.evidence.is_empty());
        let mut test = test(&[100, 100]);
        test.repetitions[0].phases[0] = phase;
        prop_assert_eq!(test_checks(&test).len(), 3);
    }
}
