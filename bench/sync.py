"""forebay sync beside cp, tar and rsync: many small files, few large ones, a rescan, a changed file.

Sizes follow the machine: three tenths of what is free on the tmpfs, at most 100,000 files, 20 x 256 MiB and 8 GiB.
"""

import math
import random
import shutil
import statistics
import time

from setup import run

MIB = 1 << 20


def small_files(root, count, seed=20260101):
    """Files of log-normal sizes, 16 KiB on average, 100 in a directory."""
    rng = random.Random(seed)
    pool = rng.randbytes(16 * MIB)
    mu = math.log(16384) - 1.5 * 1.5 / 2
    for number in range(count):
        folder = number // 100
        path = root / f"d{folder // 32:03d}" / f"s{folder:05d}"
        if number % 100 == 0:
            path.mkdir(parents=True)
        size = min(int(rng.lognormvariate(mu, 1.5)), 8 * MIB)
        start = rng.randrange(len(pool) - size)
        (path / f"file_{number:06d}.dat").write_bytes(pool[start : start + size])


def tiny_files(root, count):
    """Files of 0 to 15 bytes, 200 in a directory."""
    for number in range(count):
        folder = number // 200
        path = root / f"d{folder // 50:03d}" / f"s{folder:05d}"
        if number % 200 == 0:
            path.mkdir(parents=True)
        (path / f"f{number:06d}").write_bytes(b"x" * (number % 16))


