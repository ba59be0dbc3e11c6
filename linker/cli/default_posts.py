"""Find posts for `linker rank` without `--posts`: a corpus or file in the current folder, or standard input."""

from __future__ import annotations

import io
import json
import os
import select
import shlex
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from linker.common.errors import LinkerError

PATIENCE = 10.0
"""Seconds to wait for the first byte on standard input if `--posts -` was not given."""

_FOLDERS = (".", "data")
_CORPUS, _FILES = "corpus", "files"
_SHOWN = 5
_LONGEST_COMMAND = 120


@dataclass(frozen=True)
class FoundPosts:
    """Posts that were found.

    Attributes:
        line: a message about the choice.
        corpus: the folder of a corpus.
        files: files of posts, or `-` for standard input; empty if there is a corpus.
    """

    line: str
    corpus: Path | None = None
    files: list[str] = field(default_factory=list)


def find_posts(articles: list[str], model: str | None = None, corpora: bool = True) -> FoundPosts:
    """Find the posts that a command ranks if --posts was not given.

    The first of these that exists: a corpus (the current folder or a folder in it), a file called `posts` with an
    ending that linker reads (`posts.jsonl`, `posts.csv.gz`, ...), such a file in the folder `data`, standard input if
    something is piped into it.

    Args:
        articles: values of --article; standard input is not read twice.
        model: value of --model; corpora that another model encoded come last.
        corpora: whether to look for corpora.

    Raises:
        LinkerError: if there are several candidates of a kind, or none; the message lists what to type.
    """
    found = _corpora() if corpora else []
    fitting = [folder for folder in found if model is None or _encoded_by(model, folder)]
    tiers: list[tuple[str, list[str]]] = [
        (_CORPUS, fitting),
        *((_FILES, _files(folder)) for folder in _FOLDERS),
        (_CORPUS, [folder for folder in found if folder not in fitting]),
    ]
    for number, (kind, tier) in enumerate(tiers):
        if len(tier) > 1:
            raise LinkerError(_several(articles, kind, tier))
        if tier:
            later = [(kind, path) for kind, paths in tiers[number + 1 :] for path in paths]
            return _found(kind, tier[0], later)
    if "-" not in articles and _is_piped():
        _wait_for_input(articles)
        return FoundPosts("reading posts from standard input", files=["-"])
    raise LinkerError(_nothing(articles))


def _corpora() -> list[str]:
    here = Path(".")
    return ["."] if _is_corpus(here) else sorted(str(entry) for entry in _entries(here) if _is_corpus(entry))


def _is_corpus(folder: Path) -> bool:
    """Return whether a folder is a corpus: corpus.json alone may be any file."""
    from linker.corpus.storage.checksums import FACTS, POSTS

    return (folder / FACTS).is_file() and (folder / POSTS).is_dir()


def _encoded_by(model: str, corpus: str) -> bool:
    from linker.corpus.storage.checksums import FACTS
    from linker.models.pretrained import FOLDERS

    try:
        encoder = json.loads(Path(corpus, FACTS).read_text(encoding="utf-8"))["model"]
        return os.path.realpath(encoder) == os.path.realpath(FOLDERS.get(model, model))
    except (OSError, ValueError, KeyError, TypeError):
        return False  # damaged: opening it raises an error


def _files(folder: str) -> list[str]:
    from linker.data.files.tables import format_of_name

    return sorted(
        str(path)
        for path in _entries(Path(folder))
        if format_of_name(path.name) and _stem(path.name) == "posts" and path.is_file()
    )


def _stem(name: str) -> str:
    """Return a file name without its ending and that of its compression."""
    stem, _, ending = name.lower().rpartition(".")
    return stem.rpartition(".")[0] if ending in ("gz", "bz2", "xz", "zst") else stem


