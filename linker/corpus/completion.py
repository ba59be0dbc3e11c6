"""Completing the indexes of a corpus that depend on all of its posts, so that searches do not have to."""

from __future__ import annotations

from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.indexes.postings import postings_of
from linker.corpus.indexes.times import Times
from linker.corpus.indexes.words import word_lists_of
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store


def complete_indexes(store: Store, engine: Engine | None = None) -> None:
    """Group near-duplicates; of a corpus with an index, also store `complete_statistics`; for the writer.

    Args:
        store: the corpus.
        engine: where posts are compared; None: in this process.
    """
    dataset = store.dataset()
    if dataset is not None:
        shards = Shards(store.folder, dataset)
        Groups(shards, (engine or Engine()).map).complete()
        if shards.centroids is not None:
            complete_statistics(shards)


def complete_statistics(shards: Shards) -> None:
    """Store what searches need to know of all posts: times and lengths of TF-IDF vectors, 16 bytes per post."""
    Times.of(shards)
    for stop_words in word_lists_of(shards):
        _ = postings_of(shards, stop_words).squares
