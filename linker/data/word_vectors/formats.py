"""Files of word vectors; of the rows that are not required, only the word is parsed."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.data.files.streams import open_bytes

PARSED_NUMBERS = 1 << 20
_PROBED_LINES, _PROBED_BYTES = 100, 4096
_LONGEST_WORD = 10_000
_HEADER = re.compile(rb"(\d+) (\d+)[ \t]*\n")
_BLOCK_BYTES, _BUFFER_BYTES = 1 << 24, 1 << 18

Vectors = tuple[list[str], np.ndarray]


def read_rows(path: Path, wanted: set[str] | None, max_words: int | None) -> Vectors:
    """Read the rows of a vector file that are wanted or among its first `max_words`.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if the file cannot be read or is broken; the message names file and line.
    """
    selection = _RowSelection(wanted, max_words)
    with open_bytes(str(path)) as stream:
        buffered = io.BufferedReader(cast(Any, stream), _BUFFER_BYTES)
        start = buffered.peek(_PROBED_BYTES)
        # word2vec's binary format has a header, and then bytes that no text has.
        header = _HEADER.match(start)
        is_binary = header is not None and any(byte < 9 for byte in start[header.end() :])
        return (_read_binary if is_binary else _read_text)(path, buffered, selection)


class _RowSelection:
    """Selects rows one by one in file order, and keeps their words."""

    def __init__(self, wanted: set[str] | None, max_words: int | None) -> None:
        """Select the `wanted` words and the first `max_words` rows; all rows if `max_words` is None."""
        self._wanted = {word.encode("utf-8", "surrogatepass") for word in wanted or ()}
        # Lower-case tokens match a capitalized row only by its lower-case spelling.
        self._fold = bool(wanted) and all(word == word.lower() for word in wanted or ())
        self._first = float("inf") if max_words is None else max_words
        self._rows = 0
        self._words: list[bytes | None] = []
        self._exact: set[bytes] = set()
        self._folded: dict[bytes, int] = {}

    def needs(self, word: bytes) -> bool:
        """Return whether to keep the next row of the file, which has this word."""
        self._rows += 1
        lower = _lower(word) if self._fold else word
        if not (self._rows <= self._first or lower in self._wanted) or lower in self._exact:
            return False
        return lower == word or lower not in self._folded

    def keep(self, word: bytes) -> None:
        """Record that the row was kept."""
        lower = _lower(word) if self._fold else word
        if lower != word:
            self._folded[lower] = len(self._words)
        else:
            self._exact.add(word)
            if word in self._folded:
                self._words[self._folded.pop(word)] = None
        self._words.append(lower)

    def result(self, rows: list[np.ndarray], dim: int) -> Vectors:
        """Return the words and their vectors, float32, words × dim, from the blocks of all rows kept, in order."""
        matrix = np.concatenate(rows) if rows else np.zeros((0, dim), dtype=np.float32)
        tokens = ["" if word is None else word.decode("utf-8", "replace") for word in self._words]
        # No token equals a word that is not UTF-8, is empty, or has white space.
        usable = [token.split() == [token] and "\ufffd" not in token for token in tokens]
        if not all(usable):
            matrix = matrix[usable]
        return [token for token, good in zip(tokens, usable) if good], matrix


def _lower(word: bytes) -> bytes:
    if word.isascii():
        return word.lower()
    return word.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def _read_text(path: Path, stream: BinaryIO, selection: _RowSelection) -> Vectors:
    """Read a text file: rows that `selection` does not keep are not parsed beyond their word."""
    first = stream.readline()
    if not first:
        raise DataError(f"{path}: the file is empty; get it again")
    sizes = first.removeprefix(b"\xef\xbb\xbf").split()
    has_header = len(sizes) == 2 and sizes[0].isdigit() and sizes[1].isdigit()
    head = [*([] if has_header else [first]), *islice(stream, _PROBED_LINES)]
    separator, dim = _layout(path, head, int(sizes[1]) if has_header else 0, 1 + has_header)
    rows: list[np.ndarray] = []
    bodies: list[tuple[int, bytes]] = []
    number = int(has_header)
    for line in chain(head, stream):
        number += 1
        end = line.find(separator)
        if not (line.strip() and selection.needs(line[:end])):
            continue
        line = line.rstrip()
        if line.count(separator) == dim:
            selection.keep(line[:end])
            bodies.append((number, line[end + 1 :]))
        else:
            # A word with spaces in it (as in glove.840B) is left out; other lines with more columns are errors.
            fields = line.split(separator)
            if len(fields) <= dim or all(map(_is_number, fields[1:-dim])):
                raise DataError(
                    f"{path}, line {number}: {len(fields) - 1} numbers after {_shown(fields[0])}, "
                    f"expected {dim}; the file is damaged, get it again"
                )
        if len(bodies) * dim >= PARSED_NUMBERS:
            rows.append(_parsed(path, bodies, separator, dim))
            bodies = []
    if bodies:
        rows.append(_parsed(path, bodies, separator, dim))
    if has_header and number - 1 < int(sizes[0]):
        raise DataError(f"{path}: truncated, {number - 1:,} of {int(sizes[0]):,} vectors; get the file again")
    return selection.result(rows, dim)


def _layout(path: Path, head: list[bytes], dim: int, number: int) -> tuple[bytes, int]:
    """Detect the separator, and the number of values in a row unless the header states it, from the first lines."""
    probe = [line.rstrip() for line in head if line.strip()]
    separator = b"\t" if probe and b"\t" in probe[0] else b" "
    if not dim:
        columns = Counter(line.count(separator) for line in probe)
        dim = max(columns, key=lambda count: columns[count], default=0)
    values = [line.split(separator)[-dim:] for line in probe]
    if not dim or (probe and not any(len(row) == dim and all(map(_is_number, row)) for row in values)):
        raise DataError(
            f"{path}, line {number}: not word vectors: {_shown(b''.join(head[:1]).rstrip())}, "
            "expected a word and its numbers, separated by spaces"
        )
    return separator, dim


def _parsed(path: Path, bodies: list[tuple[int, bytes]], separator: bytes, dim: int) -> np.ndarray:
    values = _floats(b"\n".join(body for _, body in bodies).replace(separator, b"\n"), len(bodies) * dim)
    if values is not None:
        return values.reshape(len(bodies), dim)
    for number, body in bodies:
        for column, value in enumerate(body.split(separator), 1):
            if not _is_number(value):
                raise DataError(f"{path}, line {number}: column {column} is not a number: {_shown(value)}")
    raise DataError(f"{path}, near line {bodies[0][0]}: cannot be parsed; get the file again")


def _floats(text: bytes, count: int) -> np.ndarray | None:
    """Parse numbers, one per line, as float32; None if one is not a finite number."""
    import pyarrow as pa
    from pyarrow import csv

    # Arrow's memory: a thread that releases Python's bytes while the program exits would abort it.
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


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _read_binary(path: Path, stream: io.BufferedReader, selection: _RowSelection) -> Vectors:
    """Read a word2vec binary file."""
    header = _HEADER.match(stream.readline(100))
    assert header is not None
    count, dim = int(header[1]), int(header[2])
    width, rows, blocks = 4 * dim, [], []
    buffer, position = b"", 0
    for number in range(1, count + 1):
        space = buffer.find(b" ", position)
        if space < 0 or space + 1 + width > len(buffer):
            buffer, position = buffer[position:] + stream.read(_BLOCK_BYTES), 0
            space = buffer.find(b" ")
        end = space + 1 + width
        if space < 0 or end > len(buffer) or space - position > _LONGEST_WORD:
            raise DataError(
                f"{path}, vector {number:,} of {count:,}: truncated or not a word2vec file; get the file again"
            )
        word = buffer[position:space].lstrip(b"\n")
        if selection.needs(word):
            selection.keep(word)
            rows.append(buffer[space + 1 : end])
        if rows and (len(rows) * width >= _BLOCK_BYTES or number == count):
            blocks.append(np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), dim))
            rows = []
        position = end
    words, matrix = selection.result(blocks, dim)
    if not np.isfinite(matrix).all():
        raise DataError(f"{path}: some vectors have infinite or undefined numbers; get the file again")
    return words, matrix


def write_vectors(path: Path, words: Sequence[str], matrix: np.ndarray) -> None:
    """Write vectors in word2vec's text format, compressed if the name ends in `.gz`; the bytes are reproducible.

    Args:
        path: the file.
        words: the words.
        matrix: their vectors, float, words × dim.
    """
    form = " ".join(["%.5g"] * matrix.shape[1])
    rows = track(zip(words, matrix), "writing vectors", len(words))
    lines = (f"{word} {form % tuple(row.tolist())}\n" for word, row in rows)
    write_lines(path, chain([f"{len(words)} {matrix.shape[1]}\n"], lines))
