"""Timing in alternation, peak memory and rates of the machine."""

from __future__ import annotations

import math
import multiprocessing
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

Seconds = dict[str, list[float]]
PATIENCE = 20.0


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def in_turn(label: str, tasks: Mapping[str, Callable[[int], object]], repeats: int) -> Seconds:
    """Return the seconds of every task in every round; tasks alternate, so that slow moments affect all of them.

    A task is given the number of its round; round 0 warms up and does not count. Who took longer than `PATIENCE` then
    has one round only.
    """
    say(label)
    seconds: Seconds = {name: [] for name in tasks}
    names = list(tasks)
    slow = set()
    for number in range(repeats + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            if number > 1 and name in slow:
                continue
            start = time.perf_counter()
            tasks[name](number)
            taken = time.perf_counter() - start
            if number:
                seconds[name].append(taken)
            elif taken > PATIENCE:
                slow.add(name)
    for name, found in seconds.items():
        say(f"    {name:28} {1000 * statistics.median(found):10.1f} ms")
    return seconds


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """Return b of amount = a · size^b, by least squares over the logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(amount) for amount in amounts]
    return statistics.linear_regression(x, y).slope


def gemm_rate(rows: int, inner: int, columns: int, repeats: int) -> float:
    """Return FLOP per second of a matrix product with bias, as in the projections: the best of the repeats."""
    x, weight, bias = torch.randn(rows, inner), torch.randn(columns, inner), torch.randn(columns)
    return 2 * rows * inner * columns / _best(lambda: torch.nn.functional.linear(x, weight, bias), repeats)


def copy_rate(rows: int, columns: int, repeats: int) -> float:
    """Return bytes per second, read and written, of copying an array of floats to allocated memory."""
    source = torch.randn(rows, columns)
    target = torch.empty_like(source)
    return 8 * source.numel() / _best(lambda: target.copy_(source), repeats)


def _best(task: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def reset_peak_memory() -> int:
    """Return the resident bytes, and reset the peak if the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    return process_status("VmRSS", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def process_status(key: str, otherwise: int) -> int:
    """Return a line of /proc/self/status in bytes, or `otherwise` (KiB) if the file does not exist."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 1024 * otherwise
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def machine() -> str:
    """Return processor, cores, threads and versions, for the head of the table."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = multiprocessing.cpu_count()
    return (
        f"{model}, {cores} cores, {torch.get_num_threads()} threads; {torch.backends.cpu.get_cpu_capability()}; "
        f"torch {torch.__version__}, Python {platform.python_version()}"
    )
