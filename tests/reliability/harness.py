"""Commands that campaigns run, kill and serve, and what each of them must hold."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
SAMPLE = ("--article", str(DATA / "article.html"), "--posts", str(DATA / "posts.jsonl"))
#: Starts the session `session` with the sample.
START = ("annotate", "start", "session", *SAMPLE, "--model", "bm25")
#: Fetches the links in `links.txt`.
FETCH = ("mine", "fetch", "links.txt", "--out", "crawl", "--contact", "me@lab.example", "--delay", "0.5")
#: The server refuses requests that could come from a form of another site.
HEADERS = {"X-Linker": "1"}
LINKER = (sys.executable, "-m", "linker")
#: Shell text around a command, with a limit of memory.
LIMITED = f'ulimit -v {6 << 20}; exec "$@"'
#: 1: a negative answer; 2: one message; 130 and 143: Ctrl-C and SIGTERM.
CODES = (0, 1, 2, 130, 143, -signal.SIGTERM)
_PART = re.compile(r"\..+\.[a-z0-9_]{8}")
_TRACEBACK = re.compile(r"Traceback \(most recent|Exception ignored|Fatal Python error|Segmentation fault")


@dataclass(frozen=True)
class Ended:
    """How a command has ended.

    Attributes:
        code: exit code; None: it did not end.
        out: standard output.
        err: standard error.
        seconds: how long it was waited for.
    """

    code: int | None
    out: str
    err: str
    seconds: float = 0.0

    def fault(self, codes: Sequence[int] = CODES) -> str:
        """Return why the end is a fault; empty if it is none."""
        if self.code is None:
            return "did not end"
        if match := _TRACEBACK.search(self.err):
            return f"{self.err[match.start() :][-300:]!r}"
        if self.code not in codes:
            return f"exit code {self.code}: {self.err[-200:]!r}"
        if self.code == 2 and "error" not in self.err.lower():
            return f"exit code 2 without a message: {self.err[-200:]!r}"
        return ""


@dataclass
class Tally:
    """What a campaign tried, and what did not hold.

    Attributes:
        tried: number of cases.
        faults: a line for each case that did not hold.
        kills: number of commands that were killed before they ended.
        slowest: seconds and name of the slowest case.
        notes: figures for the table.
    """

    tried: int = 0
    faults: list[str] = field(default_factory=list)
    kills: int = 0
    slowest: tuple[float, str] = (0.0, "")
    notes: str = ""

    def check(self, held: object, fault: str) -> bool:
        """Count a case, with the line that describes it if it did not hold."""
        self.tried += 1
        if not held:
            self.faults.append(fault)
        return bool(held)

    def without(self, fault: str | Sequence[str], name: str) -> bool:
        """Count a case that holds if there is no fault."""
        return self.check(not fault, f"{name}: {fault}")

    def time(self, seconds: float, name: str) -> None:
        """Remember the slowest case."""
        self.slowest = max(self.slowest, (seconds, name))
        self.notes = "slowest {:.1f} s: {}".format(*self.slowest)

    def run(self, arguments: Sequence[str], folder: Path, name: str = "", **how: Any) -> Ended:
        """Run a command that must succeed: a case."""
        ended = run(arguments, folder, **how)
        self.without(ended.fault((0,)), name or " ".join(arguments[:2]))
        return ended

    def labels(self, folder: Path, session: str = "session") -> list[dict[str, Any]]:
        """Export a session, which must succeed; returns the rows."""
        ended = self.run(("annotate", "export", session, "--out", "labels.jsonl"), folder)
        return read_rows(folder / "labels.jsonl") if ended.code == 0 else []

    def kill(self, arguments: Sequence[str], folder: Path, delay: float, **how: Any) -> Ended:
        """Start a command and kill it after a delay."""
        process = start(arguments, folder, **how)
        time.sleep(delay)
        process.kill()
        ended = finish(process, 30)
        self.kills += ended.code == -signal.SIGKILL
        return ended


class Said:
    """What an annotator has said, by post, as a session must have it after their actions."""

    def __init__(self, actions: Sequence[Mapping[str, str]] = ()) -> None:
        self.labels: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._before: list[tuple[str, str | None]] = []
        for action in actions:
            self.add(action)

    def add(self, action: Mapping[str, str]) -> None:
        """Add an action of the page: `label` or `note`, perhaps with a note, or `undo`."""
        if "note" in action:
            self.notes[action["post"]] = action["note"]
        if action["kind"] == "label":
            self._before.append((action["post"], self.labels.get(action["post"])))
            self.labels[action["post"]] = action["value"]
        elif action["kind"] == "undo" and self._before:
            post, label = self._before.pop()
            self.labels.pop(post)
            self.labels |= {post: label} if label else {}


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a command: this checkout, one thread."""
    # An empty part would be the working folder, which Python itself does not start in once it is deleted.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **changes}


