//! Every rule both ways, and the promise that no input makes one panic.

mod absurd;
mod hosts;

use host::{BlockDevice, CounterSource, NetworkInterface};
use record::Outcome::{self, Fail, NotApplicable, Note, Pass};
use record::{Check, LimitCause, OperationError, OperationKind, StopCause, Validity};
use units::{Bandwidth, Bytes};

use super::sample::{
    HOST, LENGTH, SECOND, context, context_on, cpu, host_with, phase, rank, read, result, series, test, write,
};
use super::*;

fn check(rule: &str, phase: &PhaseResult, context: &Context<'_>) -> Check {
    phase_checks(phase, context).into_iter().find(|c| c.rule == rule).unwrap()
}

#[track_caller]
fn expect(rule: &str, outcome: Outcome, phase: &PhaseResult, context: &Context<'_>) -> String {
    let seen = check(rule, phase, context);
    assert_eq!(seen.outcome, outcome, "{seen:?}");
    assert_eq!(seen.advice.is_some(), matches!(outcome, Note | Fail), "{seen:?}");
    seen.evidence
}

fn changed(mut phase: PhaseResult, change: impl FnOnce(&mut PhaseResult)) -> PhaseResult {
    change(&mut phase);
    phase
}

#[test]
fn a_sound_phase_is_valid_without_a_note() {
    for phase in [read(), write()] {
        let checks = phase_checks(&phase, &context());
        assert_eq!(Validity::of(&checks), Validity::Valid, "{checks:#?}");
        let mut rules: Vec<&str> = checks.iter().map(|c| c.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        assert_eq!(rules.len(), checks.len(), "every rule once");
    }
}

#[test]
fn cache_hit_proof() {
    let seen = |share: u64, context: &Context<'_>, outcome| {
        let phase = changed(read(), |p| p.counters.traffic[0].read_bytes = p.last_done.bytes * share / 100);
        expect("cache-hit-proof", outcome, &phase, context)
    };
    let plain = context();
    seen(100, &plain, Pass);
    assert!(seen(70, &plain, Note).contains("the page cache served 30 %"));
    assert!(seen(3, &plain, Fail).contains("the page cache served 97 %"));
    seen(3, &Context { direct: true, ..context() }, Note);

    let uncounted = changed(read(), |p| p.counters.traffic.clear());
    expect("cache-hit-proof", NotApplicable, &uncounted, &plain);
    let wire = changed(read(), |p| {
        p.counters.traffic[0].source = CounterSource::Network;
        p.counters.traffic[0].read_bytes = Bytes::ZERO;
    });
    expect("cache-hit-proof", Note, &wire, &plain);
    let memory = host_with("tmpfs");
    assert!(expect("cache-hit-proof", Note, &read(), &context_on(&memory)).contains("tmpfs is memory"));

    let half = changed(write(), |p| p.counters.traffic[0].written_bytes = p.last_done.bytes / 2);
    expect("cache-hit-proof", Note, &half, &plain);
    expect("cache-hit-proof", NotApplicable, &phase_of_entries(), &plain);
}

#[test]
fn cache_hit_proof_of_a_mix_is_the_worse_of_both() {
    let phase = changed(read(), |p| {
        p.operations.push(result(OperationKind::Write, 1000, LENGTH * SECOND));
        p.main.push(OperationKind::Write);
        p.counters.traffic[0].written_bytes = Bytes::mib(100);
    });
    let evidence = expect("cache-hit-proof", Note, &phase, &context());
    assert!(evidence.contains("read by") && evidence.contains("written by"), "{evidence}");
}

#[test]
fn working_set() {
    let cached = changed(read(), |p| p.counters.traffic.clear());
    let small = || Context { working_set: Bytes::mib(512), ..context() };
    expect("working-set", Pass, &cached, &context());
    expect("working-set", Fail, &cached, &small());
    expect("working-set", Pass, &cached, &Context { direct: true, ..small() });
    expect("working-set", Note, &cached, &Context { cache_dropped_before: true, ..small() });
    let others = Context { files_written_by_this_host_in_this_run: false, ..small() };
    expect("working-set", Note, &cached, &others);
    assert!(expect("working-set", Pass, &read(), &small()).contains("the counters show it did not"));
    expect("working-set", NotApplicable, &write(), &small());
    let mut limited = HOST.clone();
    limited.memory.cgroup_limit_bytes = Some(Bytes::mib(100));
    expect("working-set", Pass, &cached, &Context { working_set: Bytes::mib(512), ..context_on(&limited) });
}

