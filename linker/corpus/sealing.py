"""A checksum for every file of the posts, so that a flipped byte is found and named."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from linker.corpus.store import POSTS, Store
from linker.files import sha256_of

CHECKSUMS = "checksums.jsonl"
# The one file that Lance writes anew; it is a hint only.
_CHANGES = "latest_version_hint.json"


def seal(store: Store) -> None:
    """Take down the checksums of the files that have none yet; none is ever changed once written."""
    known = checksums(store)
    lines = [
        json.dumps({"file": name, "sha256": sha256_of(store.folder / name)}) + "\n"
        for name in files_of(store)
        if name not in known
    ]
    if lines:
        with open(store.folder / CHECKSUMS, "a+", encoding="utf-8") as file:
            if file.tell():
                file.seek(file.tell() - 1)
                if file.read(1) != "\n":  # cut off by a kill
                    file.write("\n")
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())


def checksums(store: Store) -> dict[str, str]:
    """File → SHA-256, as taken down; a line that a kill cut off does not count."""
    path = store.folder / CHECKSUMS
    known = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                content = json.loads(line)
                known[content["file"]] = content["sha256"]
            except (ValueError, KeyError, TypeError):
                continue
    return known


def files_of(store: Store) -> Iterator[str]:
    """The files of the Lance dataset that never change, relative to the corpus, sorted."""
    for path in sorted((store.folder / POSTS).rglob("*")):
        if path.is_file() and path.name != _CHANGES:
            yield path.relative_to(store.folder).as_posix()
