"""All vectors of a corpus side by side in one file, mapped into memory: what an exact search reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.errors import DataError

if TYPE_CHECKING:
    import lance

VECTORS = "vectors.f32"
ROWS_AT_ONCE = 16_384


class Matrix:
    """float32, posts × dim, in the order of the store. What the store has and it lacks is made up for on opening."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.path = folder / VECTORS
        self.dim = dim

    def append(self, vectors: np.ndarray, rows_before: int) -> None:
        """Write vectors behind the first `rows_before`; a torn end of an earlier write goes."""
        with open(self.path, "ab") as file:
            if file.tell() < rows_before * self.dim * 4:
                return  # Something is missing in between: `complete` makes up for it.
            file.truncate(rows_before * self.dim * 4)
            file.write(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """The whole matrix, after adding the rows that are in the store only.

        Raises:
            DataError: the file holds more than the store.
        """
        rows = dataset.count_rows()
        have = self.path.stat().st_size // (self.dim * 4) if self.path.is_file() else 0
        if have > rows:
            raise DataError(
                f"{self.path}: holds {have:,} vectors for {rows:,} posts; delete it and try again"
            )
        if have < rows:
            scanner = dataset.scanner(
                columns=["vector"], offset=have, batch_size=ROWS_AT_ONCE, scan_in_order=True
            )
            for batch in scanner.to_batches():
                vectors = np.asarray(batch.column("vector").flatten(), dtype=np.float32).reshape(-1, self.dim)
                self.append(vectors, have)
                have += len(vectors)
        if not rows:
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.memmap(self.path, dtype=np.float32, mode="r", shape=(rows, self.dim))
