"""Measure how soon commands answer: elapsed and CPU time, peak memory and first line, relative to `import torch`.

    python -m benchmarks.startup [--rounds 7] [--before FOLDER] [--out benchmarks/startup/results/startup.md]

Each round runs each command once, in turn, so that the machine's other load affects all alike; a first round fills the
caches and does not count. Medians are reported. Ratios are to `python -c "import torch"`, a lower bound for commands
that import torch, and are taken within each round. `--before` also measures another checkout of this repository. The
module imports only the standard library, because a child's memory is never reported below its parent's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import select
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = "--article data/article.html --posts data/posts.jsonl"
TORCH = "import torch"
PACKAGES = ("torch", "numpy", "scipy", "trafilatura", "typer", "transformers")


@dataclass(frozen=True)
class Case:
    """A measured command.

    Attributes:
        name: how the table calls it.
        arguments: what follows `python`.
        seconds: the wall-clock time that it should stay below on two cores; None: no goal.
        mebibytes: the peak memory that it should stay below; None: no goal.
    """

    name: str
    arguments: str
    seconds: float | None = None
    mebibytes: float | None = None


CASES = [
    Case(TORCH, f'-c "{TORCH}"'),
    Case("linker --version", "-m linker.cli.main --version"),
    Case("linker --help", "-m linker.cli.main --help"),
    Case("linker config check", "-m linker.cli.main config check configs/quickstart.jsonnet"),
    Case("linker rank --model bm25", f"-m linker.cli.main rank {SAMPLE} --model bm25", 1.2, 130),
    Case("linker rank --model tfidf", f"-m linker.cli.main rank {SAMPLE} --model tfidf"),
    Case("linker rank --model distilled", f"-m linker.cli.main rank {SAMPLE} --model distilled", 1.5),
    Case("linker rank --model best", f"-m linker.cli.main rank {SAMPLE} --model best"),
]


@dataclass(frozen=True)
class Run:
    """One run of a command.

    Attributes:
        wall: seconds from the start of the process to its end.
        cpu: seconds of all its threads.
        peak: mebibytes of resident memory at most.
        first: seconds until it wrote to standard error, a pipe; NaN where it never did.
        first_terminal: the same on a terminal, in a run of its own.
    """

    wall: float
    cpu: float
    peak: float
    first: float
    first_terminal: float


def measured(arguments: str, folder: Path) -> Run:
    """Run a command twice, with a pipe and with a terminal for standard error."""
    wall, cpu, peak, first = timed(arguments, folder, terminal=False)
    first_terminal = timed(arguments, folder, terminal=True)[3] if sys.platform != "win32" else float("nan")
    return Run(wall, cpu, peak, first, first_terminal)


def timed(arguments: str, folder: Path, terminal: bool) -> tuple[float, float, float, float]:
    """Wall-clock and CPU seconds, peak MiB, and seconds until the first byte on standard error."""
    ours, theirs = os.openpty() if terminal else os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(folder), "TERM": "xterm"}
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *shlex.split(arguments)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        cwd=folder,
        env=environment,
    )
    os.close(theirs)
    first = float("nan")
    output = b""
    while True:
        select.select([ours], [], [])
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # A terminal raises it when its last writer has exited.
            break
        if not piece:
            break
        if not output:
            first = time.perf_counter() - begun
        output += piece
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    os.close(ours)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"python {arguments}: exit code {process.returncode}\n{output.decode()}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, first


def rounds(count: int, folders: Sequence[Path]) -> dict[tuple[Path, str], list[Run]]:
    """Runs of every command in every folder, in turn; what each imports first is not counted."""
    found: dict[tuple[Path, str], list[Run]] = {
        (folder, case.name): [] for folder in folders for case in CASES
    }
    for number in range(count + 1):
        for case in CASES:
            for folder in folders:
                run = measured(case.arguments, folder)
                if number:
                    found[folder, case.name].append(run)
        print(f"round {number} of {count} done", file=sys.stderr)
    return found


def table(runs: dict[str, list[Run]], reference: list[Run]) -> list[str]:
    """Return the medians of every command as a Markdown table."""
    lines = [
        "| command | wall, s | / torch | CPU, s | / torch | peak, MiB | first line, s: pipe | terminal | goal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case in CASES:
        own = runs[case.name]
        walls = median(run.wall / other.wall for run, other in zip(own, reference, strict=True))
        cpus = median(run.cpu / other.cpu for run, other in zip(own, reference, strict=True))
        cells = [
            f"`{case.name}`" if case.name != TORCH else f'`python -c "{TORCH}"`',
            f"{median(run.wall for run in own):.2f}",
            f"{walls:.2f}",
            f"{median(run.cpu for run in own):.2f}",
            f"{cpus:.2f}",
            f"{median(run.peak for run in own):.0f}",
            seconds(run.first for run in own),
            seconds(run.first_terminal for run in own),
            goal(case),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def goal(case: Case) -> str:
    """Return the command's upper limit, as a cell."""
    goals = [f"{case.seconds:g} s"] if case.seconds else []
    goals += [f"{case.mebibytes:g} MiB"] if case.mebibytes else []
    return ", ".join([*goals, "first line 0.5 s"]) if goals else ""


