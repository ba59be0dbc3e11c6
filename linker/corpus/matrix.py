"""All vectors of a corpus side by side in one file, mapped into memory: what an exact search reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.corpus.derived import RowFile
from linker.corpus.reading import batches

if TYPE_CHECKING:
    import lance
    import pyarrow as pa

VECTORS = "vectors.f32"


class Matrix:
    """float32, posts × dim, in the order of the store. What the store has and it lacks is made up for on opening."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.dim = dim
        self.file = RowFile(folder / VECTORS, np.float32, dim)

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """The whole matrix, after adding the rows that are in the store only.

        Raises:
            LinkerError: there is no room for them.
        """

        def vectors(have: int) -> Iterator[np.ndarray]:
            return map(vectors_in, batches(dataset, ["vector"], have))

        return self.file.complete(dataset.count_rows(), vectors)


def vectors_in(batch: pa.RecordBatch) -> np.ndarray:
    """The vectors of some posts: float32, posts × dim."""
    column = batch.column("vector")
    return np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), column.type.list_size)
