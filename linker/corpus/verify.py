"""Verification of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import sha256_of
from linker.corpus.indexes.bm25 import Lexical
from linker.corpus.indexes.id_set import KeySet, keys_of
from linker.corpus.indexes.near_duplicates import GROUPS, Groups
from linker.corpus.indexes.vectors import Matrix, vectors_in
from linker.corpus.storage.checksums import CHANGED, CHECKSUMS, MEND, POSTS, VERSIONS, Checksums, files_of
from linker.corpus.storage.reader import ROWS_AT_ONCE, batches
from linker.corpus.storage.store import Store
from linker.data.near_duplicates import signatures

_AGAIN = "delete it, and it is created again"


@dataclass(frozen=True)
class Fault:
    """A damaged file, its problem and the remedy."""

    file: str
    problem: str


def faults(store: Store) -> Iterator[Fault]:
    """Yield all faults, reading everything once: files first, then rows."""
    checksums, present = Checksums.read(store.folder), files_of(store.folder)
    if checksums.damaged:
        lines = ", ".join(map(str, checksums.damaged[:5])) + ", …" * (len(checksums.damaged) > 5)
        yield Fault(CHECKSUMS, f"{CHANGED}, in line {lines}; {MEND}")
    # An interruption can keep at most one append from being recorded.
    elif sum(name.startswith(VERSIONS) and name not in checksums.known for name in present) > 1:
        recorded = (store.folder / CHECKSUMS).exists()
        yield Fault(CHECKSUMS, f"{'lacks lines' if recorded else 'is missing'}; {MEND}")
    damaged = False
    for name in track(present, "reading files", len(present)):
        # Without a checksum: its append was interrupted before recording it; its rows are read below.
        if name in checksums.known and sha256_of(store.folder / name) != checksums.known[name]:
            damaged = True
            yield Fault(name, f"{CHANGED}; {MEND}")
    for name in sorted(set(checksums.known) - set(present)):
        damaged = True
        yield Fault(name, f"is missing; {MEND}")
    indexes = store.folder if damaged else store.indexes(store.dataset())
    for path in [path for words in Lexical.stored(indexes) for path in words.damaged()]:
        yield Fault(path.relative_to(store.folder).as_posix(), f"{CHANGED}; {_AGAIN}")
    if not damaged:
        try:
            yield from _rows(store)
        except DataError as error:
            yield Fault(POSTS, str(error))


def _rows(store: Store) -> Iterator[Fault]:
    """Yield faults of the rows: repeated ids, embeddings that are not finite, indexes that do not match the posts."""
    dataset = store.dataset()
    count = 0 if dataset is None else dataset.count_rows()
    indexes = store.indexes(dataset)
    groups = Groups(indexes)
    matrix, signed = Matrix(indexes, store.facts.dim).file, groups.signatures
    derived = [file for file in (matrix, signed) if file.rows()]
    for file in derived:
        # Unless a writer has just appended posts.
        if file.rows() > count == store.count():
            yield Fault(file.path.name, f"holds more than the {count:,} posts; {_AGAIN}")
    if dataset is None:
        return
    rows = {file: file.existing(count) for file in derived}
    ids, place = KeySet(), 0
    posts = batches(dataset, ["id", "text", "vector"])
    for batch in track(posts, "reading posts", -(-count // ROWS_AT_ONCE)):
        where = f"among posts {place + 1:,} to {place + len(batch):,}"
        keys = keys_of(batch.column("id").to_pylist())
        if ids.contains(keys).any() or len(np.unique(keys, axis=0)) < len(keys):
            yield Fault(POSTS, f"duplicate id {where}; build the corpus again")
        ids.add(keys)
        vectors = vectors_in(batch)
        if not np.isfinite(vectors).all():
            yield Fault(POSTS, f"an embedding is not finite {where}; build the corpus again")
        for file in list(rows):
            expected = vectors if file is matrix else signatures(batch.column("text").to_pylist())
            stored = rows[file][place : place + len(batch)]
            if not np.array_equal(stored, expected[: len(stored)]):
                yield Fault(file.path.name, f"differs from the posts; {_AGAIN}")
                del rows[file]
        place += len(batch)
    if signed in rows and len(rows[signed]) == count and not groups.fits(rows[signed]):
        yield Fault(GROUPS, f"differs from the posts; {_AGAIN}")
