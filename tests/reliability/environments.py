"""Every command in environments that are not those of a developer."""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.reliability.harness import LINKER, Ended, Tally, finish, fresh, left_parts, start
from tests.reliability.workplace import CASES, Case, commands_without_case, make_workplace

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
# Until a command that waits for a FIFO does so.
_BLOCKED = 5.0
_STOPPED = 15.0


@dataclass
class Setting:
    """How a command is run in an environment; the functions below prepare it.

    Attributes:
        place: a copy of the workplace.
        case: the command.
        given: the input.
        chance: random numbers.
        out: the output, without its suffix.
        shell: shell text around the command.
        prefix: words before the command.
        feed: runs beside the command, until the event is set.
        interrupted: whether the command waits for something that never comes, and is interrupted.
    """

    place: Path
    case: Case
    given: str
    chance: random.Random
    out: str = "out"
    shell: str = '"$@"'
    prefix: tuple[str, ...] = ()
    feed: Callable[[threading.Event], None] | None = None
    interrupted: bool = False

    @property
    def source(self) -> Path:
        """The input."""
        return self.place / self.case.input

    @property
    def target(self) -> Path:
        """The output."""
        return self.place / f"out{self.case.suffix or ''}"

    def run(self) -> Ended:
        """Run the command."""
        stopped = ("timeout", "--preserve-status", "-s", "INT", f"{_STOPPED}") if self.case.forever else ()
        program, shell = (*self.prefix, *stopped, *LINKER), "" if self.interrupted else self.shell
        process = start(self.case.words(self.given, self.out), self.place, program=program, shell=shell)
        ended = threading.Event()
        if self.feed:
            threading.Thread(target=self.feed, args=(ended,), daemon=True).start()
        if self.interrupted:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_BLOCKED)
            process.send_signal(signal.SIGINT)
        try:
            return finish(process, 180)
        finally:
            ended.set()


def _write_fifo(path: Path, content: bytes, ended: threading.Event) -> None:
    """Write a FIFO once, as `cat` would, as soon as somebody opens it."""
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


def _read_fifo(path: Path, ended: threading.Event) -> None:
    """Read a FIFO until the command has ended."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    while not ended.is_set():
        with suppress(BlockingIOError):
            if os.read(descriptor, 1 << 16):
                continue
        time.sleep(0.02)
    os.close(descriptor)


def _names(given: str, out: str, setting: Setting) -> None:
    setting.given, setting.out = given, out


def _links(setting: Setting) -> None:
    for name, target in (("one", "two"), ("two", "one"), (f"three{setting.case.suffix or ''}", "one")):
        (setting.place / name).symlink_to(target)
    _names("one", "three", setting)


def _empty_folder(setting: Setting) -> None:
    (setting.place / "empty").mkdir()
    setting.given = "empty"


def _folder_with_loop(setting: Setting) -> None:
    """Put the input into a folder with a link to the folder itself and a FIFO beside it."""
    folder, source = setting.place / "looped", setting.source
    folder.mkdir()
    shutil.move(source, folder / source.name)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / f"z{source.name}")
    setting.given = folder.name


def _file_in_way(setting: Setting) -> None:
    (setting.place / "out").write_text("x")
    setting.out = "out/below"


def _odd_names(setting: Setting) -> None:
    odd = f"a\n\x1b[31m*?é\udcff{setting.source.suffix}"
    setting.source.rename(setting.place / odd)
    _names(odd, "-o\n*é", setting)


def _fifo_as_input(part: float, setting: Setting) -> None:
    """Replace the input by a FIFO that gives this part of it; 0: nobody writes."""
    content = setting.source.read_bytes()
    setting.source.unlink()
    os.mkfifo(setting.source)
    setting.interrupted = not part
    setting.feed = partial(_write_fifo, setting.source, content[: int(part * len(content))]) if part else None


def _fifo_as_output(has_reader: bool, setting: Setting) -> None:
    os.mkfifo(setting.target)
    setting.interrupted = not has_reader
    setting.feed = partial(_read_fifo, setting.target) if has_reader else None


def _in_folder(make: Callable[[Path], object], setting: Setting) -> None:
    """Replace a file in a folder of linker's by something else."""
    files = sorted(path for path in (setting.place / setting.case.own).rglob("*") if path.is_file())
    path = setting.chance.choice(files)
    path.unlink()
    make(path)


