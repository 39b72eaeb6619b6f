"""Takes the tools in turn and sums up: medians, spread, ratios."""

import os
import random
import statistics
import sys


def take_turns(bench, title, tools, shuffle=True):
    """Runs every tool once per round, each round in another order: nobody always follows the same. `tools` maps a name to a
    function that measures once; returns the measurements by name, in order of the rounds. Without `shuffle` the order stays:
    for tools that work on what the first one leaves."""
    results = {name: [] for name in tools}
    for number in range(bench.rounds):
        order = list(tools)
        if shuffle:
            random.Random(number).shuffle(order)
        for name in order:
            # Nobody pays for what the one before left to write.
            os.sync()
            progress(f"{title}: round {number + 1} of {bench.rounds}, {name}")
            results[name].append(tools[name]())
    progress("")
    return results


def progress(line):
    if sys.stderr.isatty():
        print(f"\r{line:<110}", end="\r", file=sys.stderr, flush=True)


def spread(values, digits):
    """Median [minimum to maximum]."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:,.{digits}f} [{low:,.{digits}f} – {high:,.{digits}f}]"


def ratio(values, peers):
    """Median of the rounds' own ratios: what slowed a whole round down cancels out."""
    return f"{statistics.median(value / peer for value, peer in zip(values, peers)):.2f}"


def label(name, measured):
    """The tool's name, and the engines that it chose itself."""
    chosen = sorted({result.engine for result in measured})
    return f"{name} ({', '.join(chosen)})" if name.endswith("auto") else name


def print_table(title, remark, header, rows):
    print(f"### {title}\n\n{remark}\n")
    print(f"| {' | '.join(header)} |")
    print(f"|{'|'.join(['---'] + ['---:'] * (len(header) - 1))}|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)
