"""What leaves this machine: uploads of model folders, and tables that a spreadsheet opens."""

import csv
import json
import platform
import random
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from linker.common.files import sha256_of
from linker.data.files.known_columns import words
from linker.models.pretrained import DISTILLED, FOLDERS
from tests.helpers.forked import run_linker
from tests.helpers.loopback_hub import TOKEN, hub_on_loopback
from tests.reliability.harness import Ended, Tally, fresh, run, write_rows

_USER, _SECRET = "ann.secret", "hf_" + "Z9" * 17
_FORMULAS = ("=cmd|' /C calc'!A0", "+1+cmd|x", "-1+SUM(A1)", "@SUM(A1)", "\t=1+1", "'=1+1", "＝1+1")
_PATHS = ["HOME/study/a.csv", "~/b.csv", f"~{_USER}/c.csv", "../../d.csv", "file://HOME/e.csv"]
_PATHS += ["of HOME/f.csv, mine", rf"C:\Users\{_USER}\g.csv", f"/home/{_USER}", f"see /Users/{_USER}/h.csv"]
Attack = Callable[[Path], object]


def _add(name: str, value: object) -> Attack:
    """Return what puts a text into a file, or values into one of JSON."""

    def add(model: Path) -> None:
        path = model / name
        before = json.loads(path.read_text("utf-8")) if isinstance(value, dict) and path.exists() else {}
        text = json.dumps({**before, **value}) if isinstance(value, dict) else str(value)
        path.write_text(text.replace("HOME", str(model.parent)), "utf-8")

    return add


def _list(name: str, text: str = "") -> Attack:
    """Return what puts a file into the manifest, with its checksum."""

    def add(model: Path) -> None:
        if text:
            _add(name, text)(model)
        manifest = json.loads((model / "manifest.json").read_text("utf-8"))
        _add("manifest.json", {"sha256": {**manifest["sha256"], name: sha256_of(model / name)}})(model)

    return add


def _link(name: str) -> Attack:
    """Return what leaves a link where a file or folder was, to where it is now."""

    def add(model: Path) -> None:
        if (model / name).exists():
            (model.parent / "secret.txt").unlink()
            (model / name).rename(model.parent / "secret.txt")
        (model / name).symlink_to(model.parent / "secret.txt")

    return add


_HARMLESS: dict[str, Attack] = {
    "paths in a config": _add(
        "config.json", {"nested": [{"deep": _PATHS}], "HOME/key.csv": {"HOME/x": "HOME"}}
    ),
    "paths in metrics": _add("metrics.json", {"HOME/posts.jsonl": 0.5, "on": _PATHS}),
    "paths in a card": _add("README.md", "Of HOME/study/a.csv, (HOME/b.csv) and HOME.\n"),
    "a file of the user": _add("notes.txt", _SECRET),
    "a hidden file of the user": _add(".env", _SECRET),
    "a link that is not listed": _link("elsewhere"),
}
#: Attacks that are refused, with words of the message.
_REFUSED: dict[str, tuple[Attack, str]] = {
    "a link to a file": (_link("part-0/vocabulary.txt"), "a link"),
    "a link to a folder": (_link("part-0"), "a link"),
    "a link as card": (_link("README.md"), "a link"),
    "a file outside": (_list("../secret.json", "{}"), "lists ../secret.json"),
    "a file by its whole path": (_list("/etc/hosts"), "lists /etc/hosts"),
    "a hidden file in the manifest": (_list("part-0/.hidden.txt", "x"), "a hidden file"),
    "a token in a config": (_add("config.json", {"hub": {"token": "abc"}}), "looks like a token"),
    "a token in a card": (_add("README.md", f"With {_SECRET}."), "looks like a token"),
    "a password in metrics": (
        _add("metrics.json", {"on": f"https://{_USER}:x1@h.example/a"}),
        "looks like a token",
    ),
    "a path in a listed file": (_list("more.json", '["HOME/x.csv"]'), "a path of this machine"),
    "a changed file": (_add("part-0/vocabulary.txt", "otter"), "does not match its checksum"),
}


