"""Ctrl-C and SIGTERM at random moments of every command."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.reliability.harness import Tally, environment, finish, fresh, left_parts, run, start
from tests.reliability.workplace import CASES, make_workplace

# Before that Python starts, and none of linker's code is there; on a busy machine it takes longer.
_STARTED = 0.1
# Commands that stay until they are stopped run for up to this number of seconds.
_FOREVER = 6.0
_CODES = {signal.SIGINT: (130,), signal.SIGTERM: (143, -signal.SIGTERM)}


def _seconds_to_start() -> float:
    """Return how long Python takes until it has linker's main function, the longest of three times."""
    command, seconds = [sys.executable, "-c", "import runpy, linker.__main__"], [_STARTED]
    for _ in range(3):
        begun = time.monotonic()
        subprocess.run(command, env=environment(), check=True)
        seconds.append(time.monotonic() - begun)
    return max(seconds)


def _left_processes(session: int) -> str:
    """Return which processes of a session are still there; those that were asked to end have a second."""
    for _ in range(20):
        left = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.getsid(int(name)) == session:
                    left.append(Path("/proc", name, "cmdline").read_text().replace("\0", " ")[:80])
            except OSError:
                continue
        if not any(left):
            return ""
        time.sleep(0.05)
    return f"processes left behind: {left}"


def signals(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Stop every command at random moments: it ends with 130 or 143, and leaves no temporary files and processes."""
    workplace = make_workplace(folder)
    for name, case in CASES.items():
        whole, started, words = _FOREVER, _seconds_to_start(), case.words()
        if not case.forever:
            with fresh(folder, workplace) as place:
                whole = run(words, place, 60).seconds
        for _ in range(rounds):
            number = chance.choice(list(_CODES))
            delay = chance.uniform(started, max(whole, 2 * started))
            with fresh(folder, workplace) as place:
                process = start(words, place)
                time.sleep(delay)
                was_over = process.poll() is not None
                process.send_signal(number)
                ended = finish(process, 30)
                # It may have come after the last line of the command; and a server ends well.
                late = ended.code in (0, 1, 2) and (was_over or ended.seconds < 1 or case.forever)
                fault = ("" if late else ended.fault(_CODES[number])) or _left_processes(process.pid)
                # A process that ends before linker's code is there has written nothing.
                fault = fault or (left_parts(place) if ended.code != -signal.SIGTERM else "")
            tally.time(ended.seconds, name)
            tally.without(fault, f"{name}, {number.name} after {delay:.2f} s")
