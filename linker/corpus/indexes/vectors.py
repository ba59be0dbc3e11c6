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


#: Error numbers of missing write permission.
READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class RowFile:
    """Memory-mapped file with a row of numbers per post, in the order of the store.

    Several processes may complete it at once: each locks the file meanwhile, and complete rows, which others may have
    mapped, are never removed.

    Args:
        path: the file.
        dtype: data type of the numbers.
        width: numbers per row.
    """

    def __init__(self, path: Path, dtype: type[np.generic], width: int) -> None:
        self.path = path
        self._dtype, self._width = np.dtype(dtype), width
        self._row = self._dtype.itemsize * width

    def rows(self) -> int:
        """Return the number of complete rows."""
        return self.path.stat().st_size // self._row if self.path.is_file() else 0

    def existing(self, rows: int) -> np.ndarray:
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
        """Write rows after the first `before`; for the writer of the corpus.

        If some of the first `before` rows are missing, nothing is written, and `complete` adds all of them later. Rows
        that a reader has written already are kept.
        """
        with _appending(self.path) as file:
            have = self._tidy(file)
            if before <= have < before + len(values):
                self._write(file, values[have - before :])

    def complete(self, rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> np.ndarray:
        """Return all rows, after adding the missing ones; if the folder is read-only, in a temporary file.

        Args:
            rows: number of rows that there must be.
            make: yields the rows from an index on, in parts.

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
        return self.existing(rows)

    def _fill(self, file: IO[bytes], rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> None:
        have = self._tidy(file)
        if have < rows:
            for values in make(have):
                self._write(file, values)

    def _elsewhere(self, rows: int, make: Callable[[int], Iterable[np.ndarray]]) -> np.ndarray:
        with tempfile.TemporaryFile() as file:
            if self.path.is_file():
                with open(self.path, "rb") as source:
                    shutil.copyfileobj(source, file)
            self._fill(file, rows, make)
            file.flush()
            return np.memmap(file, dtype=self._dtype, mode="r", shape=(rows, self._width))

    def _tidy(self, file: IO[bytes]) -> int:
        """Remove an incomplete last row; return the number of complete rows."""
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
    path.parent.mkdir(exist_ok=True)  # of a corpus from which posts were deleted
    with open(path, "ab") as file:
        lock(file)
        yield file


VECTORS = "vectors.f32"


class Matrix:
    """The embeddings: float32, posts × dim, in the order of the store; completed from the store on opening."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.dim = dim
        self.file = RowFile(folder / VECTORS, np.float32, dim)

    def complete(self, dataset: lance.LanceDataset) -> np.ndarray:
        """Return the whole matrix, after adding rows that are only in the store.

        Raises:
            LinkerError: if the disk is full.
        """

        def vectors(have: int) -> Iterator[np.ndarray]:
            return map(vectors_in, batches(dataset, ["vector"], have))

        return self.file.complete(dataset.count_rows(), vectors)


def vectors_in(batch: pa.RecordBatch) -> np.ndarray:
    """Return the embeddings of a record batch: float32, posts × dim."""
    column = batch.column("vector")
    return np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), column.type.list_size)