#[test]
fn server_and_metadata_caches() {
    let remote = host_with("nfs4");
    let evidence = expect("server-cache", NotApplicable, &read(), &context_on(&remote));
    assert!(evidence.contains("can't see it"), "{evidence}");
    expect("metadata-cache", NotApplicable, &read(), &context());
    expect("metadata-cache", Note, &phase_of_entries(), &context());
    let dropped = Context { cache_dropped_before: true, ..context() };
    expect("metadata-cache", Pass, &phase_of_entries(), &dropped);
}

#[test]
fn dirty_pages_left_and_found() {
    let dirty = changed(write(), |p| p.counters.dirty_bytes = Bytes::gib(1));
    let loose = || Context { fsync: false, ..context() };
    expect("dirty-left", Pass, &write(), &loose());
    assert!(expect("dirty-left", Fail, &dirty, &loose()).contains("without fsync"));
    expect("dirty-left", Pass, &dirty, &Context { dirty_before: Bytes::gib(1), ..loose() });
    assert!(expect("dirty-left", Note, &dirty, &context()).contains("data of others"));
    expect("dirty-left", NotApplicable, &read(), &loose());
    expect("write-back-before", Note, &read(), &Context { dirty_before: Bytes::gib(1), ..context() });
    expect("write-back-before", Pass, &read(), &context());
}

#[test]
fn foreign_traffic() {
    let busy = changed(read(), |p| p.counters.traffic[0].written_bytes = Bytes::gib(10));
    expect("foreign-traffic", Note, &busy, &context());
    expect("foreign-traffic", Pass, &read(), &context());
}

#[test]
fn littles_law() {
    expect("littles-law", Pass, &read(), &context());
    let slower = |percent: u64| {
        changed(read(), |p| {
            p.operations = vec![result(OperationKind::Read, 3000, LENGTH * SECOND * percent / 100)];
        })
    };
    expect("littles-law", Note, &slower(70), &context());
    expect("littles-law", Fail, &slower(30), &context());
    expect("littles-law", Fail, &slower(300), &context());
    let computing =
        changed(slower(40), |p| p.ranks.iter_mut().for_each(|r| r.cpu_ns = LENGTH * SECOND * 6 / 10));
    assert!(expect("littles-law", Pass, &computing, &context()).contains("computed between operations"));
    expect("littles-law", NotApplicable, &changed(read(), |p| p.open_loop = true), &context());
    let paced = Context { paced: Some("1000 operations/s".into()), ..context() };
    expect("littles-law", NotApplicable, &read(), &paced);
    let few = changed(read(), |p| p.operations = vec![result(OperationKind::Read, 9, SECOND)]);
    expect("littles-law", NotApplicable, &few, &context());
}

#[test]
fn cpu_rules() {
    let with = |cpu| changed(read(), |p| p.counters.cpu = cpu);
    expect("cpu-saturation", Pass, &read(), &context());
    assert!(expect("cpu-saturation", Note, &with(cpu(0.95)), &context()).contains("may have"));
    let mut one = cpu(0.2);
    one.busy_per_vcpu_ns[0] = LENGTH * SECOND;
    expect("cpu-saturation", Note, &with(one), &context());
    let mut others = cpu(0.95);
    (others.user_ns, others.system_ns) = (others.system_ns, others.user_ns);
    others.process_system_ns = 0;
    assert!(expect("cpu-saturation", Fail, &with(others), &context()).contains("other programs"));
    expect("cpu-saturation", NotApplicable, &with(host::CpuTimes::default()), &context());
    let copying = changed(read(), |p| p.ranks.iter_mut().for_each(|r| r.cpu_ns = r.closed_ns));
    assert!(expect("cpu-saturation", Note, &copying, &context()).contains("ranks were on CPU"));

    let mut stolen = cpu(0.2);
    stolen.steal_ns = stolen.idle_ns / 5;
    expect("cpu-steal", Note, &with(stolen), &context());
    expect("cpu-steal", Pass, &read(), &context());

    let mut quota = HOST.clone();
    quota.cpu.vcpus_allowed = 1.5;
    expect("cpu-allowed", Note, &read(), &context_on(&quota));
    expect("cpu-allowed", Pass, &read(), &context());
}

#[test]
fn free_space() {
    let left = |gib| Context { available_after: Bytes::gib(gib), ..context() };
    expect("free-space", Pass, &write(), &left(20));
    expect("free-space", Note, &write(), &left(9));
    expect("free-space", Fail, &write(), &left(0));
    expect("free-space", NotApplicable, &read(), &left(0));
}

