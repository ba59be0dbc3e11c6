"""The binary format of word2vec: a header line, then each word, a space and the word's float32 numbers."""

from __future__ import annotations

import re
from io import BufferedReader
from pathlib import Path

import numpy as np

from linker.data.vectors.rows import RowSelection
from linker.errors import DataError

LONGEST_WORD = 10_000
HEADER = re.compile(rb"(\d+) (\d+)[ \t]*\n")
BLOCK_BYTES = 1 << 24


def is_binary(start: bytes) -> bool:
    """Do a file's first bytes look like word2vec's binary format? Its numbers hold bytes that no text has."""
    header = HEADER.match(start)
    return header is not None and any(byte < 9 for byte in start[header.end() :])


def read_binary(path: Path, stream: BufferedReader, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Words and vectors of the rows that `selection` keeps.

    Raises:
        DataError: the file ends early or holds something else.
    """
    header = HEADER.match(stream.readline(100))
    assert header is not None
    count, dim = int(header[1]), int(header[2])
    width, rows, blocks = 4 * dim, [], []
    buffer, position = b"", 0
    for number in range(1, count + 1):
        space = buffer.find(b" ", position)
        if space < 0 or space + 1 + width > len(buffer):
            buffer, position = buffer[position:] + stream.read(BLOCK_BYTES), 0
            space = buffer.find(b" ")
        end = space + 1 + width
        if space < 0 or end > len(buffer) or space - position > LONGEST_WORD:
            raise DataError(
                f"{path}, vector {number:,} of {count:,}: cut short or no word2vec file; get the file again"
            )
        word = buffer[position:space].lstrip(b"\n")
        if selection.needs(word):
            selection.keep(word)
            rows.append(buffer[space + 1 : end])
            if len(rows) * width >= BLOCK_BYTES:
                blocks.append(_matrix(rows, dim))
                rows = []
        position = end
    matrix = selection.result([*blocks, _matrix(rows, dim)], dim)
    if not np.isfinite(matrix[1]).all():
        raise DataError(f"{path}: has vectors with infinite or undefined numbers")
    return matrix


def _matrix(rows: list[bytes], dim: int) -> np.ndarray:
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), dim)
