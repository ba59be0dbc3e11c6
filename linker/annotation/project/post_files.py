"""Uploaded files of posts: how each is read, and what linker recognizes in it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from linker.common.errors import DataError, LinkerError
from linker.config import build
from linker.data.files.line_errors import BadLines
from linker.data.io.columns import PostColumns
from linker.data.io.records import empty_input_error, posts_by_file
from linker.data.types import Post
from linker.ranking.post_links import link_of

_LONGEST_NAME = 100
#: Posts that a preview counts and shows, characters of these, and keys whose temporary files are kept.
_COUNTED, _SHOWN, _LONGEST, _MOST_KEYS = 5_000, 3, 300, 20
#: Name of a file → how people want it to be read: arguments of `PostColumns`.
Choices = dict[str, dict[str, Any]]


class PostFiles:
    """Uploaded files of posts in a folder.

    Args:
        folder: created with the first file.
        choices: how they are read.
        keep: called with `reading`, the choices, when they change.
    """

    def __init__(self, folder: Path, choices: Choices, keep: Callable[..., object]) -> None:
        self.folder, self.choices, self._keep = folder, choices, keep

    def paths(self) -> list[Path]:
        """Return the files, by name."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path for path in found if path.is_file() and not path.name.startswith("."))

    def read(self, most: int | None = None) -> tuple[list[Post], list[str]]:
        """Return the posts of all files, at most a number of them, and how they were read.

        Raises:
            LinkerError: if a file cannot be read, or there is no post.
        """
        if not (paths := self.paths()):
            raise DataError("no posts; drop a file of posts first")
        posts, notes, error, _ = _read(paths, self.choices, most)
        if error:
            raise LinkerError(error)
        return posts, notes

    def preview(self, path: Path) -> dict[str, Any]:
        """Return how a file, also of another folder, would be read.

        The keys are those of `InputFile.reading`, `name`, `choice`, `count` of the posts up to 5,001, the first
        `posts`, `notes`, and the `error`, which is empty if there was none.
        """
        posts, notes, error, reading = _read([path], self.choices, _COUNTED + 1)
        shown = [
            (post.id, post.text[:_LONGEST], post.created_at and post.created_at.isoformat(), link_of(post))
            for post in posts[:_SHOWN]
        ]
        found = {"name": path.name, "count": len(posts), "posts": shown, "notes": notes, "error": error}
        return {**reading, **found, "choice": self.choices.get(path.name, {})}

    def add(self, path: Path) -> dict[str, Any]:
        """Move a file here, where it replaces one of its name, and return its preview.

        Raises:
            LinkerError: if nothing in it can be read.
        """
        found = self.preview(path)
        if found["error"] and not (found["posts"] or found.get("columns") or found.get("sheets")):
            raise LinkerError(found["error"])
        self.folder.mkdir(parents=True, exist_ok=True)
        os.replace(path, self.folder / path.name)
        return found

    def choose(self, name: str, choice: dict[str, Any] | None) -> Path:
        """Have a file read in another way and return its path; None: remove it.

        Raises:
            DataError: if it is not found.
        """
        path = self.folder / safe_name(name)
        if not path.is_file():
            raise DataError(f"{path.name}: is not here any more; reload the page")
        if choice is None:
            path.unlink()
        self._change({**self.choices, name: choice or {}})
        return path

    def move_to(self, other: PostFiles) -> None:
        """Move all files, with how they are read; one whose name is taken gets a number."""
        other.folder.mkdir(parents=True, exist_ok=True)
        moved: Choices = {}
        for path in self.paths():
            name, number = path.name, 2
            while (other.folder / name).exists():
                name, number = f"{number}-{path.name}", number + 1
            os.replace(path, other.folder / name)
            moved[name] = self.choices.get(path.name, {})
        other._change({**other.choices, **moved})
        self._change({})

    def _change(self, choices: Choices) -> None:
        self.choices = {name: choice for name, choice in choices.items() if choice}
        self._keep(reading=self.choices)


class TemporaryFiles:
    """Files of posts that belong to no project yet, in a folder of `parent`; they are deleted with this object."""

    def __init__(self, parent: Path | None = None) -> None:
        self._parent, self._files = parent, dict[str, PostFiles]()

    def get(self, key: str) -> PostFiles:
        """Return the files of a key; those of the least recent keys are deleted.

        Raises:
            DataError: if the key is not 32 hexadecimal digits.
        """
        if not re.fullmatch("[0-9a-f]{32}", key):
            raise DataError("files: not a key; reload the page")
        files = PostFiles(Path(self._folder.name) / key, {}, lambda **_: None)
        self._files[key] = files = self._files.pop(key, files)
        for least in list(self._files)[:-_MOST_KEYS]:
            shutil.rmtree(self._files.pop(least).folder, ignore_errors=True)
        return files

    @cached_property
    def _folder(self) -> TemporaryDirectory[str]:
        if self._parent is not None:
            self._parent.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(prefix=".uploads-", dir=self._parent)


def safe_name(name: str) -> str:
    """Return the name of a file without its folders and with harmless characters only."""
    last = re.split(r"[\\/]", name)[-1]
    kept = re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip("._-")
    return kept[-_LONGEST_NAME:].lstrip("._-") or "posts"


def _read(
    paths: Sequence[Path], choices: Choices, most: int | None
) -> tuple[list[Post], list[str], str, dict[str, Any]]:
    """Return posts of files in one folder, the notes, why reading ended early, and how the last file was read."""
    posts, bad_lines, error = list[Post](), BadLines(skippable=False), ""
    bad_lines.info = bad_lines.warn = bad_lines.notes.append  # type: ignore[method-assign, assignment]
    try:
        with bad_lines:
            files = {str(path): build(PostColumns, choices.get(path.name, {})) for path in paths}
            posts += islice(posts_by_file(files, bad_lines), most)
            if not posts and not bad_lines.total:
                raise empty_input_error([path.name for path in paths], "post")
    except LinkerError as problem:
        error = str(problem)
    error, *notes = (text.replace(f"{paths[0].parent}{os.sep}", "") for text in (error, *bad_lines.notes))
    return posts, notes, error, bad_lines.files[-1].reading if bad_lines.files else {}
