"""One file of 1 GiB written in 1 MiB transfers and made durable, then read from a cold page cache: buffered and with O_DIRECT.

Every tool writes a new file and reads the one it wrote. Write rates end after the fsync. Before each read the file's pages are
dropped from the page cache, in the same way for all. Forebay generates every byte anew, and so does fio
when it is told to ("new data"); by itself it writes one buffer over and over with a few bytes changed, and dd writes zeros. The
CPU time includes that. fio is told not to preallocate, since nobody else does.
"""

import shutil
import statistics

from rounds import label, print_table, ratio, spread, take_turns
from tools import dd, drop_cache, fio, forebay

MIB = 1024


def compare(bench):
    for direct in (False, True):
        place = bench.disk / "sequential"
        place.mkdir()
        tools = {f"forebay {engine}": ours(bench, direct, engine) for engine in ("auto", "psync")}
        tools |= {f"fio {name}": theirs(place, direct, *options) for name, options in FIO.items()}
        tools["dd"] = by_dd(place, direct)
        results = take_turns(bench, f"1 MiB sequential, {kind(direct)}", tools)
        shutil.rmtree(place)
        for number, phase in enumerate(("write", "read")):
            show(phase, direct, {name: [both[number] for both in measured] for name, measured in results.items()})


FIO = {
    "psync": ("--ioengine=psync",),
    "psync, new data": ("--ioengine=psync", "--refill_buffers"),
    "io_uring": ("--ioengine=io_uring", "--iodepth=1"),
}


def kind(direct):
    return "O_DIRECT" if direct else "buffered"


def ours(bench, direct, engine):
    def measure():
        changes = {"direct = false": f"direct = {str(direct).lower()}"}
        return forebay(bench, bench.disk, "sequential-1m", changes, engine=engine, phases=("write", "read"))

    return measure


def theirs(place, direct, *engine):
    options = ["--bs=1m", "--size=1g", f"--direct={int(direct)}", *engine]

    def measure():
        file = place / "data"
        written = fio(file, "--rw=write", "--end_fsync=1", "--fallocate=none", *options)
        drop_cache(file)
        read = fio(file, "--rw=read", *options)
        file.unlink()
        return written, read

    return measure


def by_dd(place, direct):
    def measure():
        file = place / "data"
        written = dd("/dev/zero", file, f"count={MIB}", "conv=fsync", *(["oflag=direct"] if direct else []))
        drop_cache(file)
        read = dd(file, "/dev/null", *(["iflag=direct"] if direct else []))
        file.unlink()
        return written, read

    return measure


def show(phase, direct, results):
    if phase == "read":
        # What was written does not matter any more.
        results = {name: measured for name, measured in results.items() if not name.endswith("new data")}
    peers = [name for name in results if name.startswith("fio") and not name.endswith("new data")]
    fastest = max(peers, key=lambda name: statistics.median(rates(results[name])))
    leanest = min(peers, key=lambda name: statistics.median(cpu(results[name])))
    rows = []
    for name, measured in results.items():
        rows.append([
            label(name, measured), spread(rates(measured), 0), ratio(rates(measured), rates(results[fastest])),
            ratio(rates(measured), rates(results["dd"])),
            spread(cpu(measured), 0), ratio(cpu(measured), cpu(results[leanest])),
        ])  # fmt: skip
    print_table(
        f"1 MiB sequential {phase}, {kind(direct)}, 1 GiB" + (", fsync at the end" if phase == "write" else ", cold cache"),
        "CPU time: user and system of the threads that do the I/O, as each tool reports it (dd: of the process).",
        ["tool", "MiB/s", f"to {fastest}", "to dd", "CPU µs per MiB", f"to {leanest}"],
        rows,
    )


def rates(measured):
    return [result.iops for result in measured]


def cpu(measured):
    return [result.cpu_us for result in measured]