def start(
    arguments: Sequence[str],
    folder: Path,
    changes: Mapping[str, str] | None = None,
    program: Sequence[str] = LINKER,
    shell: str = "",
    stderr: int | IO[str] = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """Start a command in a folder and a session of its own; Ctrl-C reaches it even if it would not reach this process.

    Args:
        arguments: those of the program.
        folder: working folder.
        changes: environment variables.
        program: what is started.
        shell: text of bash around the command, which is `"$@"`.
        stderr: where messages go.
    """
    return subprocess.Popen(
        [*(("bash", "-c", shell, "bash") if shell else ()), *program, *arguments], cwd=folder,
        env=environment(**(changes or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
        text=True, errors="replace", start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def finish(process: subprocess.Popen[str], seconds: float = 120) -> Ended:
    """Wait for a command; after that number of seconds, it and what it has started are killed."""
    begun = time.monotonic()
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Ended(None, *process.communicate(), time.monotonic() - begun)
    return Ended(process.returncode, out, err, time.monotonic() - begun)


def run(arguments: Sequence[str], folder: Path, seconds: float = 120, **how: Any) -> Ended:
    """Run a command; further arguments are those of `start`."""
    return finish(start(arguments, folder, **how), seconds)


def must(arguments: Sequence[str], folder: Path, seconds: float = 120, **how: Any) -> Ended:
    """Run a command without which the campaign cannot begin."""
    ended = run(arguments, folder, seconds, **how)
    assert ended.code == 0, (arguments, ended.err)
    return ended


@dataclass(frozen=True)
class Server:
    """A running `linker serve`.

    Attributes:
        url: its address, without a slash at the end.
        process: its process.
        log: file of its messages.
    """

    url: str
    process: subprocess.Popen[str]
    log: Path

    def stop(self, seconds: float = 60) -> Ended:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return replace(finish(self.process, seconds), err=self.log.read_text(errors="replace"))


@contextmanager
def serving(folder: Path, *more: str, served: Sequence[str] = ("session",), **how: Any) -> Iterator[Server]:
    """Serve the session `session`, or something else, until the block ends; `how` are arguments of `start`."""
    log = folder / "serve.log"
    with log.open("w") as stderr:
        process = start(("serve", *served, *more, "--port", "0"), folder, stderr=stderr, **how)
    assert process.stdout is not None
    try:
        yield Server(process.stdout.readline().partition("#")[0].strip().rstrip("/"), process, log)
    finally:
        if process.poll() is None:
            process.kill()


@contextmanager
def fresh(folder: Path, source: Path | None = None) -> Iterator[Path]:
    """Give an empty folder, or a copy of another, and remove it in the end, whatever the rights of its files."""
    place = folder / "place"
    shutil.copytree(source, place, symlinks=True) if source else place.mkdir()
    try:
        yield place
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(place)], capture_output=True)
        shutil.rmtree(place)


def left_parts(folder: Path) -> str:
    """Return which temporary files a command has left in a folder; empty if none."""
    # As `atomic_write` names them: a dot, the name, a dot and eight characters.
    parts = [path.name for path in folder.rglob(".*") if _PART.fullmatch(path.name)]
    return f"left behind: {parts}" if parts else ""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def sample_ids() -> list[str]:
    """Return the ids of the posts of the sample."""
    return [row["id"] for row in read_rows(DATA / "posts.jsonl")]


def digest(path: Path, pattern: str = "*", read: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """Return a digest of a file, or of the names and contents of the files of a folder that match."""
    total = hashlib.sha256()
    for file in sorted(path.rglob(pattern)) if path.is_dir() else [path]:
        if file.is_file():
            total.update(file.relative_to(path).as_posix().encode() + b"\0" + read(file))
    return total.hexdigest()
