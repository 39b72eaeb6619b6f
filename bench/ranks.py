"""What more ranks cost, and what being watched costs, where the storage costs as little as it can: on tmpfs."""

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import termios

from rounds import print_table, ratio, spread, take_turns
from setup import ENVIRONMENT, BenchError, run
from tools import forebay

RANKS = (1, 2, 16, 256)
ITEMS = 1 << 20
PHASES = ("create", "stat", "read", "remove")
READS = 1 << 22
WATCHED_SECONDS = 6


def compare(bench):
    place = bench.memory / "ranks"

    def fresh():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()

    def entries(ranks):
        fresh()
        changes = {"ranks = 1": f"ranks = {ranks}", "items = 1000000": f"items = {ITEMS // ranks}"}
        return forebay(bench, place, "entries", changes, phases=PHASES)

    def reads(ranks):
        fresh()
        changes = {
            "version = 1": f"version = 1\nranks = {ranks}",
            '"1GiB"': f'"{1024 // ranks}MiB"',
            "operations = 3072": f"operations = {max(3072 // ranks, 3)}",
            "operations = 1000000": f"operations = {READS // ranks}",
        }
        return forebay(bench, place, "read-4k", changes, engine="psync")

    both = {ranks: (lambda ranks=ranks: (*entries(ranks), reads(ranks))) for ranks in RANKS}
    results = take_turns(bench, "ranks, tmpfs", both)
    for number, phase in enumerate((*PHASES, "4 KiB random read")):
        show(phase, {ranks: [one[number] for one in measured] for ranks, measured in results.items()})
    watched(bench, place, fresh)
    shutil.rmtree(place, ignore_errors=True)


def show(phase, results):
    alone = [one.iops for one in results[1]]
    cpu_alone = [one.cpu_us for one in results[1]]
    rows = []
    for ranks, measured in results.items():
        rate, cpu = [one.iops for one in measured], [one.cpu_us for one in measured]
        rows.append(
            [str(ranks), spread([one / 1e3 for one in rate], 0), ratio(rate, alone), spread(cpu, 3), ratio(cpu, cpu_alone)]
        )
    print_table(
        f"{phase}, by ranks, on tmpfs",
        "The work is the same for each row, divided among the ranks; all are threads of one process.",
        ["ranks", "1000 operations/s", "to one rank", "CPU us per operation", "to one rank"],
        rows,
    )


def watched(bench, place, fresh):
    """Reads for some seconds, unwatched and watched in every way: what is lost of the rate."""

    def view(*options, terminal=False):
        def measure():
            fresh()
            text = (
                f'version = 1\nname = "watched"\nranks = {os.cpu_count()}\n[files]\nblock_size = "64MiB"\n'
                f'[[phases]]\nname = "read"\nstop = {{ time = "{WATCHED_SECONDS}s", repeat = true }}\n'
                '[[phases.jobs]]\nactivity.transfer = { order = "random", transfer_size = { fixed = "4KiB" } }\n'
            )
            spec = bench.disk / "watched.toml"
            spec.write_text(text)
            command = [bench.programs.forebay, "run", spec, "--target", place, "--runs-dir", bench.disk / "runs"]
            command += ["--report", "/dev/null", "--engine", "psync", *options]
            if terminal:
                run_on_terminal([str(part) for part in command])
            else:
                run_quietly([str(part) for part in command])
            return rate_of_last_run(bench)

        return measure

    results = take_turns(
        bench,
        "being watched",
        {
            "nothing (--live off)": view("--live", "off"),
            "lines (--live log)": view("--live", "log"),
            "--live-json": view("--live", "off", "--live-json", "/dev/null"),
            "--metrics": view("--live", "off", "--metrics", "127.0.0.1:0"),
            "the whole terminal": view("--live", "auto", terminal=True),
        },
    )
    unwatched = results["nothing (--live off)"]
    rows = [[name, spread([one / 1e3 for one in rate], 0), ratio(rate, unwatched)] for name, rate in results.items()]
    print_table(
        f"What being watched costs: 4 KiB random reads from tmpfs, {os.cpu_count()} ranks on as many vCPUs, {WATCHED_SECONDS} s",
        "Every vCPU is busy with reads: what a view needs is missing from the rate.",
        ["shown by", "1000 reads/s", "to nothing"],
        rows,
    )


def run_quietly(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode:
        raise BenchError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")


def run_on_terminal(command):
    """Runs it on a pseudo-terminal of 120 by 40 that somebody reads."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({**ENVIRONMENT, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"})
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    while True:
        select.select([terminal], [], [])
        try:
            if not os.read(terminal, 1 << 16):
                break
        except OSError:
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    if status:
        raise BenchError(f"`{' '.join(command)}` failed on a terminal: status {status}")


def rate_of_last_run(bench):
    """Operations per second of the phase `read`."""
    shown = run([bench.programs.forebay, "runs", "show", "latest", "--runs-dir", bench.disk / "runs", "--format", "json"])
    shutil.rmtree(bench.disk / "runs", ignore_errors=True)
    phases = json.loads(shown.output)["data"]["tests"][0]["repetitions"][0]["phases"]
    phase = next(phase for phase in phases if phase["name"] == "read")
    return sum(rank["operations"] for rank in phase["ranks"]) / (phase["last_done"]["elapsed_ns"] / 1e9)
