"""Is a corpus whole?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linker.corpus.keys import KeySet, keys_of
from linker.corpus.matrix import ROWS_AT_ONCE, Matrix
from linker.corpus.sealing import checksums, files_of
from linker.corpus.store import Store
from linker.errors import LinkerError
from linker.files import sha256_of
from linker.progress import track


@dataclass(frozen=True)
class Fault:
    """What is wrong with which file, and what to do."""

    file: str
    problem: str


def faults(store: Store) -> Iterator[Fault]:
    """Everything that is wrong, found by reading everything once: files first, then what is in them."""
    known, present = checksums(store), list(files_of(store))
    damaged = False
    for name in track(present, "reading files", len(present)):
        if name not in known:
            continue  # written by an append whose checksum a kill prevented; its rows are read below
        if sha256_of(store.folder / name) != known[name]:
            damaged = True
            yield Fault(
                name, "was changed since it was written; restore it from a copy, or build the corpus again"
            )
    for name in sorted(set(known) - set(present)):
        damaged = True
        yield Fault(name, "is missing; restore it from a copy, or build the corpus again")
    if not damaged:
        yield from _rows(store)


def _rows(store: Store) -> Iterator[Fault]:
    """Ids once each, vectors as they should be, and the same in the matrix."""
    try:
        dataset = store.dataset()
        if dataset is None:
            return
        path = Matrix(store.folder, store.facts.dim).path
        matrix = Matrix(store.folder, store.facts.dim).complete(dataset)
    except LinkerError as error:
        yield Fault(store.uri, str(error))
        return
    ids, place = KeySet(), 0
    for batch in dataset.to_batches(columns=["id", "vector"], batch_size=ROWS_AT_ONCE, scan_in_order=True):
        keys = keys_of(batch.column("id").to_pylist())
        doubled = ids.contains(keys).any() or len(np.unique(keys, axis=0)) < len(keys)
        ids.add(keys)
        vectors = np.asarray(batch.column("vector").flatten(), dtype=np.float32).reshape(len(batch), -1)
        if doubled:
            yield Fault(
                store.uri, f"an id is there twice among posts {place + 1:,} to {place + len(batch):,}"
            )
        if not np.isfinite(vectors).all():
            yield Fault(
                store.uri, f"a vector is no number among posts {place + 1:,} to {place + len(batch):,}"
            )
        if not np.array_equal(vectors, matrix[place : place + len(batch)]):
            yield Fault(
                str(path.relative_to(store.folder)), "differs from the posts; delete it, it is made again"
            )
            return
        place += len(batch)
