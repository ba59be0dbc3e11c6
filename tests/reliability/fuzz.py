"""Files that linker reads, damaged where their structure is."""

import json
import random
import re
import shutil
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from linker.annotation.session.session import Session
from linker.articles.loading import load_articles
from linker.common.errors import LinkerError
from linker.config import load_config
from linker.data.io.records import read_articles, read_posts
from linker.data.labels.reading import read_labels
from linker.data.types import Article, Post
from linker.ranking.ranker import load
from tests.reliability.harness import DATA, ROOT, Tally

_SLOW = 30.0
_LARGE = 5_000_000
_WORDS = (
    b"null", b"NaN", b"-1", b"1e999", b"9" * 400, b"true", b'""', b"[]", b"{}", b'"\\ud83d"', b"\x00", b"\xff\xfe",
    b"\n", b'"', b",", b"\t", b"]" * 200, b"[" * 2_000, b"\xed\xa0\x80", b"'", b"\\", b"x" * 70_000, b"..", b"%s",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e300, 10**400, "", "x", [], {}, [[]], {"a": None}, "\x00", "9999-99-99",
)  # fmt: skip


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a file with one to three damages: bits, tokens, lines, lengths, or a JSON value."""
    for _ in range(chance.randint(1, 3)):
        kind, at, new = chance.randrange(8), chance.randrange(len(content) + 1), chance.choice(_WORDS)
        if kind == 0 and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + new + content[at:]
        elif kind == 2:
            content = content[:at]
        elif kind == 3:
            content = content[:at] + content[at + chance.randint(1, 200) :]
        elif kind == 4:
            lines = content.split(b"\n")
            chance.shuffle(lines)
            content = b"\n".join(lines[: chance.randint(1, len(lines))])
        elif kind == 5 and (tokens := list(re.finditer(rb"[\w.+-]+", content[:100_000]))):
            token = chance.choice(tokens)
            content = content[: token.start()] + new + content[token.end() :]
        elif kind > 5:
            content = _with_other_value(content, chance)
    return content


def _with_other_value(content: bytes, chance: random.Random) -> bytes:
    """Replace a value of the JSON in a file, or in one of its lines, by one of another type."""
    here: Any
    parent: Any
    key: Any
    lines = [content] if content.startswith(b"{\n") else content.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):  # an earlier change nested it too deep
        return content
    here, parent, key = value, None, None
    while isinstance(here, (dict, list)) and here and (parent is None or chance.random() < 0.7):
        parent, key = (
            here,
            chance.choice(list(here)) if isinstance(here, dict) else chance.randrange(len(here)),
        )
        here = parent[key]
    if parent is None:
        return content
    if chance.random() < 0.2:
        del parent[key]
    else:
        parent[key] = chance.choice(_VALUES)
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def _start_session(folder: Path) -> None:
    posts = [Post(str(n), f"otters {n} below the weir of the river {n * n}") for n in range(12)]
    article = Article("a", "Otters below the weir.", "Otters")
    with Session.create(folder, [article], posts, model="bm25") as session:
        session.label("Ada", "1", "relevant")
        session.label("Ada", "2", "not")
        session.label("Ada", "3", "skip")


def _open_session(folder: Path) -> None:
    with Session.open(folder) as session:
        session.next("Ada", 2)
        session.status()


def _targets(folder: Path) -> list[tuple[Path, Callable[[], object]]]:
    """Return the files, each with what reads it."""
    posts = b"\n".join((DATA / "posts.jsonl").read_bytes().split(b"\n")[:30])
    rows = [json.loads(line) for line in posts.split(b"\n") if line]
    lines = [f'{row["id"]},"{row["text"].replace(chr(34), "")}",2021-05-14\n' for row in rows]
    csv = "id,text,created_at\n" + "".join(lines)
    contents: dict[str, tuple[bytes, Callable[[str], object]]] = {
        "posts.jsonl": (posts, read_posts),
        "posts.csv": (csv.encode(), read_posts),
        "posts.tsv": (csv.replace(",", "\t").replace('"', "").encode(), read_posts),
        "posts.json": (json.dumps({"data": rows}, indent=1).encode(), read_posts),
        "articles.jsonl": ((DATA / "articles.jsonl").read_bytes()[:8_000], read_articles),
        "page.html": ((DATA / "article.html").read_bytes(), partial(load_articles, force=True)),
        "article.json": (b'{"id": "a", "title": "Otters", "text": "Two otters were seen."}', load_articles),
        "labels.csv": (b"id,relevant\n1,1\n2,0\n3,1\n", read_labels),
        "config.jsonnet": ((ROOT / "configs" / "ast.jsonnet").read_bytes(), load_config),
    }
    targets: list[tuple[Path, Callable[[], object]]] = []
    for name, (content, read) in contents.items():
        (folder / name).write_bytes(content)
        targets.append((folder / name, partial(read, str(folder / name))))
    _start_session(folder / "session")
    shutil.copytree(ROOT / "linker" / "models" / "pretrained" / "best", folder / "model")

    def rank() -> object:
        return load(str(folder / "model")).rank("otters below the weir", ["otters"])

    for name, open_ in (("session", partial(_open_session, folder / "session")), ("model", rank)):
        files = [path for path in sorted((folder / name).rglob("*")) if path.is_file()]
        targets += [(path, open_) for path in files if path.stat().st_size < _LARGE]
    return targets


def files(tally: Tally, folder: Path, cases: int, chance: random.Random) -> None:
    """Read damaged files: each is read, or refused with one message."""
    targets = _targets(folder)
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for number in range(cases):
        path, read = targets[number % len(targets)]
        content = mutated(whole[path], chance)
        path.write_bytes(content)
        begun, fault = time.monotonic(), ""
        try:
            read()
        except LinkerError:
            pass
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"{error!r:.200} at {Path(last.filename).name}:{last.lineno}"
        seconds = time.monotonic() - begun
        if seconds > _SLOW:
            fault = f"{seconds:.0f} s"
        tally.time(seconds, path.name)
        if not tally.without(fault, f"{path.relative_to(folder)}"):
            with suppress(OSError):
                (folder.parent / f"fault-{number}-{path.name}").write_bytes(content)
        for other, before in whole.items():
            if other == path or other.parent.name == "session" == path.parent.name:
                other.write_bytes(before)
