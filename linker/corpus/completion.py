"""Completing the indexes of a corpus that depend on all of its posts, so that searches do not have to."""

from __future__ import annotations

from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store


def complete_indexes(store: Store, engine: Engine | None = None) -> None:
    """Group near-duplicates; for the writer.

    Args:
        store: the corpus.
        engine: where posts are compared; None: in this process.
    """
    dataset = store.dataset()
    if dataset is not None:
        shards = Shards(store.folder, dataset)
        Groups(shards, (engine or Engine()).map).complete()
