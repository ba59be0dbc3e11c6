"""Rows of posts by index, from disk or from memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linker.corpus.storage.reader import COLUMNS, batches, readable

if TYPE_CHECKING:
    import lance

#: Reading all posts of a corpus costs as much as taking some of them once per this number of posts (decision 197).
_POSTS_PER_READING = 12_500
_MOST_POSTS, _MOST_BYTES = 250_000, 128 << 20


class Rows:
    """Rows of one version of a corpus.

    Up to 250,000 posts, and 128 MiB, are kept in memory once posts have been read from disk so often that reading all
    would have cost as much.
    """

    def __init__(self, dataset: lance.LanceDataset) -> None:
        self.dataset = dataset
        self._readings = 0
        self._kept: pa.RecordBatch | None = None
        self._may_keep = True

    def at(self, places: np.ndarray, columns: Sequence[str]) -> pa.Table | pa.RecordBatch:
        """Return the posts at the given indices, in that order.

        Args:
            places: int64, indices in the store.
            columns: names of columns.

        Raises:
            DataError: if the store is damaged.
        """
        if self._kept is None and self._may_keep:
            self._keep()
        if self._kept is not None:
            return self._kept.select(list(columns)).take(pa.array(places))
        self._readings += 1
        distinct, order = np.unique(places, return_inverse=True)
        with readable(self.dataset.uri):
            return self.dataset.take(distinct, columns=list(columns)).take(pa.array(order.reshape(-1)))

    @cached_property
    def _posts(self) -> int:
        with readable(self.dataset.uri):
            return int(self.dataset.count_rows())

    def _keep(self) -> None:
        """Read all posts, if they are few and it pays."""
        if self._posts > _MOST_POSTS:
            self._may_keep = False
            return
        if self._readings * _POSTS_PER_READING < self._posts:
            return
        read, size = [], 0
        for batch in batches(self.dataset, COLUMNS):
            read.append(batch)
            size += batch.nbytes
            if size > _MOST_BYTES:
                self._may_keep = False
                return
        self._kept = pa.concat_batches(read)
