"""CPU seconds per million 4 KiB reads from memory: what the tool itself costs, when the storage costs as little as it can.

The whole process counts: user and system time, all threads and children. Each measurement is the slope between a short and a
long run, so start-up and the making of files drop out. In each round all tools read the very file that Forebay has made and
read: where its pages lie in memory moves the cost of a read by several percent.
"""

import shutil

from rounds import print_table, ratio, spread, take_turns
from tools import fio, forebay, forebay_ior, kept_file, pread_loop

SHORT, LONG = 200_000, 2_200_000
SIZE = 4096
LOOP = "C pread loop"


def compare(bench):
    for order in ("random", "sequential"):
        measure(bench, order)


def measure(bench, order):
    place = bench.memory / "cpu-per-read"
    rw = {"random": "randread", "sequential": "read"}[order]

    def ours(count):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        changes = {"operations = 1000000": f"operations = {count}", 'order = "random"': f'order = "{order}"'}
        return forebay(bench, place, "read-4k", changes, engine="psync", keep=True)

    def loop(count):
        return pread_loop(bench, kept_file(place), order, SIZE, count)

    def named(count):
        return forebay_ior(bench, kept_file(place), order, SIZE, count)

    def theirs(*options):
        return lambda count: fio(
            kept_file(place), f"--rw={rw}", "--bs=4k", f"--io_size={count * SIZE}", "--norandommap=1", "--invalidate=0",
            "--ioengine=psync", *options,
        )  # fmt: skip

    results = take_turns(
        bench,
        f"4 KiB {order} reads, tmpfs",
        {
            "forebay psync": lambda: slope(ours),
            "forebay ior": lambda: slope(named),
            LOOP: lambda: slope(loop),
            "fio psync --gtod_reduce=1": lambda: slope(theirs("--gtod_reduce=1")),
            "fio psync": lambda: slope(theirs()),
        },
        shuffle=False,
    )
    shutil.rmtree(place)
    show(order, results)


def show(order, results):
    loop_process, loop_own, _ = zip(*results[LOOP])
    rows = []
    for name, measured in results.items():
        process, own, rate = zip(*measured)
        rows.append([
            name, spread(process, 3), ratio(process, loop_process), spread(own, 3), ratio(own, loop_own), spread(rate, 0),
        ])  # fmt: skip
    print_table(
        f"CPU per 4 KiB {order} read of a 1 GiB file on tmpfs, one process",
        "CPU seconds (user and system) per million reads: of the whole process, and as the tool counts its own loop.",
        ["tool", "process, CPU s", "to the loop", "own count, CPU s", "to the loop", "1000 reads/s"],
        rows,
    )


def slope(measure_once):
    """CPU seconds per million reads (process, own count) and thousand reads per second, between a short and a long run."""
    short, long = measure_once(SHORT), measure_once(LONG)
    done = long.operations - short.operations
    return (
        (long.process_cpu_seconds - short.process_cpu_seconds) / done * 1e6,
        (long.cpu_seconds - short.cpu_seconds) / done * 1e6,
        done / (long.seconds - short.seconds) / 1e3,
    )
