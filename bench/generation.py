"""How fast one vCPU generates the data that Forebay writes. It must be far from what storage takes: the goal is 10 GB/s with AVX2."""

from rounds import print_table
from setup import run


def compare(bench):
    rows = []
    for line in run([bench.programs.generate]).output.splitlines():
        instructions, size, median, low, high = line.split("\t")
        rows.append([instructions, size, f"{median} [{low} – {high}]", f"{float(median) / 10:.2f}"])
    print_table(
        "Generating data that is unique per 8 bytes, one thread",
        "Median of 9 measurements of 100 ms, per second of the thread's CPU time.",
        ["instructions", "buffer", "GB/s", "to the goal of 10 GB/s"],
        rows,
    )
