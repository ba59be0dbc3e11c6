"""The embeddings of a corpus in one memory-mapped file, for exact search."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.common.files import NO_ROOM
from linker.common.locks import lock
from linker.corpus.storage.reader import batches

if TYPE_CHECKING:
    import lance
    import pyarrow as pa


#: Error numbers of writing without permission.
READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class RowFile:
    """Rows of numbers, one per post in the order of the store, mapped into memory.

    Several processes may complete it at once: each holds a lock on the file meanwhile, and nobody takes away whole
    rows that others may have mapped.

    Args:
        path: the file.
        dtype: of the numbers.
        width: numbers in a row.
    """

    def __init__(self, path: Path, dtype: type[np.generic], width: int) -> None:
        self.path = path
        self._dtype, self._width = np.dtype(dtype), width
        self._row = self._dtype.itemsize * width

    def rows(self) -> int:
        """Return the number of complete rows."""
        return self.path.stat().st_size // self._row if self.path.is_file() else 0

    def there(self, rows: int) -> np.ndarray:
        """Return the first `rows` rows, or as many as exist."""
        have = min(rows, self.rows())
        if not have:
            return np.zeros((0, self._width), dtype=self._dtype)
        return np.memmap(self.path, dtype=self._dtype, mode="r", shape=(have, self._width))

    def cut(self, rows: int) -> None:
        """Remove rows after the first `rows`; for the writer of the corpus, before it appends."""
        if self.rows() > rows:
            with _appending(self.path) as file:
                file.truncate(rows * self._row)

    def append(self, values: np.ndarray, before: int) -> None:
        """Write rows behind the first `before`.

        For the corpus's writer. Where these are not all there, nothing is done: `complete` makes up for it. Rows that
        are there already, because a reader was faster, stay.
        """
        with _appending(self.path) as file:
            have = self._tidy(file)
            if before <= have < before + len(values):
                self._write(file, values[have - before :])

    def complete(self, rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> np.ndarray:
        """All rows, after making those that are missing.

        Where the folder cannot be written to, this is done in a temporary file.

        Args:
            rows: how many there must be.
            make: gives the rows from a place on, in parts.

        Raises:
            LinkerError: if the disk is full.
        """
        if self.rows() < rows:
            try:
                with _appending(self.path) as file:
                    self._fill(file, rows, make)
            except OSError as error:
                if error.errno in READ_ONLY:
                    return self._elsewhere(rows, make)
                if error.errno in NO_ROOM:
                    raise LinkerError(
                        f"{self.path}: cannot be written ({error.strerror}); make room and try again"
                    ) from error
                raise
        return self.there(rows)

    def _fill(self, file: IO[bytes], rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> None:
        have = self._tidy(file)
        if have < rows:
            for values in make(have):
                self._write(file, values)

    def _elsewhere(self, rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> np.ndarray:
        with tempfile.TemporaryFile() as file:
            if self.path.is_file():
                with open(self.path, "rb") as there:
                    shutil.copyfileobj(there, file)
            self._fill(file, rows, make)
            file.flush()
            return np.memmap(file, dtype=self._dtype, mode="r", shape=(rows, self._width))

    def _tidy(self, file: IO[bytes]) -> int:
        """Remove a torn end; how many whole rows there are."""
        file.seek(0, os.SEEK_END)
        have, torn = divmod(file.tell(), self._row)
        if torn:
            file.truncate(have * self._row)
            file.seek(0, os.SEEK_END)
        return have

    def _write(self, file: IO[bytes], values: np.ndarray) -> None:
        file.write(np.ascontiguousarray(values, dtype=self._dtype).data)


@contextmanager
def _appending(path: Path) -> Iterator[IO[bytes]]:
    with open(path, "ab") as file:
        lock(file)
        yield file


VECTORS = "vectors.f32"


class Matrix:
    """float32, posts × dim, in the order of the store. What the store has and it lacks is made up for on opening."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.dim = dim
        self.file = RowFile(folder / VECTORS, np.float32, dim)

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """The whole matrix, after adding the rows that are in the store only.

        Raises:
            LinkerError: if the disk is full.
        """

        def vectors(have: int) -> Iterator[np.ndarray]:
            return map(vectors_in, batches(dataset, ["vector"], have))

        return self.file.complete(dataset.count_rows(), vectors)


def vectors_in(batch: pa.RecordBatch) -> np.ndarray:
    """The vectors of some posts: float32, posts × dim."""
    column = batch.column("vector")
    return np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), column.type.list_size)