def large_file(path, size, seed):
    rng = random.Random(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        for _ in range(size // (8 * MIB)):
            file.write(rng.randbytes(8 * MIB))


def change_leaves(path, share, seed=5):
    """Overwrites this share of the 64 KiB blocks; returns the bytes changed."""
    rng = random.Random(seed)
    blocks = path.stat().st_size // 65536
    chosen = rng.sample(range(blocks), max(1, int(blocks * share)))
    with open(path, "r+b") as file:
        for block in chosen:
            file.seek(block * 65536)
            file.write(rng.randbytes(65536))
    return len(chosen) * 65536


def timed(command):
    """Seconds and CPU seconds of a command."""
    start = time.monotonic()
    ran = run(command)
    return time.monotonic() - start, ran.cpu_seconds


def clear(path):
    shutil.rmtree(path, ignore_errors=True)


def tools(bench, source, target, state):
    """Commands that copy source to target, by name."""
    found = {
        "forebay sync": [str(bench.programs.forebay), "sync", source, target, "--state", state, "-q"],
        "cp -a": ["cp", "-a", source, target],
        "tar pipe": ["sh", "-c", f"mkdir {target} && tar -C {source} -cf - . | tar -C {target} -xf -"],
    }
    if shutil.which("rsync"):
        found["rsync -a"] = ["rsync", "-a", f"{source}/", target]
    return found


def table(title, rows, base):
    """Medians, ranges, and ratios of the same round."""
    print(f"### {title}\n\n| tool | s | to {base} | CPU s |\n|---|---:|---:|---:|")
    for name, runs in rows.items():
        seconds = [run[0] for run in runs]
        ratio = statistics.median(run[0] / other[0] for run, other in zip(runs, rows[base]))
        cpu = statistics.median(run[1] for run in runs)
        spread = f"{statistics.median(seconds):.2f} [{min(seconds):.2f} – {max(seconds):.2f}]"
        print(f"| {name} | {spread} | {ratio:.2f} | {cpu:.2f} |")
    print(flush=True)


def first_copy(bench, title, source):
    target, state = bench.memory / "target", bench.memory / "state"
    commands = tools(bench, str(source), str(target), str(state))
    rows = {name: [] for name in commands}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            clear(target)
            clear(state)
            rows[name].append(timed(command))
    clear(target)
    clear(state)
    table(title, rows, "cp -a")


def rescan(bench, count):
    source, target, state = bench.disk / "tiny", bench.disk / "tiny-copy", bench.disk / "tiny-state"
    tiny_files(source, count)
    sync = [str(bench.programs.forebay), "sync", str(source), str(target), "--state", str(state), "-q"]
    run(sync)
    find = ["find", str(source), "-printf", "%s %T@ %i\n"]
    commands = {"forebay sync": sync, "find -printf (one tree)": find}
    if shutil.which("rsync"):
        commands["rsync -a"] = ["rsync", "-a", f"{source}/", str(target)]
    for command in commands.values():
        timed(command)
    rows = {name: [] for name in commands}
    for _ in range(bench.rounds):
        for name, command in commands.items():
            rows[name].append(timed(command))
    for path in (source, target, state):
        clear(path)
    table(f"Nothing changed: {count:,} files on disk, warm", rows, "find -printf (one tree)")


def delta(bench, size):
    source, target, state = (bench.memory / name for name in ("delta", "delta-copy", "delta-state"))
    path = source / "large"
    large_file(path, size, 3)
    sync = [str(bench.programs.forebay), "sync", str(source), str(target), "--state", str(state), "-q"]
    run(sync)
    rows = {"forebay sync": [], "forebay sync, state lost": [], "cp (whole file)": []}
    for number in range(bench.rounds):
        change_leaves(path, 0.01, number)
        rows["forebay sync"].append(timed(sync))
        change_leaves(path, 0.01, number + 100)
        clear(state)
        rows["forebay sync, state lost"].append(timed(sync))
        rows["cp (whole file)"].append(timed(["cp", str(path), str(target / "other")]))
        (target / "other").unlink()
    for place in (source, target, state):
        clear(place)
    table(f"1 % of the 64 KiB blocks of {size / (1 << 30):.1f} GiB changed, tmpfs", rows, "cp (whole file)")


def insert_in_front(path, count, seed):
    """Puts so many bytes in front of a file, without reading it into memory."""
    new = path.with_suffix(".new")
    with open(new, "wb") as file, open(path, "rb") as old:
        file.write(random.Random(seed).randbytes(count))
        while piece := old.read(8 * MIB):
            file.write(piece)
        file.truncate()
    new.rename(path)


def moved(bench, size):
    """One byte more in front: nothing stands where it stood. Needs three times the size."""
    source, target, state = (bench.memory / name for name in ("moved", "moved-copy", "moved-state"))
    path = source / "large"
    large_file(path, size, 4)
    sync = [str(bench.programs.forebay), "sync", str(source), str(target), "--state", str(state), "-q"]
    run(sync)
    rows = {"forebay sync": [], "forebay sync, state lost": [], "forebay sync --delta off": []}
    for number in range(bench.rounds):
        insert_in_front(path, 1, number)
        rows["forebay sync --delta off"].append(timed([*sync, "--delta", "off"]))
        insert_in_front(path, 1, number + 100)
        clear(state)
        rows["forebay sync, state lost"].append(timed(sync))
        insert_in_front(path, 1, number + 200)
        rows["forebay sync"].append(timed(sync))
    if shutil.which("rsync"):
        rows["rsync --no-whole-file"] = []
        for number in range(bench.rounds):
            insert_in_front(path, 1, number + 300)
            rows["rsync --no-whole-file"].append(timed(["rsync", "-a", "--no-whole-file", f"{source}/", str(target)]))
    for place in (source, target, state):
        clear(place)
    table(f"1 byte inserted in front of {size / (1 << 30):.1f} GiB, tmpfs", rows, "forebay sync --delta off")


def compare(bench):
    free = shutil.disk_usage(bench.memory).free
    scale = min(1.0, free * 0.3 / (5.4 * (1 << 30)))
    print("## forebay sync\n")
    source = bench.memory / "small"
    count = max(1000, int(100_000 * min(1.0, scale * 2)) // 100 * 100)
    small_files(source, count)
    first_copy(bench, f"{count:,} small files, tmpfs to tmpfs", source)
    clear(source)
    source = bench.memory / "large"
    each = max(8, int(256 * scale)) // 8 * 8 * MIB
    for number in range(20):
        large_file(source / f"f{number:02d}", each, number)
    first_copy(bench, f"20 files of {each // MIB} MiB, tmpfs to tmpfs", source)
    clear(source)
    rescan(bench, int(500_000 * min(1.0, scale * 2)))
    size = int(8 * scale) * (1 << 30) or (1 << 30)
    delta(bench, size)
    moved(bench, size)
