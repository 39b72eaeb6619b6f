"""How long planning takes: the whole catalog, all families, three clouds, one thread. The goal is 50 ms for a search."""

from rounds import print_table
from setup import run

GOAL_MS = 50


def compare(bench):
    rows = []
    for line in run([bench.programs.search]).output.splitlines():
        what, counted, median, low, high = line.split("\t")
        searched = what.startswith("examples/")
        # Candidates per millisecond are thousands per second.
        rate = f"{int(counted) / float(median):,.0f}" if searched else ""
        goal = f"{float(median) / GOAL_MS:.2f}" if searched else ""
        unit = "candidates" if searched else "machines"
        times = f"{float(median):.1f} [{float(low):.1f} – {float(high):.1f}]"
        rows.append([what, f"{int(counted):,} {unit}", times, goal, rate])
    print_table(
        "Planning with the whole catalog, all families, three clouds, one thread",
        "Median of 9 runs. Candidates are combinations of machine, disk tier and number of disks, and orders of services.",
        ["what", "looked at", "ms", f"to the goal of {GOAL_MS} ms", "1000 candidates/s"],
        rows,
    )