def _entries(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []


def _found(kind: str, path: str, later: list[tuple[str, str]]) -> FoundPosts:
    corpus = kind == _CORPUS
    what = "this folder, a corpus" if path == "." else f"{path}, a corpus in this folder" if corpus else path
    others = [
        f"use `linker corpus search {shlex.quote(other)}`"
        if of == _CORPUS
        else f"give --posts {shlex.quote(other)}"
        for of, other in later[:1]
    ]
    others += ["give --posts - for standard input"] if _bytes_waiting() else []
    line = f"posts: {what} (none were named; for others {' or '.join(others or ['give --posts FILE'])})"
    return FoundPosts(line, Path(path) if corpus else None, [] if corpus else [path])


def _several(articles: list[str], kind: str, tier: list[str]) -> str:
    what = "corpora" if kind == _CORPUS else "files of posts"
    commands = [_command(articles, shlex.quote(path), kind) for path in tier]
    return "\n  ".join([f"{len(tier)} {what} in this folder; type one of", *commands])


def _nothing(articles: list[str], piped: str = "none are piped in") -> str:
    from linker.config.recipes import shared_folder
    from linker.data.files.tables import ENDINGS, format_of_name

    names = [entry.name for entry in _entries(Path(".")) if format_of_name(entry.name) and entry.is_file()]
    files = sorted(name for name in names if not _is_article(name, articles) and not name.endswith(".txt"))
    commands = [_command(articles, shlex.quote(name)) for name in files[:_SHOWN]]
    commands = commands or [_command(articles, "FILE")]
    sample = shared_folder() / "data"
    hints = [
        f"FILE has one post per row or line ({', '.join(ENDINGS)}); a folder of such files will do, too",
        f"or try linker's sample: {_command([str(sample / 'wolf.html')], shlex.quote(str(sample / 'posts.jsonl')))}",
    ]
    return "\n  ".join(
        [
            "no posts to rank: none were named, none are in this folder (a corpus, posts.jsonl, posts.csv or the like, "
            f"also in data/), and {piped}; type",
            *commands,
            *([] if files else hints),
        ]
    )


def _is_article(name: str, articles: list[str]) -> bool:
    return any(Path(article).name == name for article in articles if len(article) < 1000)


def _command(articles: list[str], posts: str, kind: str = _FILES) -> str:
    given = shlex.join(articles)
    article = f"--article {given if len(given) < _LONGEST_COMMAND and given else '...'}"
    return (
        f"linker corpus search {posts} {article}"
        if kind == _CORPUS
        else f"linker rank {article} --posts {posts}"
    )


def _is_piped() -> bool:
    """Return whether standard input is a pipe, a socket or a file, as opposed to a terminal or /dev/null."""
    mode = _mode()
    if mode is None or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)):
        return False
    return not stat.S_ISREG(mode) or os.fstat(sys.stdin.fileno()).st_size > 0


def _mode() -> int | None:
    try:
        return os.fstat(sys.stdin.fileno()).st_mode
    except (
        AttributeError,
        OSError,
        ValueError,
    ):  # closed, or replaced by something without a file descriptor
        return None


def _bytes_waiting() -> bool:
    """Return whether standard input has bytes already."""
    mode = _mode()
    if mode is None:
        return False
    if stat.S_ISREG(mode):
        return os.fstat(sys.stdin.fileno()).st_size > 0
    return stat.S_ISFIFO(mode) and _is_ready(0) and bool(_peek())


def _wait_for_input(articles: list[str]) -> None:
    """Wait for the first byte.

    Raises:
        LinkerError: if standard input is empty, or nothing arrives: many programs leave an unused pipe open.
    """
    if not _is_ready(0.5):
        print("waiting for posts on standard input", file=sys.stderr)
        if not _is_ready(PATIENCE):
            wait = _command(articles, "-    (waits for as long as it takes)")
            raise LinkerError(
                f"standard input: no bytes within {PATIENCE:g} seconds; type\n  "
                f"{_command(articles, '--posts FILE')}\n  {wait}"
            )
    if not _peek():
        raise LinkerError(_nothing(articles, "standard input is empty"))


def _is_ready(seconds: float) -> bool:
    """Return whether there are bytes, or the other side has closed the pipe."""
    if sys.platform == "win32":  # select supports only sockets there
        return True
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def _peek() -> bytes:
    """Return the next bytes without consuming them."""
    return cast(io.BufferedReader, sys.stdin.buffer).peek(1)
