"""Resolve inputs of a command line: files, folders, patterns, addresses, standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from glob import glob

from linker.common.errors import DataError
from linker.data.files import streams
from linker.data.files.streams import STANDARD_INPUT, is_address, is_page, shown_name
from linker.data.files.tables import ENDINGS

_MAGIC = re.compile(r"[*?[]")
ENDINGS_SHOWN = f"*{', *'.join(ENDINGS)}"
# Files of `--on-error skip`.
_SET_ASIDE = ".errors.jsonl"
# The posts in a person's archive of X.
_OF_X = re.compile(r"(^|/)data/tweets?(-part\d+)?\.js$")


def input_files(paths: Sequence[str]) -> list[str]:
    """Return all files that some inputs name, sorted within each input.

    A folder means all files below it, except hidden ones and bad lines that were set aside; of a person's archive of X,
    its posts. Which of them are tables is found by `linker.data.io.folders`. A pattern means the files that it
    matches: `*` and `?` within one name, `**/` any number of folders. If a file of exactly that name exists, `*`, `?`
    and `[` have no special meaning.

    Args:
        paths: files, folders, patterns, addresses (`s3://`, `https://`), or `-` for standard input.

    Raises:
        DataError: if a folder or pattern has no file, or a pipe or device among them, or an address is not found.
    """
    return [file for path in paths for file in files_of(path)[0]]


def check_inputs(paths: Sequence[str]) -> list[str]:
    """Return `input_files` after a check that local files exist, for a command to fail before any work.

    Raises:
        DataError: if a file is not found, or standard input is named twice.
    """
    if list(paths).count(STANDARD_INPUT) > 1:
        raise DataError("-: standard input is named more than once; give files for the other inputs")
    files = input_files(paths)
    for path in files:
        if path != STANDARD_INPUT and not is_address(path) and not os.path.exists(path):
            raise DataError(f"{shown_name(path)}: file not found; give a file or folder of posts")
    return files


def posts_of_x(names: Sequence[str]) -> list[str]:
    """Return the names of the files with the posts of a person's archive of X, among those of its files."""
    return [name for name in names if _OF_X.search(name)]


def _kind_of(path: str) -> str | None:
    """Return `file` or `folder`; None if it is not found."""
    if path == STANDARD_INPUT or is_page(path):
        return "file"
    if is_address(path):
        return streams.kind_of(path)
    return "folder" if os.path.isdir(path) else "file" if os.path.lexists(path) else None


def files_of(path: str) -> tuple[list[str], bool]:
    """Return the files that an input names, see `input_files`, and whether the input is a folder."""
    kind, is_remote = _kind_of(path), is_address(path)
    if kind == "file":
        return [path], False
    if kind == "folder":
        folder = f"{path.rstrip('/')}/"
        below = streams.files_below(folder) if is_remote else _files_below(folder)
        names = posts_of_x(below) or [
            name for name in below if not _is_hidden(name) and not name.endswith(_SET_ASIDE)
        ]
        if not names:
            raise DataError(f"{shown_name(path)}: the folder has no data file; expected {ENDINGS_SHOWN}")
        return _readable([folder + name for name in sorted(names)]), True
    if magic := _MAGIC.search(path):
        cut = path.rfind("/", 0, magic.start()) + 1
        if is_remote:
            names = streams.files_below(path[:cut], path[cut:])
            names = [path[:cut] + name for name in names if _is_hidden(path[cut:]) or not _is_hidden(name)]
        else:
            names = [name for name in glob(path, recursive=True) if not os.path.isdir(name)]
        if not names:
            raise DataError(f"{shown_name(path)}: the pattern matches no file")
        return _readable(sorted(names)), False
    if is_remote:
        raise DataError(f"{shown_name(path)}: file or folder not found")
    return [path], False


def _readable(files: list[str]) -> list[str]:
    """Return files that were found, not named, after a check that reading them ends.

    Raises:
        DataError: if one is a pipe or a device.
    """
    for path in files:
        if not is_address(path) and os.path.exists(path) and not os.path.isfile(path):
            raise DataError(f"{path}: a pipe or a device among the files; remove it, or name the files")
    return files


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


def _files_below(folder: str) -> list[str]:
    """Names relative to the folder."""

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error

    return [
        os.path.relpath(os.path.join(above, name), folder).replace(os.sep, "/")
        for above, _, names in os.walk(folder, onerror=refuse)
        for name in names
    ]
