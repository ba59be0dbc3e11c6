"""Compaction: merge small data files of a corpus, without the bytes of deleted posts."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from linker.common.console import track
from linker.corpus.encoding import WORDS
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.shards import Shard, Shards
from linker.corpus.storage.store import Store
from linker.models.features.postings import postings_of

#: Posts per data file at most; as many as words need 16 bits for.
_POSTS = 65_536
#: How many times as large as those of the size below data files of a size are.
_GROWTH = 8
#: Seconds for which searches that have begun find the files that `add` has merged.
_GRACE = 3_600.0


@dataclass(frozen=True)
class Compacted:
    """What compaction changed.

    Attributes:
        before: number of data files before.
        after: number of data files after.
        removed: bytes of the files that were removed, without those that were written for them.
    """

    before: int
    after: int
    removed: int


def compact(store: Store) -> Compacted:
    """Merge small data files of a corpus and leave out deleted posts; scores and order of posts stay the same.

    Nothing is embedded again. Searches that have begun before may end with an error, since their files are removed.

    Raises:
        DataError: if the store is damaged.
        LinkerError: if another process is writing to the corpus, or a file cannot be written.
    """
    with store.writing():
        store.recover()
        shards = store.shards()
        if shards is None:
            return Compacted(0, 0, 0)
        size = store.size()
        _merge(store, shards, _runs(shards, _POSTS))
        store.sweep(math.inf)
        newest = store.shards()
        assert newest is not None
        stored_groups(newest)
        return Compacted(len(shards), len(newest), size - store.size())


def merge_small(store: Store, most: int) -> None:
    """Merge small data files once they are together as large as a larger one; for the writer.

    A post is copied at most once per size, so five times in all, and there are some 30 small files in a row at most
    (O'Neil et al. 1996, The log-structured merge-tree). Former files are removed after an hour.

    Args:
        store: the corpus.
        most: number of posts per data file; files with half as many are not small.

    Raises:
        DataError: if the store is damaged.
        LinkerError: if a file cannot be written.
    """
    if (shards := store.shards()) is not None:
        _merge(store, shards, [run for due in _due(shards, most // 2) for run in _runs(due, most)])
    store.sweep(time.time() - _GRACE)


def _due(shards: Iterable[Shard], size: int) -> Iterator[list[Shard]]:
    """Yield consecutive shards, each smaller than a size, that reach it together."""
    for is_small, group in groupby(shards, lambda shard: shard.size < size):
        run = list(group)
        if is_small and sum(shard.size for shard in run) >= size:
            yield run
        elif is_small and size >= _GROWTH:
            yield from _due(run, size // _GROWTH)


def _runs(shards: Iterable[Shard], most: int) -> list[list[Shard]]:
    """Return the consecutive shards that become one; single ones only if posts were deleted from them."""
    runs: list[list[Shard]] = [[]]
    size = 0
    for shard in shards:
        size += shard.size
        if runs[-1] and size > most:
            runs.append([])
            size = shard.size
        runs[-1].append(shard)
    return [run for run in runs if len(run) > 1 or any(shard.live is not None for shard in run)]


def _merge(store: Store, shards: Shards, runs: Sequence[Sequence[Shard]]) -> None:
    """Replace runs of shards by one each, all in one version; a kill leaves the former version, or this one."""
    merged = []
    # The id 0 of the very first file means a new one to Lance, at the end: it is merged with what follows.
    if runs and runs[0][-1].metadata.id == 0 and len(shards) > 1:
        second = list(shards)[1]
        joined = runs[1] if len(runs) > 1 and runs[1][0] is second else [second]
        runs = [[*runs[0], *joined], *(run for run in runs[1:] if run is not joined)]
    with store.write_errors():
        for run in track(runs, "merging posts"):
            table = shards.table(run)
            arrays = _arrays(run, table.column("text").to_pylist())
            merged.append((run, [DataFile.write(store.folder, table, arrays)] if len(table) else []))
    if merged:
        store.rewrite(shards.dataset, merged)


def _arrays(run: Sequence[Shard], texts: Sequence[str]) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the arrays that all of some shards have, for the posts that are not deleted."""
    merged: dict[str, Mapping[str, np.ndarray]] = {}
    for name in sorted(set.intersection(*(set(shard.files.names()) for shard in run))):
        if name.startswith(WORDS):
            merged[name] = postings_of(texts, name.removeprefix(WORDS))
            continue
        parts = [
            {key: values if shard.live is None else values[shard.live] for key, values in arrays.items()}
            for shard in run
            if (arrays := shard.files.read(name)) is not None
        ]
        if len(parts) == len(run) and all(part.keys() == parts[0].keys() for part in parts):
            merged[name] = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return merged  # what is not in it is computed again from the posts
