"""Rate and CPU time of 4 KiB random reads past the page cache, one at a time and 32 at a time.

All tools read files of the same size on the same file system for the same time. What is compared is mostly the device, which a
shared machine does not give all of every second: look at the spread before the median.
"""

import shutil
import statistics

from rounds import label, print_table, ratio, spread, take_turns
from tools import fio, forebay, prepared_file

SECONDS = 4
# I/Os in flight, our engines, fio's.
DEPTHS = [(1, ("auto", "psync", "uring"), ("psync", "io_uring")), (32, ("auto",), ("io_uring", "libaio"))]


def compare(bench):
    place = bench.disk / "direct-random"
    file = prepared_file(bench, place, "direct-4k", {'time = "4s"': 'time = "1s"'})
    for depth, engines, fio_engines in DEPTHS:
        tools = {f"forebay {engine}": ours(bench, engine, depth) for engine in engines}
        tools |= {f"fio {engine}": theirs(file, engine, depth) for engine in fio_engines}
        show(depth, take_turns(bench, f"4 KiB random reads, O_DIRECT, depth {depth}", tools))
    shutil.rmtree(place)


def ours(bench, engine, depth):
    changes = {"queue_depth = 1": f"queue_depth = {depth}"}
    return lambda: forebay(bench, bench.disk, "direct-4k", changes, engine=engine)


def theirs(file, engine, depth):
    return lambda: fio(
        file, "--rw=randread", "--bs=4k", "--size=1g", "--direct=1", "--norandommap=1", "--time_based",
        f"--runtime={SECONDS}", f"--ioengine={engine}", f"--iodepth={depth}",
    )  # fmt: skip


def show(depth, results):
    peers = [name for name in results if name.startswith("fio")]
    best = max(peers, key=lambda name: statistics.median(r.iops for r in results[name]))
    lean = min(peers, key=lambda name: statistics.median(r.cpu_us for r in results[name]))
    rows = []
    for name, measured in results.items():
        rate, cpu = [r.iops for r in measured], [r.cpu_us for r in measured]
        rows.append([
            label(name, measured), spread(rate, 0), ratio(rate, [r.iops for r in results[best]]),
            spread(cpu, 2), ratio(cpu, [r.cpu_us for r in results[lean]]),
        ])  # fmt: skip
    print_table(
        f"4 KiB random reads of a 1 GiB file with O_DIRECT, {depth} in flight, {SECONDS} s",
        "CPU time: user and system of the threads that do the I/O, as each tool reports it.",
        ["tool", "IOPS", f"to {best}", "CPU µs per read", f"to {lean}"],
        rows,
    )
