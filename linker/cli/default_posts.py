"""Posts of `linker rank` without `--posts`: a corpus or a file called `posts` in this folder, or standard input."""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path

from linker.common.errors import LinkerError

_FOLDERS = (".", "data")
_OTHERS = "(default; for others give --posts FILE)"
_NAME = re.compile(r"posts\.[a-z]+(\.(gz|bz2|xz|zst))?", re.IGNORECASE)


@dataclass(frozen=True)
class DefaultPosts:
    """Posts that were found.

    Attributes:
        note: a line about the choice.
        corpus: the folder of a corpus.
        files: files of posts, or `-` for standard input; empty if there is a corpus.
    """

    note: str
    corpus: Path | None = None
    files: list[str] = field(default_factory=list)


def default_posts(articles: list[str], corpora: bool = True) -> DefaultPosts:
    """Find the posts that `linker rank` ranks without --posts.

    The first of these that exists: a corpus (this folder or one in it), a file called `posts` with an ending
    of a format that is read (`posts.jsonl`, `posts.csv.gz`, ...), such a file in `data`, piped standard input.

    Args:
        articles: values of --article; standard input is not read twice.
        corpora: whether to look for corpora.

    Raises:
        LinkerError: if there are several candidates of a kind, or none; the message lists what to type.
    """
    article = shlex.join(articles) or "..."
    if corpora and (folders := _corpora()):
        folder = _only("corpora", folders, f"linker corpus search {{}} --article {article}")
        where = "this folder, a corpus" if folder == "." else f"{folder}, a corpus in this folder"
        return DefaultPosts(f"posts: {where} {_OTHERS}", Path(folder))
    for files in map(_files, _FOLDERS):
        if files:
            file = _only("files of posts", files, f"linker rank --article {article} --posts {{}}")
            return DefaultPosts(f"posts: {file} {_OTHERS}", files=files)
    if "-" not in articles and _is_piped():
        return DefaultPosts(f"posts: standard input {_OTHERS}", files=["-"])
    from linker.config.recipes import shared_folder

    sample = shlex.quote(str(shared_folder() / "data/posts.jsonl"))
    raise LinkerError(
        "no posts to rank: --posts is missing, and there is no posts.jsonl, posts.csv or the like in this folder or in "
        "data/, no corpus (searched without --model and --column), and nothing piped in; type\n"
        f"  linker rank --article {article} --posts FILE\n"
        f"or, with linker's sample of posts,\n  linker rank --article {article} --posts {sample}"
    )


def _only(what: str, found: list[str], command: str) -> str:
    """Return the only one; of several, report the command for each."""
    if len(found) > 1:
        commands = [command.format(shlex.quote(path)) for path in found]
        raise LinkerError("\n  ".join([f"{len(found)} {what} in this folder; type one of", *commands]))
    return found[0]


def _corpora() -> list[str]:
    from linker.corpus.storage.checksums import FACTS, POSTS

    def is_corpus(folder: Path) -> bool:  # corpus.json alone may be any file
        return (folder / FACTS).is_file() and (folder / POSTS).is_dir()

    here = Path(".")
    return ["."] if is_corpus(here) else [str(folder) for folder in _entries(here) if is_corpus(folder)]


def _files(folder: str) -> list[str]:
    from linker.data.files.tables import format_of_name

    names = [path for path in _entries(Path(folder)) if _NAME.fullmatch(path.name)]
    return [str(path) for path in names if format_of_name(path.name) and path.is_file()]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _is_piped() -> bool:
    """Return whether standard input is a pipe, a socket or a file with content, not a terminal or /dev/null."""
    try:
        status = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or replaced
        return False
    mode = status.st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and status.st_size > 0)
