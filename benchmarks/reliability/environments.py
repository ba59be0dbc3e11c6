"""Every command in environments that are not those of a developer."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reliability.commands import Tally, environment, fault_of, has_left_parts
from benchmarks.reliability.workplace import CASES, Case, arguments_of, commands_without_case, copied, make

#: Shell text around the command, which is `"$@"`.
SHELLS = {
    "closed output": '"$@" >&-',
    "closed errors": '"$@" 2>&-',
    "closed input": '"$@" <&-',
    "all closed": '"$@" <&- >&- 2>&-',
    "a reader that goes away": '"$@" | head -c 1 >/dev/null',
    "full device": '"$@" >/dev/full',
    "full device for errors": '"$@" 2>/dev/full',
    "64 KiB of file size": 'ulimit -f 64; "$@"',
    "8 MiB of file size": 'ulimit -f 8192; "$@"',
    "64 descriptors": 'ulimit -n 64; "$@"',
    "no HOME": 'env -u HOME -u XDG_CACHE_HOME "$@"',
    "HOME that is a file": 'HOME=/dev/null XDG_CACHE_HOME=/dev/null "$@"',
    "C locale": 'LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$@"',
    "Latin-1 terminal": 'PYTHONIOENCODING=latin-1 "$@"',
    "narrow terminal": 'COLUMNS=1 LINES=1 "$@"',
    "deleted folder": 'mkdir gone && cd gone && rmdir ../gone && "$@"',
    "no temporary folder": 'TMPDIR=/nowhere "$@"',
    "no network": 'exec unshare -rn "$@"',
    "read-only file system": "exec unshare -rm bash -c 'mount --bind . . && mount -o remount,bind,ro . "
    '&& cd "$PWD" && "$@"\' bash "$@"',
    "full disk": "exec unshare -rm bash -c 'mkdir ../disk-$$ && mount -t tmpfs -o size=64m x ../disk-$$ && "
    'cp -a . ../disk-$$ && cd ../disk-$$ && (head -c 64M /dev/zero >filler 2>/dev/null; true) && "$@"\' bash "$@"',
    "full temporary folder": "exec unshare -rm bash -c 'mkdir tmp && mount -t tmpfs -o size=8k x tmp && "
    '(head -c 8k /dev/zero >tmp/filler 2>/dev/null; true) && TMPDIR=$PWD/tmp "$@"\' bash "$@"',
}
_QUIET = ("closed errors", "all closed", "full device for errors")
_NAMESPACES = ("no network", "read-only file system", "full disk", "full temporary folder")
#: Runs a command with the rights of files; empty: this user has no others.
_BY_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
_LIMIT = 180.0
# Until a command that waits for a FIFO does so.
_BLOCKED = 5.0
_STOPPED = 15.0


@dataclass
class Setting:
    """How a command is run in an environment.

    Attributes:
        given: the input.
        out: the output.
        shell: shell text around the command.
        prefix: words before the command.
        feed: runs beside the command, until the event is set.
        interrupted: whether the command waits for something that never comes, and is interrupted.
    """

    given: str
    out: str
    shell: str = '"$@"'
    prefix: tuple[str, ...] = ()
    feed: Callable[[threading.Event], None] | None = None
    interrupted: bool = False


def _write_fifo(path: Path, content: bytes) -> Callable[[threading.Event], None]:
    """Return what writes a FIFO once, as `cat` would, as soon as somebody opens it."""

    def feed(ended: threading.Event) -> None:
        while not ended.is_set():
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads
                time.sleep(0.02)
                continue
            os.set_blocking(descriptor, True)
            with suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return

    return feed


def _read_fifo(path: Path) -> Callable[[threading.Event], None]:
    """Return what reads a FIFO until the command has ended."""

    def feed(ended: threading.Event) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        while not ended.is_set():
            with suppress(BlockingIOError):
                if os.read(descriptor, 1 << 16):
                    continue
            time.sleep(0.02)
        os.close(descriptor)

    return feed


def _in_folder(place: Path, case: Case, chance: random.Random, kind: str) -> None:
    """Replace a file in a folder of linker's by something else."""
    files = sorted(path for path in (place / case.own).rglob("*") if path.is_file())
    path = chance.choice(files)
    path.unlink()
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name if kind == "loop" else "nowhere")


def _with_loop(place: Path, case: Case) -> Path:
    """Put an input into a folder with a link to the folder itself and a FIFO beside it."""
    folder, source = place / "looped", place / case.input
    folder.mkdir()
    shutil.move(source, folder / source.name)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / f"z{source.name}")
    return folder


def _forbid(place: Path, mode: str, name: str = ".") -> None:
    subprocess.run(["chmod", "-R", mode, str(place / name)], check=True)


