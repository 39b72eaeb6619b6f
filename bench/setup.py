"""What every comparison needs: the programs, the places to measure, and one way to run a command."""

import json
import os
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Tools answer in the language their output is read in.
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


class BenchError(Exception):
    """Something could not be run."""


@dataclass
class Programs:
    """What is built before anything is measured."""

    forebay: Path
    generate: Path
    search: Path
    pread_loop: Path
    entry_loop: Path


@dataclass
class Bench:
    """Where and how often to measure, and with which programs."""

    rounds: int
    disk: Path
    memory: Path
    programs: Programs


@dataclass
class Ran:
    """What a command printed, and the CPU seconds of its process with all threads and children."""

    output: str
    errors: str
    cpu_seconds: float


def missing_tools():
    needed = {"gcc": "gcc", "fio": "fio", "dd": "coreutils"}
    return [package for program, package in needed.items() if shutil.which(program) is None]


def run(command):
    """Runs one command at a time: the CPU time of its whole family is what the children's counters grew by."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise BenchError(f"`{' '.join(map(str, command))}` failed: {(done.stderr or done.stdout).strip()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(done.stdout, done.stderr, cpu)


def target_directory():
    metadata = run(["cargo", "metadata", "--format-version=1", "--no-deps", f"--manifest-path={ROOT / 'Cargo.toml'}"])
    return Path(json.loads(metadata.output)["target_directory"])


def build(target, scratch):
    """Builds what is measured. Cargo says itself what it does."""
    manifest = f"--manifest-path={ROOT / 'Cargo.toml'}"
    for what in (["--package=forebay"], ["--package=bench", "--example=generate"], ["--package=plan", "--example=search"]):
        command = ["cargo", "build", "--release", "--locked", manifest, *what]
        if subprocess.run(command, check=False).returncode != 0:
            raise BenchError("the build failed")
    loops = [scratch / name for name in ("pread_loop", "entry_loop")]
    for loop in loops:
        run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-o", loop, HERE / f"{loop.name}.c"])
    return Programs(target / "release/forebay", target / "release/examples/generate", target / "release/examples/search", *loops)
