"""Files that linker reads, damaged where their structure is."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.reliability.commands import DATA, ROOT, Tally
from linker.annotation.session.session import Session
from linker.articles.loading import load_articles
from linker.common.errors import LinkerError
from linker.config import load_config
from linker.data.io.records import read_articles, read_posts
from linker.data.labels.reading import read_labels
from linker.data.types import Article, Post
from linker.ranking.ranker import load

_SLOW = 30.0
_LARGE = 5_000_000
_WORDS = (
    b"null", b"NaN", b"-1", b"1e999", b"9" * 400, b"true", b'""', b"[]", b"{}", b'"\\ud83d"', b"\x00", b"\xff\xfe",
    b"\n", b'"', b",", b"\t", b"]" * 200, b"[" * 2_000, b"\xed\xa0\x80", b"'", b"\\", b"x" * 70_000, b"..", b"%s",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e300,
    10**400,
    "",
    "x",
    [],
    {},
    [[]],
    {"a": None},
    "\x00",
    "9999-99-99",
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a file with one to three damages: bits, tokens, lines, lengths, or a JSON value."""
    for _ in range(chance.randint(1, 3)):
        kind = chance.randrange(8)
        at = chance.randrange(len(content) + 1)
        if kind == 0 and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + chance.choice(_WORDS) + content[at:]
        elif kind == 2:
            content = content[:at]
        elif kind == 3:
            end = min(len(content), at + chance.randint(1, 200))
            content = content[:at] + content[end:]
        elif kind == 4:
            lines = content.split(b"\n")
            chance.shuffle(lines)
            content = b"\n".join(lines[: chance.randint(1, len(lines))])
        elif kind == 5:
            tokens = list(re.finditer(rb"[\w.+-]+", content[:100_000]))
            if tokens:
                token = chance.choice(tokens)
                content = content[: token.start()] + chance.choice(_WORDS) + content[token.end() :]
        else:
            content = _with_other_value(content, chance)
    return content


def _with_other_value(content: bytes, chance: random.Random) -> bytes:
    """Replace a value of the JSON in a file, or in one of its lines, by one of another type."""
    lines = [content] if content.startswith(b"{\n") else content.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):  # an earlier change nested it too deep
        return content
    here = value
    path: list[tuple[Any, Any]] = []
    while isinstance(here, (dict, list)) and here and (not path or chance.random() < 0.7):
        key = chance.choice(list(here)) if isinstance(here, dict) else chance.randrange(len(here))
        path.append((here, key))
        here = here[key]
    if not path:
        return content
    parent, key = path[-1]
    if chance.random() < 0.2:
        del parent[key]
    else:
        parent[key] = chance.choice(_VALUES)
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def _session(folder: Path) -> None:
    posts = [Post(str(n), f"otters {n} below the weir of the river {n * n}") for n in range(12)]
    session = Session.create(
        folder, [Article("a", "Otters below the weir.", "Otters")], posts, background=False, model="bm25"
    )
    for post, value in (("1", "relevant"), ("2", "not"), ("3", "skip")):
        session.label("Ada", post, value)  # type: ignore[arg-type]
    session.close()


def _open_session(folder: Path) -> None:
    with Session.open(folder) as session:
        session.next("Ada", 2)
        session.status()


def _targets(folder: Path) -> list[tuple[Path, Callable[[], object]]]:
    """The files, each with what reads it."""
    found: list[tuple[Path, Callable[[], object]]] = []

    def add(name: str, content: bytes, read: Callable[[Path], object]) -> None:
        path = folder / name
        path.write_bytes(content)
        found.append((path, lambda: read(path)))

    posts = b"\n".join((DATA / "posts.jsonl").read_bytes().split(b"\n")[:30])
    rows = [json.loads(line) for line in posts.split(b"\n") if line]
    csv = "id,text,created_at\n" + "".join(
        f'{row["id"]},"{row["text"].replace(chr(34), "")}",2021-05-14\n' for row in rows
    )
    add("posts.jsonl", posts, lambda path: read_posts(str(path)))
    add("posts.csv", csv.encode(), lambda path: read_posts(str(path)))
    add("posts.tsv", csv.replace(",", "\t").replace('"', "").encode(), lambda path: read_posts(str(path)))
    add("posts.json", json.dumps({"data": rows}, indent=1).encode(), lambda path: read_posts(str(path)))
    add(
        "articles.jsonl",
        (DATA / "articles.jsonl").read_bytes()[:8_000],
        lambda path: read_articles(str(path)),
    )
    add("page.html", (DATA / "article.html").read_bytes(), lambda path: load_articles(path, force=True))
    add("article.json", b'{"id": "a", "title": "Otters", "text": "Two otters were seen."}', load_articles)
    add("labels.csv", b"id,relevant\n1,1\n2,0\n3,1\n", read_labels)
    add("config.jsonnet", (ROOT / "configs" / "ast.jsonnet").read_bytes(), load_config)
    _session(folder / "session")
    for path in sorted((folder / "session").iterdir()):
        if path.is_file():
            found.append((path, lambda: _open_session(folder / "session")))
    shutil.copytree(ROOT / "linker" / "models" / "pretrained" / "best", folder / "model")
    for path in sorted((folder / "model").rglob("*")):
        if path.is_file() and path.stat().st_size < _LARGE:
            found.append(
                (path, lambda: load(str(folder / "model")).rank("otters below the weir", ["otters"]))
            )
    return found


def files(folder: Path, cases: int, chance: random.Random) -> Tally:
    """Read damaged files: each is read, or refused with one message."""
    tally, slowest = Tally(), (0.0, "")
    targets = _targets(folder)
    kept = {path: path.read_bytes() for path, _ in targets}
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for number in range(cases):
        path, read = targets[number % len(targets)]
        content = mutated(kept[path], chance)
        path.write_bytes(content)
        begun, fault = time.monotonic(), ""
        try:
            read()
        except LinkerError:
            pass
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
            fault = f"{error!r:.200} at {place}"
        took = time.monotonic() - begun
        slowest = max(slowest, (took, path.name))
        if took > _SLOW:
            fault = f"{took:.0f} s"
        if not tally.check(not fault, f"{path.relative_to(folder)}: {fault}"):
            with suppress(OSError):
                (folder.parent / f"fault-{number}-{path.name}").write_bytes(content)
        for other, before in whole.items():
            if other == path or other.parent.name == "session" == path.parent.name:
                other.write_bytes(before)
    tally.notes = f"slowest {slowest[0]:.1f} s: {slowest[1]}"
    return tally
