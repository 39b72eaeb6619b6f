"""CPU per operation on entries in memory, as mdtest does them: what the tool adds to the system calls themselves.

Phases are of millions of items: short ones measure how warm the kernel's caches of inodes are. Each round both tools make and
remove a directory of their own.
"""

import shutil

from rounds import print_table, ratio, spread, take_turns
from setup import BenchError, run
from tools import Result, forebay

COUNT = 2_000_000
PHASES = ("create", "stat", "read", "remove")
LOOP = "C loop, openat(dirfd)"
SAME_CALLS = {"forebay": LOOP, "forebay, paths": "C loop, full paths"}


def compare(bench):
    place = bench.memory / "entries"

    def ours(relative):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        changes = {"items = 1000000": f"items = {COUNT}"}
        if not relative:
            changes["relative = true"] = "relative = false"
        return forebay(bench, place, "entries", changes, phases=PHASES)

    def loop(kind):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        lines = run([bench.programs.entry_loop, place, kind, COUNT]).output.splitlines()
        if len(lines) != len(PHASES):
            raise BenchError("entry_loop did not do all of its phases")
        times = [tuple(map(float, line.split())) for line in lines]
        return tuple(Result(COUNT, elapsed, user + system, user + system) for user, system, elapsed in times)

    results = take_turns(
        bench,
        "operations on entries, tmpfs",
        {
            "forebay": lambda: ours(True),
            LOOP: lambda: loop("at"),
            "forebay, paths": lambda: ours(False),
            "C loop, full paths": lambda: loop("paths"),
        },
    )
    shutil.rmtree(place)
    for number, phase in enumerate(PHASES):
        show(phase, {name: [one[number] for one in measured] for name, measured in results.items()})


def show(phase, results):
    rows = []
    for name, measured in results.items():
        peers = results[SAME_CALLS.get(name, name)]
        cpu, peer = [one.cpu_us for one in measured], [one.cpu_us for one in peers]
        rate = [one.iops / 1e3 for one in measured]
        rows.append([name, spread(cpu, 3), ratio(cpu, peer), spread(rate, 0)])
    print_table(
        f"{phase}: {COUNT:,} empty files in one directory on tmpfs, one rank",
        "CPU microseconds (user and system) per operation, and to the loop that names files in the same way.",
        ["tool", "CPU us", "to the loop", "1000 operations/s"],
        rows,
    )
