"""Ctrl-C at random moments of commands."""

from __future__ import annotations

import random
import signal
import tempfile
import time
from pathlib import Path

from benchmarks.reliability.commands import DATA, ROOT, SAMPLE, Tally, await_end, fault_of, start

COMMANDS = {
    "rank": ("rank", *SAMPLE, "--model", "bm25"),
    "rank with best": ("rank", *SAMPLE),
    "config check": ("config", "check", str(ROOT / "configs" / "quickstart.jsonnet")),
    "corpus build": ("corpus", "build", str(DATA / "posts.jsonl"), "--out", "corpus", "--model", "distilled"),
    "annotate start": ("annotate", "start", "session", *SAMPLE, "--model", "bm25"),
    "mine links": ("mine", "links", str(DATA / "posts.jsonl"), "--out", "mined"),
    "train": ("train", str(ROOT / "configs" / "quickstart.jsonnet"), "--out", "run"),
}
_LONGEST = 12.0
# Before that Python starts, and none of linker's code is there.
_STARTED = 0.1
_PATIENCE = 30.0


def ctrl_c(rounds: int, chance: random.Random) -> Tally:
    """Press Ctrl-C at random moments; each command must end with 130 within three seconds of CPU time."""
    tally, slowest = Tally(), 0.0
    for name, arguments in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            await_end(start(arguments, Path(folder)), _LONGEST)
            whole = time.monotonic() - begun
        for _ in range(rounds):
            delay = chance.uniform(_STARTED, max(whole, 2 * _STARTED))
            with tempfile.TemporaryDirectory() as folder:
                process = start(arguments, Path(folder))
                time.sleep(delay)
                ended = process.poll() is not None
                process.send_signal(signal.SIGINT)
                code, err, waited = await_end(process, _PATIENCE)
            # It may have come after the last line of the command.
            late = code in (0, 1, 2) and (ended or waited < 1)
            fault = "" if late else fault_of(code, err, (130,))
            slowest = max(slowest, waited)
            tally.check(not fault, f"{name} after {delay:.2f} s: {fault}")
    tally.notes = f"slowest end {slowest:.1f} s"
    return tally