def setting(kind: str, place: Path, case: Case, chance: random.Random) -> Setting | None:
    """Prepare an environment in a folder.

    Args:
        kind: name of the environment.
        place: a copy of the workplace.
        case: the command.
        chance: random numbers.

    Returns:
        How to run the command; None: the environment does not concern it.
    """
    usual = Setting(case.input, "out")
    if kind in SHELLS:
        usual.shell = SHELLS[kind]
        return usual
    subject = SUBJECTS[kind]
    if not _concerns(subject, case, place):
        return None
    source = place / case.input
    out = next((one[3:] for one in case.arguments if one.startswith("OUT")), "")
    if kind == "long name":
        return Setting("x" * 300, "y" * 300)
    if kind == "huge name":
        return Setting("x/" * 2_500, "y/" * 2_500)
    if kind == "loop of links":
        (place / "one").symlink_to("two")
        (place / "two").symlink_to("one")
        (place / f"three{out}").symlink_to("one")
        return Setting("one", "three")
    if kind == "folder as input":
        (place / "empty").mkdir()
        return Setting("empty", "out")
    if kind == "folder with a loop":
        return Setting(_with_loop(place, case).name, "out")
    if kind == "folder in the way":
        (place / f"out{out}").mkdir()
        return usual
    if kind == "file in the way":
        (place / "out").write_text("x")
        return Setting(case.input, "out/below")
    if kind == "odd names":
        odd = f"a\n\x1b[31m*?é\udcff{source.suffix}"
        source.rename(place / odd)
        return Setting(odd, "-o\n*é")
    if kind == "device":
        return Setting("/dev/null", "/dev/null/x")
    if kind == "device as output":
        (place / f"out{out}").symlink_to("/dev/full")
        return usual
    if subject == "own":
        _in_folder(place, case, chance, kind.split()[0])
        return usual
    if kind in ("FIFO as output", "FIFO without a reader"):
        os.mkfifo(place / f"out{out}")
        usual.interrupted = kind == "FIFO without a reader"
        usual.feed = None if usual.interrupted else _read_fifo(place / f"out{out}")
        return usual
    if subject == "file":
        content = source.read_bytes()
        source.unlink()
        os.mkfifo(source)
        usual.interrupted = kind == "FIFO without a writer"
        if not usual.interrupted:
            usual.feed = _write_fifo(source, content[: len(content) // 2] if "breaks" in kind else content)
        return usual
    usual.prefix = _BY_RIGHTS
    if kind == "read-only folder":
        _forbid(place, "a-w")
    elif kind == "unreadable input":
        _forbid(place, "a+rwX")
        _forbid(place, "000", case.input)
    elif kind == "unreadable folder":
        _forbid(place, "a+rwX")
        _forbid(place, "000", case.own)
    return usual


#: Environments of files, each with what of a command it concerns: the input, as a file; the output; both; a folder of
#: linker's that the command reads.
SUBJECTS = {
    "long name": "names",
    "huge name": "names",
    "loop of links": "names",
    "folder as input": "input",
    "folder with a loop": "input",
    "folder in the way": "output",
    "file in the way": "output",
    "odd names": "input",
    "device": "names",
    "device as output": "written file",
    "FIFO as input": "file",
    "FIFO that breaks off": "file",
    "FIFO without a writer": "file",
    "FIFO as output": "output",
    "FIFO without a reader": "output",
    "FIFO in a folder": "own",
    "loop of links in a folder": "own",
    "broken link in a folder": "own",
    "read-only folder": "all",
    "unreadable input": "input",
    "unreadable folder": "folder",
}


def _concerns(subject: str, case: Case, place: Path) -> bool:
    writes = any(one.startswith("OUT") for one in case.arguments)
    return {
        "input": bool(case.input),
        "file": (place / case.input).is_file(),
        "output": writes,
        "written file": writes and not case.folder,
        "names": writes or bool(case.input),
        "own": bool(case.own),
        "folder": bool(case.own),
        "all": True,
    }[subject]


@contextmanager
def _beside(feed: Callable[[threading.Event], None] | None) -> Iterator[None]:
    ended = threading.Event()
    thread = threading.Thread(target=feed, args=(ended,), daemon=True) if feed else None
    if thread:
        thread.start()
    try:
        yield
    finally:
        ended.set()


def _ended(case: Case, how: Setting, place: Path) -> tuple[int | None, str]:
    """Run a command; returns its exit code and standard error."""
    words = arguments_of(case, how.given, how.out)
    stopped = ("timeout", "--preserve-status", "-s", "INT", f"{_STOPPED}") if case.forever else ()
    command = ["bash", "-c", how.shell, "bash", *how.prefix, *stopped, sys.executable, "-m", "linker", *words]
    if how.interrupted:
        command = command[4:]
    process = subprocess.Popen(
        command, cwd=place, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    with _beside(how.feed):
        if how.interrupted:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_BLOCKED)
            process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=_LIMIT)
            return process.returncode, err
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[1]


def commands(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Run every command in hostile environments: an exit code and one message, never a traceback.

    Args:
        folder: an empty folder.
        rounds: environments for each command; all if there are fewer.
        chance: which.
    """
    tally = Tally()
    workplace = folder / "workplace"
    workplace.mkdir()
    make(workplace)
    tally.check(not (missing := commands_without_case()), f"no case for the commands {missing}")
    kinds = [*SHELLS, *SUBJECTS]
    if subprocess.run(["unshare", "-rmn", "true"], capture_output=True).returncode:
        kinds = [kind for kind in kinds if kind not in _NAMESPACES]
    for name, case in CASES.items():
        done = 0
        for kind in chance.sample(kinds, len(kinds)):
            place = folder / f"{tally.tried}"
            copied(workplace, place)
            how = setting(kind, place, case, chance) if done < rounds else None
            if how is not None:
                done += 1
                code, err = _ended(case, how, place)
                fault = fault_of(code, "error" if kind in _QUIET and code == 2 else err)
                tally.check(not fault, f"{name}, {kind}: {fault}")
                if not fault and kind not in ("full disk", "deleted folder"):
                    fault = has_left_parts(place)
                    tally.check(not fault, f"{name}, {kind}: {fault}")
            subprocess.run(["chmod", "-R", "u+rwX", str(place)], capture_output=True)
            shutil.rmtree(place)
            if done == rounds:
                break
    tally.notes = f"{len(CASES)} commands, {len(kinds)} environments"
    return tally
