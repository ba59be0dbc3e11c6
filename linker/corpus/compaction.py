"""Compact a corpus: merge small data files, and remove the bytes of deleted posts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linker.common.console import track
from linker.corpus.encoding import WORDS
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.shards import Shard
from linker.corpus.storage.store import Store
from linker.models.features.postings import postings_of

#: Posts per data file at most; as many as words need 16 bits for.
_POSTS = 65_536


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

    Args:
        store: the corpus.

    Raises:
        DataError: if the store is damaged.
        LinkerError: if another process is writing to the corpus, or a file cannot be written.
    """
    with store.writing():
        store.recover()
        shards = store.shards()
        if shards is None:
            return Compacted(0, 0, 0)
        size, merged = store.size(), []
        with store.write_errors():
            for run in track(_runs(shards), "merging posts"):
                table = shards.table(run)
                arrays = _arrays(run, table.column("text").to_pylist())
                merged.append((run, [DataFile.write(store.folder, table, arrays)] if len(table) else []))
        if merged:
            store.rewrite(shards.dataset, merged)
        store.remove_former_versions()
        newest = store.shards()
        assert newest is not None
        stored_groups(newest)
        return Compacted(len(shards), len(newest), size - store.size())


def _runs(shards: Iterable[Shard]) -> list[list[Shard]]:
    """Return the consecutive shards that become one; single ones only if posts were deleted from them."""
    runs: list[list[Shard]] = [[]]
    for shard in shards:
        if runs[-1] and sum(member.posts for member in runs[-1]) + shard.posts > _POSTS:
            runs.append([])
        runs[-1].append(shard)
    return [run for run in runs if len(run) > 1 or any(shard.live is not None for shard in run)]


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
