"""Takes the tools in turn and sums up: medians, spread, ratios."""

import statistics
import sys


def take_turns(bench, title, tools, rotate=True):
    """Runs every tool once per round, each round beginning with the next tool. `tools` maps a name to a function that
    measures once; returns the measurements by name, in order of the rounds. Without `rotate` the order stays: for tools that
    work on what the first one leaves."""
    results = {name: [] for name in tools}
    names = list(tools)
    for number in range(bench.rounds):
        first = number % len(names) if rotate else 0
        for name in names[first:] + names[:first]:
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