#[test]
fn change_points_and_stalls() {
    let over = |mib: &[u64]| changed(read(), |p| p.series = series(OperationKind::Read, mib));
    expect("change-point", Pass, &read(), &context());
    let mut levels = [300u64; 30];
    levels[11..].fill(100);
    let evidence = expect("change-point", Note, &over(&levels), &context());
    assert_eq!(evidence, "burst 314.6 MB/s until 11.0 s, sustained 104.9 MB/s from then on");
    levels.reverse();
    assert!(expect("change-point", Note, &over(&levels), &context()).contains("314.6 MB/s from then on"));
    expect("change-point", NotApplicable, &over(&[100; 9]), &context());
    let slightly: Vec<u64> = (0..30).map(|i| if i < 15 { 100 } else { 90 }).collect();
    expect("change-point", Pass, &over(&slightly), &context());

    // The rate falls because ranks are done: no change of the storage.
    let mut tail = over(&levels);
    levels.reverse();
    tail.series = series(OperationKind::Read, &levels);
    tail.ranks[0].transferred_ns = 11 * SECOND;
    expect("change-point", Pass, &tail, &context());

    let mut stalled = [100u64; 30];
    stalled[12] = 2;
    assert!(expect("stalls", Note, &over(&stalled), &context()).contains("1 of 28 intervals"));
    expect("stalls", Pass, &read(), &context());
}

#[test]
fn thin_files() {
    let files = |allocated, unwritten| Allocation {
        apparent_bytes: Bytes::gib(3),
        allocated_bytes: Bytes::mib(allocated),
        unwritten_bytes: Bytes::mib(unwritten),
    };
    let with = |allocation| Context { allocated: Some(allocation), ..context() };
    expect("thin-files", Pass, &read(), &with(files(3072, 0)));
    expect("thin-files", Fail, &read(), &with(files(10, 0)));
    expect("thin-files", Fail, &read(), &with(files(3072, 3072)));
    expect("thin-files", NotApplicable, &read(), &context());
    expect("thin-files", NotApplicable, &write(), &with(files(10, 0)));
    let compressing = host_with("zfs");
    let shrunk = Context { allocated: Some(files(10, 0)), ..context_on(&compressing) };
    expect("thin-files", Note, &read(), &shrunk);
}

#[test]
fn errors_and_interruptions() {
    expect("errors", Pass, &read(), &context());
    let failed = changed(read(), |p| {
        p.error_count = 7;
        p.errors.push(OperationError {
            rank: 1,
            kind: OperationKind::Read,
            file: "rank-1".into(),
            offset: Some(4096),
            message: "input/output error".into(),
            hint: None,
        });
    });
    let evidence = expect("errors", Fail, &failed, &context());
    assert!(evidence.contains("7 operations") && evidence.contains("`rank-1` at offset 4096"), "{evidence}");
    expect("errors", Fail, &changed(read(), |p| p.ranks[0].errors = 1), &context());
    for cause in [StopCause::Interrupted, StopCause::Error] {
        expect("interrupted", Fail, &changed(read(), |p| p.stopped_by = cause), &context());
    }
    expect("interrupted", Pass, &changed(read(), |p| p.stopped_by = StopCause::Time), &context());
}

fn zeros(host: &host::Environment) -> Context<'_> {
    Context { data_is_compressible: Some("zeros".into()), ..context_on(host) }
}

#[test]
fn data() {
    expect("verification", NotApplicable, &read(), &context());
    let verified = changed(read(), |p| p.verified_bytes = Bytes::gib(3));
    assert!(expect("verification", Pass, &verified, &context()).contains("3 GiB verified"));
    expect("verification", Fail, &changed(verified, |p| p.verify_failures = 1), &context());

    let zfs = host_with("zfs");
    expect("compressible-data", Pass, &write(), &context());
    expect("compressible-data", Note, &write(), &zeros(&HOST));
    expect("compressible-data", Fail, &write(), &zeros(&zfs));
    let mut compressing = host_with("btrfs");
    expect("compressible-data", Note, &write(), &zeros(&compressing));
    compressing.target.as_mut().unwrap().options = "rw,compress=zstd:3".into();
    expect("compressible-data", Fail, &write(), &zeros(&compressing));
    let mut vdo = HOST.clone();
    vdo.devices.push(BlockDevice { name: "dm-3".into(), model: "vdo0".into(), ..BlockDevice::default() });
    expect("compressible-data", Fail, &write(), &zeros(&vdo));
}

