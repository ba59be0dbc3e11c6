"""Verification of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import sha256_of
from linker.common.text_keys import keys_of
from linker.corpus.encoding import WORDS
from linker.corpus.indexes.id_set import KeySet
from linker.corpus.indexes.near_duplicates import GROUPS, SIGNATURES, Groups, signed
from linker.corpus.indexes.vectors import VECTORS, finite
from linker.corpus.storage.array_files import ArrayFiles
from linker.corpus.storage.checksums import CHANGED, CHECKSUMS, MEND, POSTS, Checksums, files_of, manifests
from linker.corpus.storage.reader import ROWS_AT_ONCE, batches
from linker.corpus.storage.shards import SHARDS, Shard, Shards
from linker.corpus.storage.store import Store
from linker.models.features.postings import words_of

_AGAIN = "delete it, and it is created again"


@dataclass(frozen=True)
class Fault:
    """A damaged file, its problem and the remedy."""

    file: str
    problem: str


def faults(store: Store) -> Iterator[Fault]:
    """Yield all faults, reading everything once: files first, then rows."""
    checksums = Checksums.read(store.folder)
    present = [name for name in files_of(store.folder) if name not in checksums.forgotten]
    if checksums.damaged:
        lines = ", ".join(map(str, checksums.damaged[:5])) + ", …" * (len(checksums.damaged) > 5)
        yield Fault(CHECKSUMS, f"{CHANGED}, in line {lines}; {MEND}")
    # An interruption can keep at most one append from being recorded, and leave unfinished files beside the manifests.
    elif len(set(manifests(store.folder)) - checksums.known.keys() - checksums.forgotten) > 1:
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
    files = ArrayFiles(store.folder / SHARDS)
    broken = list(track(files.damaged(), "reading shards", None))
    for path in broken:
        yield Fault(path.relative_to(store.folder).as_posix(), f"{CHANGED}; {_AGAIN}")
    if not damaged and not broken:
        try:
            yield from _rows(store)
        except DataError as error:
            yield Fault(POSTS, str(error))


def _rows(store: Store) -> Iterator[Fault]:
    """Yield faults of the rows: repeated ids, embeddings that are not finite, shards that do not match the posts."""
    dataset = store.dataset()
    if dataset is None:
        return
    shards = Shards(store.folder, dataset)
    ids, place = KeySet(), 0
    for batch in track(batches(dataset, ["id"]), "reading ids", -(-shards.posts // ROWS_AT_ONCE)):
        keys = keys_of(batch.column("id").to_pylist())
        if ids.contains(keys).any() or len(np.unique(keys, axis=0)) < len(keys):
            yield Fault(
                POSTS,
                f"duplicate id among posts {place + 1:,} to {place + len(batch):,}; build the corpus again",
            )
        ids.add(keys)
        place += len(batch)
    for shard in track(shards, "reading posts", len(shards)):
        yield from _shard_faults(store, shard)
    if not Groups(shards).fit():
        yield Fault(f"{SHARDS}/{GROUPS}-{shards.state}", f"differs from the posts; {_AGAIN}")


def _shard_faults(store: Store, shard: Shard) -> Iterator[Fault]:
    texts = shard.texts()
    live = np.ones(shard.rows, dtype=bool) if shard.live is None else shard.live
    for name in shard.files.names():
        arrays = shard.files.read(name)
        if arrays is None or arrays.path is None:
            continue  # another process has just replaced it
        file = arrays.path.relative_to(store.folder).as_posix()
        if not shard.fits(arrays):
            yield Fault(file, f"does not have a row per post; {_AGAIN}")
        elif name.startswith(VECTORS):
            if not finite(arrays):
                yield Fault(file, f"an embedding is not finite; {_AGAIN}")
        elif name == SIGNATURES:
            if not np.array_equal(arrays["values"][live], signed(texts)["values"][live]):
                yield Fault(file, f"differs from the posts; {_AGAIN}")
        elif shard.live is None and name.startswith(WORDS):
            made = words_of(texts, name.removeprefix(WORDS))
            if any(key not in arrays or not np.array_equal(made[key], arrays[key]) for key in made):
                yield Fault(file, f"differs from the posts; {_AGAIN}")
