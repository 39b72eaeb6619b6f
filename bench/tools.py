"""How each tool is told to do the same thing, and where it says what came of it."""

import functools
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from setup import HERE, BenchError, run


@dataclass
class Result:
    """One measurement. The CPU time is that of the measured part: no start-up, no preparation of files."""

    operations: int
    seconds: float
    cpu_seconds: float
    process_cpu_seconds: float
    engine: str = ""

    @property
    def iops(self):
        return self.operations / self.seconds

    @property
    def cpu_us(self):
        return self.cpu_seconds / self.operations * 1e6


def forebay(bench, place, workload, changes=None, engine=None, phases=("read",), keep=False):
    """Runs bench/workloads/WORKLOAD.toml with `changes` (text to replace) and returns the results of the named phases; of one
    phase just the result."""
    text = (HERE / "workloads" / f"{workload}.toml").read_text()
    for old, new in (changes or {}).items():
        if old not in text:
            raise BenchError(f"{workload}.toml no longer holds `{old}`")
        text = text.replace(old, new)
    spec = bench.disk / "workload.toml"
    spec.write_text(text)
    command = [bench.programs.forebay, "run", spec, "--target", place, "--runs-dir", bench.disk / "runs"]
    command += ["--report", "/dev/null", "--format", "json", "--quiet"]
    command += ["--engine", engine] if engine else []
    command += ["--keep-files"] if keep else []
    ran = run(command)
    found = json.loads(ran.output)["data"]["tests"][0]["repetitions"][0]["phases"]
    shutil.rmtree(bench.disk / "runs", ignore_errors=True)
    results = tuple(phase_result(found, name, ran.cpu_seconds) for name in phases)
    return results if len(results) > 1 else results[0]


def phase_result(phases, name, process_cpu):
    phase = next(phase for phase in phases if phase["name"] == name)
    if phase["error_count"]:
        raise BenchError(f"phase `{name}`: {phase['errors'][0]['message']}")
    others = sum(rank["cpu_ns"] for other in phases if other is not phase for rank in other["ranks"]) / 1e9
    own = sum(rank["cpu_ns"] for rank in phase["ranks"]) / 1e9
    # The kernel hands buffered I/O of a ring to threads that are not the rank's: then all that the process used counts.
    workers = phase["engine"]["name"] == "uring" and not phase["engine"]["direct"]
    return Result(
        operations=sum(rank["operations"] for rank in phase["ranks"]),
        seconds=phase["last_done"]["elapsed_ns"] / 1e9,
        cpu_seconds=process_cpu - others if workers else own,
        process_cpu_seconds=process_cpu - others,
        engine=phase["engine"]["name"],
    )


def forebay_ior(bench, file, order, size, count):
    """Reads `file` through `forebay ior`: in random order that often, in order as many times as come nearest."""
    passes = max(1, round(count * size / Path(file).stat().st_size))
    times = ["-zz", "-b", str(size), "-s", str(count)] if order == "random" else ["-b", str(Path(file).stat().st_size), "-i", str(passes)]
    command = [bench.programs.forebay, "ior", "-r", "-k", "-t", str(size), *times, "-o", file]
    command += ["--runs-dir", bench.disk / "runs", "--report", "/dev/null", "--format", "json", "--quiet"]
    ran = run(command)
    found = json.loads(ran.output)["data"]["tests"][0]["repetitions"]
    shutil.rmtree(bench.disk / "runs", ignore_errors=True)
    each = [phase_result(repetition["phases"], "read", ran.cpu_seconds) for repetition in found]
    return Result(
        operations=sum(result.operations for result in each),
        seconds=sum(result.seconds for result in each),
        cpu_seconds=sum(result.cpu_seconds for result in each),
        process_cpu_seconds=ran.cpu_seconds,
    )


def prepared_file(bench, place, workload, changes=None, engine="psync"):
    """The data file of a run that keeps it, for the other tools."""
    place.mkdir()
    forebay(bench, place, workload, changes, engine=engine, keep=True)
    return kept_file(place)


def kept_file(place):
    """The data file of a run that kept its files."""
    files = sorted(path for path in Path(place).rglob("*") if path.is_file() and path.stat().st_size >= 1 << 20)
    if not files:
        raise BenchError(f"no data file was kept in {place}")
    return files[0]


def fio(file, *options):
    """Runs fio on a file. Its CPU time is that of the job, as fio itself reports it."""
    ran = fio_command(f"--filename={file}", "--randrepeat=0", *options)
    job = json.loads(ran.output[ran.output.index("{") :])["jobs"][0]
    if job["error"]:
        raise BenchError(f"fio failed with error {job['error']}")
    kind = "read" if job["read"]["total_ios"] else "write"
    own = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3
    # As with our own ring: buffered I/O is done by the kernel's threads, which fio does not count.
    workers = "--ioengine=io_uring" in options and "--direct=1" not in options
    return Result(
        operations=job[kind]["total_ios"],
        seconds=job["job_runtime"] / 1e3,
        cpu_seconds=max(own, ran.cpu_seconds - fio_start_up()) if workers else own,
        process_cpu_seconds=ran.cpu_seconds,
    )


def fio_command(*options):
    return run(["fio", "--name=job", "--output-format=json", *options])


@functools.cache
def fio_start_up():
    """CPU seconds that fio takes to do nothing."""
    nothing = ("--ioengine=null", "--size=4k", "--bs=4k")
    return sorted(fio_command(*nothing).cpu_seconds for _ in range(3))[1]


def dd(source, target, *options):
    """Runs dd with 1 MiB blocks. Its rate counts from the first byte to the end of its own fsync."""
    ran = run(["dd", f"if={source}", f"of={target}", "bs=1M", *options])
    found = re.search(r"(\d+) bytes .* copied, ([0-9.e-]+) s", ran.errors)
    if found is None:
        raise BenchError(f"dd said `{ran.errors.strip()}`")
    return Result(int(found[1]) >> 20, float(found[2]), ran.cpu_seconds, ran.cpu_seconds)


def drop_cache(file):
    """Drops a file's pages from the page cache, in the way that Forebay does it."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def pread_loop(bench, file, order, size, count):
    ran = run([bench.programs.pread_loop, file, order, size, count])
    user, system, elapsed = map(float, ran.output.split())
    return Result(count, elapsed, user + system, ran.cpu_seconds)