def median(values: Iterable[float]) -> float:
    """The median of an iterable of numbers."""
    return statistics.median(values)


def seconds(values: Iterable[float]) -> str:
    """The median as a cell; a dash where nothing was written."""
    found = median(values)
    return "–" if found != found else f"{found:.2f}"


def machine() -> str:
    """Processor, cores, memory, versions."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{model}, {cores} cores, {memory:.0f} GiB, Python {platform.python_version()}, {versions}"


def commit(folder: Path) -> str:
    """The commit of a checkout, with a + where files differ from it."""
    asked = ["git", "-C", str(folder), "describe", "--always", "--abbrev=7", "--dirty=+"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def page(found: dict[tuple[Path, str], list[Run]], options: argparse.Namespace, load: str) -> str:
    """The page of results."""
    reference = found[ROOT, TORCH]
    command = f"python -m benchmarks.startup --rounds {options.rounds}"
    lines = [
        "# How soon commands answer",
        "",
        f"`{command}{' --before FOLDER' if options.before else ''}`, load average before and after: {load}.",
        f"{machine()}.",
        "",
        f"Medians of {options.rounds} rounds after one that filled the caches. The sample: one page and 1,095 posts.",
        'Ratios are to `python -c "import torch"` in the same round; they depend less on the machine than seconds do.',
        "",
        f"## Commit {commit(ROOT)}",
        "",
        *table({case.name: found[ROOT, case.name] for case in CASES}, reference),
    ]
    if options.before:
        before = {case.name: found[options.before, case.name] for case in CASES}
        lines += ["", f"## Before: commit {commit(options.before)}", "", *table(before, reference)]
    lines += ["", "## Commands", "", "| row | command |", "|---|---|"]
    lines += [f"| {case.name} | `python {case.arguments}` |" for case in CASES]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--before", type=Path, help="another checkout of this repository, measured as well")
    parser.add_argument("--out", type=Path, help="page to write (default: standard output)")
    parser.add_argument("--json", type=Path, help="JSON file for the figures of each single run")
    options = parser.parse_args()
    folders = [ROOT, *([options.before] if options.before else [])]
    loads = [os.getloadavg()[0]]
    found = rounds(options.rounds, folders)
    loads.append(os.getloadavg()[0])
    text = page(found, options, " and ".join(f"{load:.1f}" for load in loads))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    if options.json:
        runs = [
            {"commit": commit(folder), "command": name, **vars(run)}
            for (folder, name), own in found.items()
            for run in own
        ]
        options.json.write_text(json.dumps(runs, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