#[test]
fn times() {
    expect("first-last-gap", Pass, &read(), &context());
    let tail = changed(read(), |p| {
        p.first_done.elapsed_ns /= 2;
        p.ranks[1] = rank(5, LENGTH * SECOND + 1);
    });
    assert!(expect("first-last-gap", Note, &tail, &context()).contains("rank 5 was the slowest"));
    let lasting = |ns| changed(read(), |p| p.last_done.elapsed_ns = ns);
    expect("duration", Pass, &read(), &context());
    expect("duration", Note, &lasting(SECOND / 2), &context());
    expect("duration", Fail, &lasting(SECOND / 20), &context());
    expect("duration", Note, &changed(phase_of_entries(), |p| p.last_done.elapsed_ns = 9), &context());
    expect("start-skew", Pass, &read(), &context());
    expect("start-skew", Note, &changed(read(), |p| p.ranks[1].opened_ns = 5 * SECOND), &context());
    let mut slow = HOST.clone();
    slow.clock_source = "hpet".into();
    expect("clock-source", Note, &read(), &context_on(&slow));
    expect("clock-source", Pass, &read(), &context());
    let worn = changed(read(), |p| p.wear_out = true);
    expect("wear-out-capped", NotApplicable, &read(), &context());
    expect("wear-out-capped", Pass, &worn, &context());
    expect("wear-out-capped", Note, &changed(worn, |p| p.wear_out_capped = true), &context());
}

#[test]
fn repetitions() {
    let outcome = |rates: &[u64], rule: &str| {
        let check = test_checks(&test(rates)).into_iter().find(|c| c.rule == rule).unwrap();
        (check.outcome, check.evidence)
    };
    assert_eq!(outcome(&[100, 101, 99], "variance").0, Pass);
    let (seen, evidence) = outcome(&[100, 112, 96], "variance");
    assert!(seen == Note && evidence.contains("read 8 %"), "{evidence}");
    assert_eq!(outcome(&[100, 200, 50], "variance").0, Fail);
    assert_eq!(outcome(&[100], "variance").0, NotApplicable);
    assert_eq!(outcome(&[100, 100], "repetitions").0, Note);
    assert_eq!(outcome(&[100, 100, 100], "repetitions").0, Pass);
    assert_eq!(outcome(&[], "repetitions").0, NotApplicable);
    assert_eq!(outcome(&[120, 110, 100], "trend").0, Note);
    assert_eq!(outcome(&[100, 120, 110], "trend").0, Pass);
    assert_eq!(outcome(&[100, 120], "trend").0, NotApplicable);
}

#[track_caller]
fn expect_limit(cause: LimitCause, phase: &PhaseResult, context: &Context<'_>) {
    let limit = limit_of(phase, context, &phase_checks(phase, context));
    assert_eq!(limit.cause, cause, "{limit:?}");
    assert!(limit.evidence.chars().any(|c| c.is_ascii_digit()), "numbers: {limit:?}");
}

#[test]
fn limits() {
    expect_limit(LimitCause::QueueDepth, &read(), &context());
    let busy = changed(read(), |p| p.counters.traffic[0].busy_ns = LENGTH * SECOND);
    expect_limit(LimitCause::Device, &busy, &context());
    expect_limit(LimitCause::QueueDepth, &busy, &Context { direct: true, ..context() });
    expect_limit(LimitCause::Cpu, &changed(read(), |p| p.counters.cpu = cpu(0.99)), &context());
    expect_limit(LimitCause::Pacing, &changed(read(), |p| p.open_loop = true), &context());
    expect_limit(
        LimitCause::Cache,
        &changed(read(), |p| p.counters.traffic[0].read_bytes = Bytes::ZERO),
        &context(),
    );
    expect_limit(LimitCause::Beyond, &changed(read(), |p| p.engine.queue_depth = 64), &context());

    let mut remote = host_with("nfs4");
    let wire = changed(read(), |p| {
        p.counters.traffic[0].source = CounterSource::Nfs;
        p.counters.traffic[0].busy_ns = 0;
    });
    expect_limit(LimitCause::Beyond, &wire, &context_on(&remote));
    let speed = Some(Bandwidth::mib_per_second(105.0));
    remote.interfaces =
        vec![NetworkInterface { speed_bytes_per_second: speed, ..NetworkInterface::default() }];
    expect_limit(LimitCause::Network, &wire, &context_on(&remote));
    remote.interfaces.push(NetworkInterface::default());
    expect_limit(LimitCause::Beyond, &wire, &context_on(&remote));
}

fn phase_of_entries() -> PhaseResult {
    changed(phase(OperationKind::Stat), |p| {
        p.operations.iter_mut().for_each(|o| o.bytes = Bytes::ZERO);
        (p.first_done.bytes, p.last_done.bytes) = (Bytes::ZERO, Bytes::ZERO);
    })
}
