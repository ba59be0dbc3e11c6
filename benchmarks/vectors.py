"""Time and memory of reading word vectors, against reading line by line with Python's `float`.

    python benchmarks/vectors.py [--words 200000] [--dim 100]

Every way reads the same made-up file in the format of GloVe, in a process of its own; the fastest of three
runs counts, and its peak memory above that at the start (Linux only).
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.csv  # noqa: F401 - loaded before the clock starts
import torch

from linker.data.word_vectors.file import VectorFile


def float_loop(path: Path) -> int:
    words, rows = [], []
    with path.open("rb") as file:
        for line in file:
            word, *values = line.rstrip().split(b" ")
            words.append(word.decode())
            rows.append(torch.tensor([float(value) for value in values]))
    return len(torch.stack(rows))


def numpy_lines(path: Path) -> int:
    words, rows = [], []
    with path.open("rb") as file:
        for line in file:
            word, _, values = line.partition(b" ")
            words.append(word.decode())
            rows.append(np.fromstring(values, dtype=np.float32, sep=" "))
    return len(np.stack(rows))


def all_rows(path: Path) -> int:
    return len(VectorFile(str(path), max_words=None).read()[0])


def every_tenth(path: Path) -> int:
    return len(VectorFile(str(path), max_words=0).read(EVERY_TENTH)[0])


EVERY_TENTH = {f"word{i}" for i in range(0, 1_000_000, 10)}
WAYS = {
    "float loop": (float_loop, "vectors.txt"),
    "numpy, line by line": (numpy_lines, "vectors.txt"),
    "linker, all rows": (all_rows, "vectors.txt"),
    "linker, all rows, .gz": (all_rows, "vectors.txt.gz"),
    "linker, every tenth row": (every_tenth, "vectors.txt"),
    "linker, every tenth row, .gz": (every_tenth, "vectors.txt.gz"),
}


def make(folder: Path, words: int, dim: int) -> None:
    generator = np.random.default_rng(0)
    form = " ".join(["%.5g"] * dim)
    with (folder / "vectors.txt").open("w") as file:
        for i in range(words):
            file.write(f"word{i} {form % tuple(generator.normal(0, 0.4, dim))}\n")
    with gzip.open(folder / "vectors.txt.gz", "wb", 6) as file:
        file.write((folder / "vectors.txt").read_bytes())


def measure(way: str, folder: str) -> None:
    read, name = WAYS[way]
    before = peak_memory()
    start = time.perf_counter()
    rows = read(Path(folder) / name)
    seconds = time.perf_counter() - start
    print(rows, seconds, peak_memory() - before)


def peak_memory() -> float:
    """MiB, since the start of the process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.words, options.dim)
        megabytes = options.words * options.dim * 4 / 2**20
        print(f"{options.words:,} words × {options.dim}: {megabytes:.0f} MiB as float32\n")
        print("| way | rows | seconds | memory, MiB |\n|---|---|---|---|")
        for way in WAYS:
            runs = [
                subprocess.run(
                    [sys.executable, __file__, "--measure", way, folder],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
                for _ in range(3)
            ]
            rows, seconds, memory = min(runs, key=lambda run: float(run[1]))
            print(f"| {way} | {int(rows):,} | {float(seconds):.2f} | {float(memory):.0f} |")


if __name__ == "__main__":
    main()
