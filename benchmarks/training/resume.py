"""Kill training runs with SIGKILL at random moments and check that the resumed runs end bit-identical.

    python -m benchmarks.training.resume --kills 200

The run is tiny and writes a checkpoint after each step, so that many kills strike during a save. Prints a Markdown
table.
"""

from __future__ import annotations

import argparse
import collections
import platform
import random
import sys
import tempfile
import time
from pathlib import Path

import torch

from tests.helpers.training_runs import kill_once, outcome, run, train, write_workplace

# Long enough for most kills to strike in the training and not in the start of the process.
LONGER = ("-o", "trainer.epochs=15", "-o", "trainer.patience=null")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = write_workplace(Path(name))
        run(folder, "--version")
        started = time.monotonic()
        code, output = run(folder, *train("whole", *LONGER))
        assert code == 0, output
        seconds = time.monotonic() - started
        whole = outcome(folder, "whole")
        struck: collections.Counter[str] = collections.Counter()
        kills = runs = different = 0
        started = time.monotonic()
        while kills < arguments.kills:
            runs += 1
            out = f"run{runs}"
            while (where := kill_once(folder, out, rng.uniform(0, seconds), *LONGER)) is not None:
                kills += 1
                struck[where] += 1
            ended = outcome(folder, out)
            different += ended != whole
            if ended != whole:
                wrong = [name for name in ended.keys() | whole.keys() if ended.get(name) != whole.get(name)]
                print(f"{out} differs in {', '.join(wrong)}", file=sys.stderr)
        took = time.monotonic() - started
    print(f"{platform.machine()}, torch {torch.__version__}, seed {arguments.seed}, {took:.0f} s\n")
    print("| | |\n|---|---|")
    print(f"| kills | {kills} |")
    for where, count in sorted(struck.items()):
        print(f"| … {where} | {count} |")
    print(f"| runs that came to their end | {runs} |")
    print(f"| … with another model folder or log than the run without kills | {different} |")


if __name__ == "__main__":
    main()
