"""Measure how soon commands answer: elapsed and CPU time, peak memory and first line, relative to `import torch`.

    python -m benchmarks.startup [--rounds 7] [--out benchmarks/startup/results/startup.md]

Each round runs each command once, in turn, so that the machine's other load affects all alike; a first round fills the
caches and does not count. Medians are reported. Ratios are to `python -c "import torch"`, a lower bound for commands
that import torch, and are taken within each round. The module imports only the standard library, because a child's
memory is never reported below its parent's.
"""

from __future__ import annotations

import argparse
import os
import platform
import select
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RANK = "-m linker.cli.main rank --article data/article.html --posts data/posts.jsonl"
TORCH = "import torch"
PACKAGES = ("torch", "numpy", "scipy", "trafilatura", "typer", "transformers")


@dataclass(frozen=True)
class Case:
    """A measured command.

    Attributes:
        name: how the table calls it.
        arguments: what follows `python`.
        goal: what it should stay below on two cores; empty: no goal.
    """

    name: str
    arguments: str
    goal: str = ""


CASES = [
    Case(TORCH, f'-c "{TORCH}"'),
    Case("linker --version", "-m linker.cli.main --version"),
    Case("linker --help", "-m linker.cli.main --help"),
    Case("linker config check", "-m linker.cli.main config check configs/quickstart.jsonnet"),
    Case(
        "linker rank --model bm25",
        f"{RANK} --model bm25",
        "1.2 s, 130 MiB, first line 0.5 s",
    ),
    Case("linker rank --model tfidf", f"{RANK} --model tfidf"),
    Case(
        "linker rank --model distilled",
        f"{RANK} --model distilled",
        "1.5 s, first line 0.5 s",
    ),
    Case("linker rank --model best", f"{RANK} --model best"),
]


@dataclass(frozen=True)
class Run:
    """One run of a command.

    Attributes:
        wall: seconds from the start of the process to its end.
        cpu: seconds of all its threads.
        peak: mebibytes of resident memory at most.
        first: seconds until it wrote to standard error; NaN where it never did.
    """

    wall: float
    cpu: float
    peak: float
    first: float


def timed(arguments: str, terminal: bool) -> Run:
    """Run a command with a terminal or a pipe for standard error."""
    ours, theirs = os.openpty() if terminal else os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    begun = time.perf_counter()
    command = [sys.executable, *shlex.split(arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=ROOT, env=environment)
    os.close(theirs)
    first, output = float("nan"), b""
    while True:
        select.select([ours], [], [])
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # A terminal raises it when its last writer has exited.
            break
        if not piece:
            break
        first = first if output else time.perf_counter() - begun
        output += piece
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    os.close(ours)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"python {arguments}: exit code {process.returncode}\n{output.decode()}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, first)


def row(case: Case, piped: list[Run], on_terminal: list[Run], reference: list[Run]) -> str:
    """Return the medians of a command as a row of the table."""

    def median(name: str) -> float:
        return statistics.median(getattr(run, name) for run in piped)

    def ratio(name: str) -> float:
        pairs = zip(piped, reference, strict=True)
        return statistics.median(getattr(run, name) / getattr(other, name) for run, other in pairs)

    firsts = [statistics.median(run.first for run in runs) for runs in (piped, on_terminal)]
    cells = [
        f"`{case.name}`" if case.name != TORCH else f'`python -c "{TORCH}"`',
        *(f"{value:.2f}" for value in (median("wall"), ratio("wall"), median("cpu"), ratio("cpu"))),
        f"{median('peak'):.0f}",
        *("–" if first != first else f"{first:.2f}" for first in firsts),
        case.goal,
    ]
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    """Return processor, cores, memory and versions."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if "model name" in line]
        model = lines[0].partition(":")[2].strip() if lines else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{model}, {cores} cores, {memory:.0f} GiB, Python {platform.python_version()}, {versions}"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, help="page to write (default: standard output)")
    options = parser.parse_args()
    loads = [os.getloadavg()[0]]
    runs: dict[tuple[str, bool], list[Run]] = {}
    for number in range(options.rounds + 1):
        for case in CASES:
            for terminal in (False, True):
                run = timed(case.arguments, terminal)
                if number:
                    runs.setdefault((case.name, terminal), []).append(run)
        print(f"round {number} of {options.rounds} done", file=sys.stderr)
    loads.append(os.getloadavg()[0])
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=7", "--dirty=+"]
    commit = subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
    reference = runs[TORCH, False]
    lines = [
        "# How soon commands answer",
        "",
        f"`python -m benchmarks.startup --rounds {options.rounds}`, load average before and after: "
        f"{' and '.join(f'{load:.1f}' for load in loads)}.",
        f"{machine()}.",
        "",
        f"Medians of {options.rounds} rounds after one that filled the caches. The sample: one page and 1,095 posts.",
        'Ratios are to `python -c "import torch"` in the same round; they depend less on the machine than seconds do.',
        "",
        f"## Commit {commit}",
        "",
        "| command | wall, s | / torch | CPU, s | / torch | peak, MiB | first line, s: pipe | terminal | goal |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(case, runs[case.name, False], runs[case.name, True], reference) for case in CASES),
        "",
        "## Commands",
        "",
        "| row | command |",
        "|---|---|",
        *(f"| {case.name} | `python {case.arguments}` |" for case in CASES),
    ]
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
