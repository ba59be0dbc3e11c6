"""Checksums of the files of a corpus, to find damage and name the file."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linker.common.errors import DataError
from linker.common.files import sha256_of

FACTS, POSTS, CHECKSUMS = "corpus.json", "posts.lance", "checksums.jsonl"
VERSIONS = f"{POSTS}/_versions/"
MEND = "restore it from a copy, or build the corpus again"
CHANGED = "was changed since it was written"
# In place of the checksum of a file that was replaced.
_FORGOTTEN = "replaced"
# The only file that Lance rewrites; it is a hint only.
_CHANGES = "latest_version_hint.json"


@dataclass
class Checksums:
    """The recorded checksums.

    Attributes:
        known: file, relative to the corpus → SHA-256.
        forgotten: files that a compaction has replaced, and removes.
        damaged: numbers of the damaged lines.
        whole: number of bytes of complete lines; an incomplete line after them was interrupted and does not count.
    """

    known: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    damaged: list[int] = field(default_factory=list)
    whole: int = 0

    @classmethod
    def read(cls, folder: Path) -> Checksums:
        """Read the checksums of a corpus."""
        found = cls()
        path = folder / CHECKSUMS
        content = path.read_bytes() if path.is_file() else b""
        found.whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[: found.whole].splitlines(), start=1):
            try:
                name, sha256, check = json.loads(line)
                if check != _check(name, sha256):
                    raise ValueError
                if sha256 == _FORGOTTEN:
                    found.known.pop(name, None)
                    found.forgotten.add(name)
                else:
                    found.known[name] = sha256
            except (ValueError, TypeError):
                found.damaged.append(number)
        return found


class ChecksumWriter:
    """Records the checksums of new files; files never change once written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: set[str] | None = None

    def record(self, data: Mapping[str, str | None] | None = None) -> None:
        """Record the checksums of new files; for the writer of the corpus.

        Args:
            data: data file → its checksum; None: computed here. Data files that are not in it may not be complete.
        """
        path = self._folder / CHECKSUMS
        if self._known is None:
            there = Checksums.read(self._folder)
            self._known = there.known.keys() | there.forgotten
            if path.is_file() and path.stat().st_size > there.whole:
                os.truncate(path, there.whole)
        found: dict[str, str | None] = dict(data or {})
        found.update(dict.fromkeys(files_of(self._folder, with_data=False)))
        new = {name: sha256 for name, sha256 in found.items() if name not in self._known}
        if not new:
            return
        self._add((name, sha256 or sha256_of(self._folder / name)) for name, sha256 in new.items())
        self._known.update(new)

    def forget(self, names: Iterable[str]) -> None:
        """Record that files were replaced, before they are removed; for the writer of the corpus."""
        self.record()
        self._add((name, _FORGOTTEN) for name in names)
        self._known = None

    def _add(self, entries: Iterable[tuple[str, str]]) -> None:
        lines = [json.dumps([name, sha256, _check(name, sha256)]) + "\n" for name, sha256 in entries]
        try:
            with open(self._folder / CHECKSUMS, "a", encoding="utf-8") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._known = None  # the last line may be incomplete
            raise


def files_of(folder: Path, with_data: bool = True) -> list[str]:
    """Return the files of a corpus that never change, relative to it, sorted.

    Args:
        folder: the corpus.
        with_data: False leaves out the data files.
    """
    names = [FACTS] if (folder / FACTS).is_file() else []
    left_out = {_CHANGES} if with_data else {_CHANGES, "data"}
    return names + sorted(_below(folder, POSTS, left_out))


def check_newest(folder: Path) -> None:
    """Check the newest manifest, without which Lance would crash or silently miss posts.

    Raises:
        DataError: if it is missing or was changed.
    """
    known = {
        name: sha256 for name, sha256 in Checksums.read(folder).known.items() if name.startswith(VERSIONS)
    }
    # The later, the smaller the number in the name.
    newest = min([*manifests(folder)[:1], *known], default=None)
    if newest not in known:
        return  # its append was interrupted before the checksum was recorded
    path = folder / newest
    if not path.is_file() or sha256_of(path) != known[newest]:
        raise DataError(f"{path}: {CHANGED if path.is_file() else 'is missing'}; {MEND}")


def manifests(folder: Path) -> Sequence[str]:
    """Return the manifests of the Lance dataset, one per append, latest first, relative to the corpus."""
    return sorted(name for name in _below(folder, VERSIONS.rstrip("/")) if name.endswith(".manifest"))


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


def _check(name: str, sha256: str) -> int:
    return zlib.crc32(f"{name} {sha256}".encode())
