"""The text formats of word vectors: a word and its numbers a line (GloVe), with a header line (word2vec)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from linker.data.vectors.rows import RowSelection
from linker.errors import DataError

CHUNK_BYTES = 1 << 22
PROBED_LINES = 100


def read_text(path: Path, stream: BinaryIO, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Words and vectors of the rows that `selection` keeps.

    Only the rows kept are parsed; the others are looked at as far as their word.

    Raises:
        DataError: no vectors, a line with too few or too many numbers, something that is no number, or fewer
            lines than the header promises.
    """
    reader = _TextReader(path, selection)
    for lines in _line_blocks(stream):
        reader.add(lines)
    return reader.finish()


def _line_blocks(stream: BinaryIO) -> Iterator[list[bytes]]:
    rest = b""
    while block := stream.read(CHUNK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]


class _TextReader:
    """Collects rows; `number` counts the lines read."""

    def __init__(self, path: Path, selection: RowSelection) -> None:
        self.path, self.selection = path, selection
        self.promised: int | None = None
        self.number = 0
        self.dim = 0
        self.separator = b" "
        self.rows: list[np.ndarray] = []

    def add(self, lines: list[bytes]) -> None:
        if not self.dim:
            lines = self._begin(lines)
        kept: list[tuple[int, bytes]] = []
        selection, separator, width = self.selection, self.separator, self.dim
        for number, line in enumerate(lines, self.number + 1):
            end = line.find(separator)
            if not (line.strip() and selection.needs(line[:end])):
                continue
            line = line.rstrip()
            columns = line.count(separator)
            if columns == width:
                selection.keep(line[:end])
                kept.append((number, line[end + 1 :]))
            else:
                self._check_spaced_word(number, line.split(separator))
        self.number += len(lines)
        if kept:
            self._parse(kept)

    def finish(self) -> tuple[list[str], np.ndarray]:
        if not self.number:
            raise DataError(f"{self.path}: empty, no word vectors in it")
        if self.promised is not None and self.number - 1 < self.promised:
            raise DataError(
                f"{self.path}: cut short: its first line promises {self.promised:,} vectors, "
                f"there are {self.number - 1:,}; get the file again"
            )
        return self.selection.result(self.rows, self.dim)

    def _begin(self, lines: list[bytes]) -> list[bytes]:
        """Find the header, the separator and the number of columns in the file's first lines."""
        first = lines[0].removeprefix(b"\xef\xbb\xbf").split()
        if len(first) == 2 and first[0].isdigit() and first[1].isdigit():
            self.promised, self.dim, self.number = int(first[0]), int(first[1]), 1
            lines = lines[1:]
        probe = [line for line in islice(lines, PROBED_LINES) if line.strip()]
        if probe and b"\t" in probe[0]:
            self.separator = b"\t"
        if not self.dim:
            columns = Counter(line.rstrip().count(self.separator) for line in probe)
            self.dim = max(columns, key=lambda n: columns[n], default=0)
        if not self.dim or (probe and not any(_is_row(line, self.separator, self.dim) for line in probe)):
            raise DataError(
                f"{self.path}, line {self.number + 1}: not word vectors: expected a word and its numbers, "
                f"separated by spaces, found {_shown(lines[0] if lines else b'')}"
            )
        return lines

    def _check_spaced_word(self, number: int, fields: list[bytes]) -> None:
        """More columns may mean a word with spaces in it (as in glove.840B): it is left out."""
        columns = len(fields) - 1
        if columns < self.dim or all(_is_number(field) for field in fields[1 : -self.dim]):
            raise DataError(
                f"{self.path}, line {number}: {columns} numbers after {_shown(fields[0])}, "
                f"expected {self.dim}; the file is broken or cut short there"
            )

    def _parse(self, kept: list[tuple[int, bytes]]) -> None:
        text = b"\n".join(body for _, body in kept).replace(self.separator, b"\n")
        values = _floats(text, len(kept) * self.dim)
        if values is None:
            for number, body in kept:
                self._check(number, body)
            raise DataError(f"{self.path}: cannot be parsed near line {kept[0][0]}")
        self.rows.append(values.reshape(len(kept), self.dim))

    def _check(self, number: int, body: bytes) -> None:
        for column, value in enumerate(body.split(self.separator), 1):
            if not _is_number(value):
                raise DataError(
                    f"{self.path}, line {number}: column {column} is no number but {_shown(value)}"
                )


def _floats(text: bytes, count: int) -> np.ndarray | None:
    """The numbers, one a line, as float32; None where something is not a finite number."""
    import pyarrow as pa
    from pyarrow import csv

    # Arrow's own memory: a worker that lets go of Python's bytes while the program ends would abort it.
    memory = pa.BufferOutputStream()
    memory.write(text)
    try:
        table = csv.read_csv(
            pa.BufferReader(memory.getvalue()),
            csv.ReadOptions(column_names=["value"]),
            csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types={"value": pa.float32()}, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    values = table.column(0).to_numpy()
    return values if len(values) == count and np.isfinite(values).all() else None


def _is_number(text: bytes) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _is_row(line: bytes, separator: bytes, dim: int) -> bool:
    values = line.rstrip().split(separator)[-dim:]
    return len(values) == dim and all(_is_number(value) for value in values)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