def _forbid(mode: str, what: str, setting: Setting) -> None:
    setting.prefix = _BY_RIGHTS
    if what:
        subprocess.run(["chmod", "-R", "a+rwX", str(setting.place)], check=True)
    subprocess.run(["chmod", "-R", mode, str(setting.place / getattr(setting.case, what, "."))], check=True)


#: Environments of files, each with what of a command it concerns: the input, as a file; the output; both; a folder of
#: linker's that the command reads; and with what prepares it.
FILES: dict[str, tuple[str, Callable[[Setting], None]]] = {
    "long name": ("names", partial(_names, "x" * 300, "y" * 300)),
    "huge name": ("names", partial(_names, "x/" * 2_500, "y/" * 2_500)),
    "loop of links": ("names", _links),
    "folder as input": ("input", _empty_folder),
    "folder with a loop": ("input", _folder_with_loop),
    "folder in the way": ("output", lambda setting: setting.target.mkdir()),
    "file in the way": ("output", _file_in_way),
    "odd names": ("input", _odd_names),
    "device": ("names", partial(_names, "/dev/null", "/dev/null/x")),
    "device as output": ("written file", lambda setting: setting.target.symlink_to("/dev/full")),
    "FIFO as input": ("file", partial(_fifo_as_input, 1.0)),
    "FIFO that breaks off": ("file", partial(_fifo_as_input, 0.5)),
    "FIFO without a writer": ("file", partial(_fifo_as_input, 0.0)),
    "FIFO as output": ("output", partial(_fifo_as_output, True)),
    "FIFO without a reader": ("output", partial(_fifo_as_output, False)),
    "FIFO in a folder": ("own", partial(_in_folder, os.mkfifo)),
    "loop of links in a folder": ("own", partial(_in_folder, lambda path: path.symlink_to(path.name))),
    "broken link in a folder": ("own", partial(_in_folder, lambda path: path.symlink_to("nowhere"))),
    "read-only folder": ("all", partial(_forbid, "a-w", "")),
    "unreadable input": ("input", partial(_forbid, "000", "input")),
    "unreadable folder": ("own", partial(_forbid, "000", "own")),
}


def _concerns(subject: str, case: Case, place: Path) -> bool:
    writes = case.suffix is not None
    return {
        "input": bool(case.input),
        "file": (place / case.input).is_file(),
        "output": writes,
        "written file": writes and not case.folder,
        "names": writes or bool(case.input),
        "own": bool(case.own),
        "all": True,
    }[subject]


def commands(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Run every command in hostile environments, as many as there are rounds: an exit code and one message."""
    workplace = make_workplace(folder)
    tally.check(not (missing := commands_without_case()), f"no case for the commands {missing}")
    kinds = [*SHELLS, *FILES]
    if subprocess.run(["unshare", "-rmn", "true"], capture_output=True).returncode:
        kinds = [kind for kind in kinds if kind not in _NAMESPACES]
    for name, case in CASES.items():
        concerned = [kind for kind in kinds if kind in SHELLS or _concerns(FILES[kind][0], case, workplace)]
        for kind in chance.sample(concerned, min(rounds, len(concerned))):
            with fresh(folder, workplace) as place:
                setting = Setting(place, case, case.input, chance, shell=SHELLS.get(kind, '"$@"'))
                if kind in FILES:
                    FILES[kind][1](setting)
                ended = setting.run()
                if kind in _QUIET and ended.code == 2:
                    ended = Ended(2, "", "error")
                fault = ended.fault()
                if not fault and kind not in ("full disk", "deleted folder"):
                    fault = left_parts(place)
                tally.without(fault, f"{name}, {kind}")
    tally.notes = f"{len(CASES)} commands, {len(kinds)} environments"
