"""Compact a corpus: merge small data files, and remove the bytes of deleted posts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.common.console import progress_bar
from linker.corpus.encoding import WORDS
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.storage.array_files import Arrays
from linker.corpus.storage.shards import Shard
from linker.corpus.storage.store import Store
from linker.models.features.postings import words_of

if TYPE_CHECKING:
    import pyarrow as pa

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
        size = store.size()
        runs = list(_runs(shards))
        with progress_bar() as progress:
            bar = progress.add_task("merging posts", total=sum(shard.posts for run in runs for shard in run))

            def merged() -> Iterator[
                tuple[Sequence[Shard], pa.Table, Mapping[str, Mapping[str, np.ndarray]]]
            ]:
                for run in runs:
                    table = shards.table(run)
                    yield run, table, _arrays(run, table.column("text").to_pylist())
                    progress.advance(bar, sum(shard.posts for shard in run))

            if runs:
                store.rewrite(shards.dataset, merged())
        store.remove_former_versions()
        newest = store.shards()
        assert newest is not None
        stored_groups(newest)
        return Compacted(len(shards), len(newest), size - store.size())


def _runs(shards: Iterable[Shard]) -> Iterator[Sequence[Shard]]:
    """Yield the consecutive shards that become one; single ones only if posts were deleted from them."""
    run: list[Shard] = []
    for shard in shards:
        if run and sum(one.posts for one in run) + shard.posts > _POSTS:
            if _is_worth_it(run):
                yield run
            run = []
        run.append(shard)
    if _is_worth_it(run):
        yield run


def _is_worth_it(run: Sequence[Shard]) -> bool:
    return len(run) > 1 or any(shard.live is not None for shard in run)


def _arrays(run: Sequence[Shard], texts: Sequence[str]) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the arrays that all of some shards have, for the posts that are not deleted."""
    found: dict[str, Mapping[str, np.ndarray]] = {}
    for name in sorted(set.intersection(*(set(shard.files.names()) for shard in run))):
        if name.startswith(WORDS):
            found[name] = words_of(texts, name.removeprefix(WORDS))
            continue
        parts = [(shard, shard.files.read(name) or Arrays()) for shard in run]
        keys = {frozenset(arrays) for _, arrays in parts}
        types = {tuple(values.dtype for _, values in sorted(arrays.items())) for _, arrays in parts}
        if len(keys) == len(types) == 1:  # else they are computed again from the posts
            found[name] = {
                key: np.concatenate(
                    [
                        arrays[key] if shard.live is None else arrays[key][shard.live]
                        for shard, arrays in parts
                    ]
                )
                for key in next(iter(keys))
            }
    return found
