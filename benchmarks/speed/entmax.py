"""Time that the native kernels spend on entmax, which they compute inside ring and star, out of a profiler's sight.

The library is compiled once more into a temporary folder by the project's `setup.py`, with a clock around each call of
the entmax functions. The clock's own time counts as entmax's.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

import torch

from benchmarks.measurement import say
from linker.modules.kernels import library

ROOT = Path(__file__).resolve().parents[2]
CPP = Path("linker", "modules", "kernels", "cpp")
FUNCTIONS = ("entmax_lanes", "entmax_lanes_backward", "entmax_row", "entmax_row_backward")

CLOCK = """
extern "C" __attribute__((visibility("default"))) int64_t benchmark_entmax_clock;
int64_t benchmark_entmax_clock = 0;
struct EntmaxClock {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    ~EntmaxClock() { benchmark_entmax_clock += (std::chrono::steady_clock::now() - start).count(); }
};
"""
CLOCKED = """
template <class T, class... A> INLINE auto clocked_{0}(A &&...a) {{
    EntmaxClock clock;
    return {0}<T>(a...);
}}
#define {0} clocked_{0}
"""


def shares_in_native(tasks: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return entmax's share of each task's time on one thread; print the reason and return {} if compilation fails."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            clocked = library.load(_compile(Path(folder)))
            clock = ctypes.c_int64.in_dll(clocked, "benchmark_entmax_clock")
        except (OSError, ValueError, subprocess.SubprocessError, library.LibraryProblem) as error:
            say(f"    entmax inside the native kernels cannot be timed: {error}")
            return {}
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with mock.patch.object(library, "load", return_value=clocked):
                return {name: _share(clock, task, repeats) for name, task in tasks.items()}
        finally:
            torch.set_num_threads(threads)


def _share(clock: ctypes.c_int64, task: Callable[[], object], repeats: int) -> float:
    task()
    clock.value = 0
    start = time.perf_counter_ns()
    for _ in range(repeats):
        task()
    return clock.value / (time.perf_counter_ns() - start)


def _compile(folder: Path) -> Path:
    shutil.copy(ROOT / "setup.py", folder)
    shutil.copytree(ROOT / CPP, folder / CPP)
    header = folder / CPP / "entmax.h"
    code = header.read_text()
    missing = [name for name in FUNCTIONS if f" {name}(" not in code]
    if missing:
        raise ValueError(f"entmax.h has no {', '.join(missing)}")
    # The header is included once per set of instructions.
    undefined = "".join(f"#undef {name}\n" for name in FUNCTIONS)
    header.write_text(undefined + code + "".join(CLOCKED.format(name) for name in FUNCTIONS))
    main = folder / CPP / "native.cpp"
    code = main.read_text()
    before, opening, after = code.partition("namespace {")
    main.write_text(f"#include <chrono>\n{before}{CLOCK}{opening}{after}")
    subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, check=True, capture_output=True
    )
    (built,) = (folder / CPP.parent).glob("liblinker.*")
    return built
