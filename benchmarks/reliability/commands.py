"""Commands that campaigns run, and what each of them must hold."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
#: Fetches the links in `links.txt`.
FETCH = ("mine", "fetch", "links.txt", "--out", "crawl", "--contact", "me@lab.example", "--delay", "0.5")
SAMPLE = ("--article", str(DATA / "article.html"), "--posts", str(DATA / "posts.jsonl"))
#: The server refuses requests that could come from a form of another site.
HEADERS = {"X-Linker": "1"}
#: 1: a negative answer; 2: one message; 130 and 143: Ctrl-C and SIGTERM.
CODES = (0, 1, 2, 130, 143, -signal.SIGTERM)
_PART = re.compile(r"\..+\.[a-z0-9_]{8}")
_TRACEBACK = re.compile(r"Traceback \(most recent|Exception ignored|Fatal Python error|Segmentation fault")


@dataclass
class Tally:
    """What a campaign tried, and what did not hold.

    Attributes:
        tried: number of cases.
        faults: a line for each case that did not hold.
        notes: figures for the table, such as the slowest case.
    """

    tried: int = 0
    faults: list[str] = field(default_factory=list)
    notes: str = ""

    def check(self, held: bool, fault: str) -> bool:
        """Count a case, with the line that describes it if it did not hold."""
        self.tried += 1
        if not held:
            self.faults.append(fault)
        return held


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a command: this checkout, one thread."""
    # An empty part would be the working folder, which Python itself does not start in once it is deleted.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **changes}


def start(
    arguments: Sequence[str],
    folder: Path,
    changes: Mapping[str, str] | None = None,
    program: Sequence[str] = (sys.executable, "-m", "linker"),
) -> subprocess.Popen[str]:
    """Start a command in a folder; Ctrl-C reaches it even if it would not reach this process."""
    return subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env=environment(**(changes or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def run(
    arguments: Sequence[str], folder: Path, seconds: float = 120, changes: Mapping[str, str] | None = None
) -> tuple[int | None, str, str]:
    """Run a command; returns its exit code (None: it did not end), standard output and standard error."""
    process = start(arguments, folder, changes)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return None, out, err
    return process.returncode, out, err


def seconds_of(arguments: Sequence[str], folder: Path, limit: float = 120) -> float:
    """Run a command that must succeed, and return how long it took, in seconds."""
    begun = time.monotonic()
    code, _, err = run(arguments, folder, limit)
    assert code == 0, err
    return time.monotonic() - begun


def fault_of(code: int | None, err: str, codes: Sequence[int] = CODES) -> str:
    """Return why the end of a command is a fault; empty if it is none."""
    if code is None:
        return "did not end"
    if found := _TRACEBACK.search(err):
        return f"{err[found.start() :][-300:]!r}"
    if code not in codes:
        return f"exit code {code}: {err[-200:]!r}"
    if code == 2 and not ("error" in err.lower() and err.strip()):
        return f"exit code 2 without a message: {err[-200:]!r}"
    return ""


def has_left_parts(folder: Path) -> str:
    """Return which temporary files a command has left in a folder; empty if none."""
    # As `atomic_write` names them: a dot, the name, a dot and eight characters.
    found = [path.name for path in folder.rglob(".*") if _PART.fullmatch(path.name)]
    return f"left behind: {found}" if found else ""


def await_end(process: subprocess.Popen[str], seconds: float) -> tuple[int | None, str, float]:
    """Wait for a process; returns its exit code (None: it did not end), standard error, and the seconds waited."""
    begun = time.monotonic()
    try:
        _, err = process.communicate(timeout=seconds)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
        code = None
    return code, err, time.monotonic() - begun
