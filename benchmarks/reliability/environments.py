"""Every command in environments that are not those of a developer."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from benchmarks.reliability.commands import DATA, ROOT, SAMPLE, Tally, environment, fault_of, run

_POSTS, _ARTICLES = str(DATA / "posts.jsonl"), str(DATA / "articles.jsonl")
#: `OUT` is where results go, `IN` is a file of posts.
COMMANDS: dict[str, tuple[str, ...]] = {
    "rank": ("rank", "--article", SAMPLE[1], "--posts", "IN", "--model", "bm25", "--out", "OUT.csv"),
    "rank to the terminal": (
        "rank",
        "--article",
        SAMPLE[1],
        "--posts",
        "IN",
        "--model",
        "bm25",
        "--top",
        "3",
    ),
    "corpus build": ("corpus", "build", "IN", "--out", "OUT", "--model", "distilled"),
    "corpus info": ("corpus", "info", "OUT"),
    "corpus search": ("corpus", "search", "OUT", "--article", SAMPLE[1]),
    "corpus verify": ("corpus", "verify", "OUT"),
    "annotate start": (
        "annotate",
        "start",
        "OUT",
        "--article",
        SAMPLE[1],
        "--posts",
        "IN",
        "--model",
        "bm25",
    ),
    "annotate status": ("annotate", "status", "OUT"),
    "annotate next": ("annotate", "next", "OUT"),
    "annotate export": ("annotate", "export", "OUT", "--out", "OUT.jsonl"),
    "annotate import": ("annotate", "import", "OUT", "IN"),
    "simulate": ("simulate", "--articles", _ARTICLES, "--posts", "IN", "--model", "bm25"),
    "train": (
        "train",
        str(ROOT / "configs" / "quickstart.jsonnet"),
        "-o",
        "trainer.epochs=1",
        "--out",
        "OUT",
    ),
    "fetch": ("fetch", "IN", "--out", "OUT", "--contact", "me@lab.example"),
    "export": ("export", "OUT", "--onnx"),
    "vectors info": ("vectors", "info", "IN"),
    "vectors train": ("vectors", "train", "--texts", "IN", "--out", "OUT.txt"),
    "evaluate": ("evaluate", "bm25", "--articles", _ARTICLES, "--posts", "IN"),
    "benchmark": ("benchmark", "bm25", "--similarity", "IN"),
    "calibrate": (
        "calibrate",
        "--articles",
        _ARTICLES,
        "--posts",
        "IN",
        "--model",
        "bm25",
        "--out",
        "OUT.json",
    ),
    "plot reliability": ("plot", "reliability", "IN", "--out", "OUT.png"),
    "config check": ("config", "check", str(ROOT / "configs" / "quickstart.jsonnet")),
    "config show": ("config", "show", "IN"),
    "components": ("components",),
    "doctor": ("doctor",),
    "new": ("new", "encoder", "OUT"),
    "mine links": ("mine", "links", "IN", "--out", "OUT"),
    "help": ("--help",),
    "version": ("--version",),
}
#: Shell text around the command, which is `"$@"`.
_SHELLS = {
    "closed output": '"$@" >&-',
    "closed errors": '"$@" 2>&-',
    "closed input": '"$@" <&-',
    "all closed": '"$@" <&- >&- 2>&-',
    "a reader that goes away": '"$@" | head -c 1 >/dev/null',
    "full device": '"$@" >/dev/full',
    "full device for errors": '"$@" 2>/dev/full',
    "8 MiB of file size": 'ulimit -f 8192; "$@"',
    "64 descriptors": 'ulimit -n 64; "$@"',
    "no HOME": 'env -u HOME -u XDG_CACHE_HOME "$@"',
    "HOME that is a file": 'HOME=/dev/null XDG_CACHE_HOME=/dev/null "$@"',
    "C locale": 'LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$@"',
    "Latin-1 terminal": 'PYTHONIOENCODING=latin-1 "$@"',
    "narrow terminal": 'COLUMNS=1 LINES=1 "$@"',
    "deleted folder": 'mkdir gone && cd gone && rmdir ../gone && "$@"',
    "no temporary folder": 'TMPDIR=/nowhere "$@"',
}


def _names(folder: Path, name: str) -> tuple[str, str]:
    """Return an input and an output for an environment of names."""
    good = folder / "posts.jsonl"
    good.write_bytes(b"\n".join(Path(_POSTS).read_bytes().split(b"\n")[:40]))
    if name == "long name":
        return "x" * 300, "y" * 300
    if name == "huge name":
        return "x/" * 2_500, "y/" * 2_500
    if name == "loop of links":
        (folder / "one").symlink_to("two")
        (folder / "two").symlink_to("one")
        return str(folder / "one"), str(folder / "one")
    if name == "folder as input":
        (folder / "empty").mkdir()
        return str(folder / "empty"), str(folder / "out")
    if name == "file in the way":
        (folder / "out").write_text("x")
        return str(good), str(folder / "out" / "below")
    if name == "odd names":
        odd = folder / "a\n\x1b[31m*?é\udcff.jsonl"
        odd.write_bytes(good.read_bytes())
        return str(odd), str(folder / "-o\n*é")
    if name == "device":
        return "/dev/null", "/dev/null/x"
    return str(good), str(folder / "out")


NAMES = (
    "long name",
    "huge name",
    "loop of links",
    "folder as input",
    "file in the way",
    "odd names",
    "device",
)


def commands(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Run every command in hostile environments: an exit code and one message, never a traceback.

    Args:
        folder: an empty folder.
        rounds: environments for each command; all if there are fewer.
        chance: which.
    """
    tally = Tally()
    environments = (*_SHELLS, *NAMES)
    for name, arguments in COMMANDS.items():
        for kind in chance.sample(environments, min(rounds, len(environments))):
            place = folder / f"{tally.tried}"
            place.mkdir()
            given, out = _names(place, kind)
            words = [
                one.replace("IN", given).replace("OUT", out) if one.startswith(("IN", "OUT")) else one
                for one in arguments
            ]
            if kind in _SHELLS:
                command = ["bash", "-c", _SHELLS[kind], "bash", sys.executable, "-m", "linker", *words]
                try:
                    done = subprocess.run(
                        command, cwd=place, env=environment(), capture_output=True, text=True, errors="replace",
                        stdin=subprocess.DEVNULL, timeout=180,
                    )  # fmt: skip
                    code, err = done.returncode, done.stderr
                except subprocess.TimeoutExpired:
                    code, err = None, ""
                quiet = kind in ("closed errors", "all closed", "full device for errors")
                fault = fault_of(code, "error" if quiet and code == 2 else err)
            else:
                code, _, err = run(words, place, 180)
                fault = fault_of(code, err)
            tally.check(not fault, f"{name}, {kind}: {fault}")
    tally.notes = f"{len(COMMANDS)} commands, {len(environments)} environments"
    return tally