def publishing(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Push model folders with each attack beside harmless ones, or while they change; look for formulas in tables."""
    names = (*_HARMLESS, *_REFUSED, "changes during the upload")
    for name in names * rounds:
        with fresh(folder) as place:
            _push(tally, place, name, chance)
    with fresh(folder) as place:
        _tables(tally, place)


def _push(tally: Tally, place: Path, name: str, chance: random.Random) -> None:
    home = place / _USER
    model = shutil.copytree(FOLDERS[DISTILLED], home / "model")
    _add("../secret.txt", _SECRET)(model)
    attack, message = _REFUSED.get(name, (_HARMLESS.get(name), ""))
    beside = [_HARMLESS[other] for other in chance.sample(list(_HARMLESS), 3) if "card" not in name + other]
    for add in (*beside, *filter(None, [attack])):
        add(model)
    with hub_on_loopback() as hub:
        if name == "changes during the upload":

            class Requests(list[str]):
                def append(self, request: str) -> None:
                    if "repos/create" in request:
                        for file in ("config.json", "manifest.json", "part-0/model.safetensors"):
                            (model / file).unlink(missing_ok=True)
                            _link(file)(model)
                    super().append(request)

            hub.requests = Requests()
        # Offline, nothing is uploaded.
        variables = {"HOME": str(home), "HF_HOME": str(place / "hub"), "HF_HUB_OFFLINE": "0"}
        variables |= {"HF_ENDPOINT": hub.address, "HF_TOKEN": TOKEN}
        ended = run(words("model push model user/model"), home, changes=variables)
        files = {} if not hub.repositories else hub.files("user/model")
    files.pop(".gitattributes", None)
    tally.without(ended.fault((2,) if message else (0,)), name)
    tally.check(message in " ".join(ended.err.split()), f"{name}: not {message!r}: {ended.err[-300:]!r}")
    listed = set(re.findall(r"^(\S+): [\d,]+ bytes$", ended.err, re.MULTILINE))
    tally.check(files.keys() <= listed and bool(message) != bool(files), f"{name}: uploaded {sorted(files)}")
    allowed = {"config.json", "metrics.json", "README.md", *listed} - {"notes.txt", ".env", "elsewhere"}
    tally.check(files.keys() <= allowed, f"{name}: {files.keys() - allowed} not of the model")
    private = (_USER, str(place), str(home), _SECRET, TOKEN, *[platform.node()] * (len(platform.node()) > 4))
    leaks = [(file, word) for file, content in files.items() for word in private if word.encode() in content]
    tally.check(not leaks, f"{name}: leaks {leaks}")


def _tables(tally: Tally, place: Path) -> None:
    """Write all formats from values and names that are formulas; no cell is one, and no file has a path."""
    bad = [dict.fromkeys(_FORMULAS, value) for value in _FORMULAS]
    posts = [
        {
            "id": value.strip(),
            "text": f"{value} ferry w{n}",
            "author": value,
            "x_=1": value,
            "article_id": "=2+3",
            **names,
        }
        for n, (value, names) in enumerate(zip(_FORMULAS, bad))
    ]
    (place / "out").mkdir()
    write_rows(place / "posts.jsonl", posts)
    write_rows(place / "articles.jsonl", [{"id": "=2+3", "title": "=1+1", "text": "The ferry sank."}])
    write_rows(
        place / "labels.jsonl",
        [{"post_id": post["id"], "label": "not", "annotator": "=me", "note": post["text"]} for post in posts],
    )
    about = f"--article {place}/articles.jsonl --posts {place}/posts.jsonl --model bm25"
    endings = ["csv", "tsv", "xlsx", "jsonl", "json", "html"]
    commands = [f"rank {about} --copies --out out/rank.{ending}" for ending in endings]
    commands += [f"annotate start job {about}", "annotate import job labels.jsonl"]
    endings = ["csv", "xlsx", "asreview", "jsonl"]
    commands += [f"annotate export job --out out/job.{ending}" for ending in endings]
    commands += [f"corpus build {place}/posts.jsonl --out corpus --model distilled"]
    search = "corpus search corpus --article articles.jsonl --out"
    commands += [f"{search} out/corpus.{ending}" for ending in ("csv", "xlsx")]
    pairs = about.replace("--article ", "--articles ")
    commands.append(f"annotate simulate {pairs} --seeds 1 --workers 1 --strategy random --out out/simulation")
    for command in commands:
        done = run_linker(place, *command.split())
        tally.without(Ended(done.returncode, done.stdout, done.stderr).fault((0,)), command)
    written = {path: path.suffix for path in (place / "out").rglob("*") if path.is_file()}
    tally.check(len(written) >= 14, f"{len(written)} files were written")
    for path, ending in written.items():
        content = [path.read_bytes()]
        if ending == ".xlsx":
            with zipfile.ZipFile(path) as sheets:
                content = [sheets.read(name) for name in sheets.namelist()]
                tally.check(b"<f" not in sheets.read("xl/worksheets/sheet1.xml"), f"{path.name}: a formula")
        elif ending in (".csv", ".tsv", ".asreview"):
            text, tab = path.read_text(encoding="utf-8-sig"), "\t" if ending == ".tsv" else ","
            cells = [
                cell for row in csv.reader(text.splitlines(keepends=True), delimiter=tab) for cell in row
            ]
            formulas = [cell for cell in cells if re.match(r"\s*([=＝]|[+\-@].*[(|])", cell)]
            tally.check(cells and not formulas, f"{path.name}: {formulas[:3]}")
        tally.check(not any(str(place).encode() in part for part in content), f"{path.name}: a path")
