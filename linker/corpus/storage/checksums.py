"""Checksums of the files of a corpus, to find damage and name the file."""

import json
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from linker.common.errors import DataError
from linker.common.files import sha256_of, write_json

FACTS, POSTS, CHECKSUMS = "corpus.json", "posts.lance", "checksums.json"
DATA = f"{POSTS}/data/"
MEND = "restore it from a copy, or build the corpus again"
CHANGED = "was changed since it was written"
# The only file that Lance rewrites; it is a hint only.
_HINT = "latest_version_hint.json"


def read_checksums(folder: Path) -> dict[str, str]:
    """Return file, relative to the corpus → SHA-256; files never change once written.

    Raises:
        DataError: if the file of checksums is damaged.
    """
    path = folder / CHECKSUMS
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_bytes())
        files: dict[str, str] = content["files"]
        if content["crc"] != _crc(files):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: {CHANGED}; {MEND}") from error
    return files


def record_checksums(folder: Path, data: Mapping[str, str | None] | None = None) -> None:
    """Record the checksums of new files; for the writer of the corpus.

    Args:
        folder: the corpus.
        data: data file → its checksum; None: computed here. Data files that are not in it may not be complete.
    """
    checksums = read_checksums(folder)
    present = {**dict.fromkeys(files_of(folder, with_data=False)), **(data or {})}
    new = {name: sha256 for name, sha256 in present.items() if name not in checksums}
    if new:
        _write(folder, checksums | {name: sha256 or sha256_of(folder / name) for name, sha256 in new.items()})


def forget_checksums(folder: Path, names: Iterable[str]) -> None:
    """Record that files were replaced, before they are removed; for the writer of the corpus."""
    checksums, replaced = read_checksums(folder), set(names)
    _write(folder, {name: sha256 for name, sha256 in checksums.items() if name not in replaced})


def _write(folder: Path, files: dict[str, str]) -> None:
    write_json(folder / CHECKSUMS, {"crc": _crc(files), "files": files})


def _crc(files: dict[str, str]) -> int:
    return zlib.crc32(json.dumps(files).encode())


def files_of(folder: Path, with_data: bool = True) -> list[str]:
    """Return the files of a corpus that never change, relative to it, sorted.

    Args:
        folder: the corpus.
        with_data: False leaves out the data files.
    """
    names = [FACTS] if (folder / FACTS).is_file() else []
    return names + sorted(_below(folder, POSTS, {_HINT} if with_data else {_HINT, "data"}))


def check_newest(folder: Path) -> None:
    """Check the newest manifest, without which Lance would crash or silently miss posts.

    Raises:
        DataError: if it is missing or was changed.
    """
    checksums = read_checksums(folder)
    recorded = (name for name in checksums if name.startswith(f"{POSTS}/_versions/"))
    # The later, the smaller the number in the name.
    newest = min([*manifests(folder)[:1], *recorded], default=None)
    if newest not in checksums:
        return  # its append was interrupted before the checksum was recorded
    path = folder / newest
    if not path.is_file() or sha256_of(path) != checksums[newest]:
        raise DataError(f"{path}: {CHANGED if path.is_file() else 'is missing'}; {MEND}")


def manifests(folder: Path) -> Sequence[str]:
    """Return the manifests of the Lance dataset, one per append, latest first, relative to the corpus."""
    return sorted(name for name in _below(folder, f"{POSTS}/_versions") if name.endswith(".manifest"))


def _below(folder: Path, name: str, left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield all files below a folder of a corpus, if it exists, but for those of some names."""
    try:
        entries = list(os.scandir(folder / name))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.name in left_out:
            continue
        if entry.is_dir():
            yield from _below(folder, f"{name}/{entry.name}", left_out)
        else:
            yield f"{name}/{entry.name}"
