"""Ctrl-C and SIGTERM at random moments of every command."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.reliability.commands import Tally, await_end, environment, fault_of, has_left_parts
from benchmarks.reliability.workplace import CASES, Case, arguments_of, copied, make

_LONGEST = 60.0
# Before that Python starts, and none of linker's code is there; on a busy machine it takes longer.
_STARTED = 0.1
_PATIENCE = 30.0
# Commands that stay until they are stopped run for up to this number of seconds.
_FOREVER = 6.0
_CODES = {signal.SIGINT: (130,), signal.SIGTERM: (143, -signal.SIGTERM)}


def _start(case: Case, place: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "linker", *arguments_of(case, case.input, "out")]
    return subprocess.Popen(
        words, cwd=place, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def _seconds_to_start() -> float:
    """Return how long Python takes until it has linker's main function, the longest of three times."""
    command = [sys.executable, "-c", "import runpy, linker.__main__"]
    found = [_STARTED]
    for _ in range(3):
        begun = time.monotonic()
        subprocess.run(command, env=environment(), check=True)
        found.append(time.monotonic() - begun)
    return max(found)


def _left_processes(session: int) -> str:
    """Return which processes of a session are still there; those that were asked to end have a second."""
    for _ in range(20):
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.getsid(int(name)) == session:
                    found.append(Path("/proc", name, "cmdline").read_text().replace("\0", " ")[:80])
            except OSError:
                continue
        if not any(found):
            return ""
        time.sleep(0.05)
    return f"processes left behind: {found}"


def signals(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Stop every command at random moments: it ends with 130 or 143, and leaves no temporary files and processes.

    Args:
        folder: an empty folder.
        rounds: how many times each command is stopped.
        chance: when, and by which signal.
    """
    tally, slowest = Tally(), (0.0, "")
    workplace, place = folder / "workplace", folder / "place"
    workplace.mkdir()
    make(workplace)
    for name, case in CASES.items():
        whole, started = _FOREVER, _seconds_to_start()
        if not case.forever:
            copied(workplace, place)
            begun = time.monotonic()
            await_end(_start(case, place), _LONGEST)
            whole = time.monotonic() - begun
            shutil.rmtree(place)
        for _ in range(rounds):
            number = chance.choice(list(_CODES))
            delay = chance.uniform(started, max(whole, 2 * started))
            copied(workplace, place)
            process = _start(case, place)
            time.sleep(delay)
            ended = process.poll() is not None
            process.send_signal(number)
            code, err, waited = await_end(process, _PATIENCE)
            # It may have come after the last line of the command; and a server ends well.
            late = code in (0, 1, 2) and (ended or waited < 1 or case.forever)
            fault = ("" if late else fault_of(code, err, _CODES[number])) or _left_processes(process.pid)
            # A process that ends before linker's code is there has written nothing.
            fault = fault or (has_left_parts(place) if code != -signal.SIGTERM else "")
            slowest = max(slowest, (waited, name))
            tally.check(not fault, f"{name}, {number.name} after {delay:.2f} s: {fault}")
            shutil.rmtree(place)
    tally.notes = f"slowest end {slowest[0]:.1f} s: {slowest[1]}"
    return tally
