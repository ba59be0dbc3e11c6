"""Readers for the file formats of word vectors; only the required rows are parsed."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from linker.common.errors import DataError
from linker.data.io.streams import open_bytes


class RowSelection:
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

    def result(self, rows: list[np.ndarray], dim: int) -> tuple[list[str], np.ndarray]:
        """Return the words and their vectors, float32, words × dim, from the blocks of all rows kept, in order."""
        matrix = np.concatenate(rows) if rows else np.zeros((0, dim), dtype=np.float32)
        decoded = [None if word is None else _token(word) for word in self._words]
        if None in decoded:
            matrix = matrix[[word is not None for word in decoded]]
        return [word for word in decoded if word is not None], matrix


def _lower(word: bytes) -> bytes:
    if word.isascii():
        return word.lower()
    return word.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def _token(word: bytes) -> str | None:
    """The word as a token; None if no token can equal it (invalid UTF-8, white space, empty)."""
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.split() == [text] else None


CHUNK_BYTES = 1 << 22
PROBED_LINES = 100


def read_text(path: Path, stream: BinaryIO, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Read the rows of a text file that `selection` keeps; other rows are not parsed beyond their word.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if there are no vectors, a line has a wrong number of values or a value that is not a number, or
            there are fewer lines than the header states.
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
    """Collects rows; `number` is the number of lines read."""

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
            raise DataError(f"{self.path}: the file is empty; get it again")
        if self.promised is not None and self.number - 1 < self.promised:
            raise DataError(
                f"{self.path}: truncated, {self.number - 1:,} of {self.promised:,} vectors; get the file again"
            )
        return self.selection.result(self.rows, self.dim)

    def _begin(self, lines: list[bytes]) -> list[bytes]:
        """Detect the header, the separator and the number of columns from the first lines."""
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
                f"{self.path}, line {self.number + 1}: not word vectors: {_shown(lines[0] if lines else b'')}, "
                "expected a word and its numbers, separated by spaces"
            )
        return lines

    def _check_spaced_word(self, number: int, fields: list[bytes]) -> None:
        """Skip a word with spaces in it (as in glove.840B); other lines with more columns are errors."""
        columns = len(fields) - 1
        if columns < self.dim or all(_is_number(field) for field in fields[1 : -self.dim]):
            raise DataError(
                f"{self.path}, line {number}: {columns} numbers after {_shown(fields[0])}, "
                f"expected {self.dim}; the file is damaged, get it again"
            )

    def _parse(self, kept: list[tuple[int, bytes]]) -> None:
        text = b"\n".join(body for _, body in kept).replace(self.separator, b"\n")
        values = _floats(text, len(kept) * self.dim)
        if values is None:
            for number, body in kept:
                self._check(number, body)
            raise DataError(f"{self.path}, near line {kept[0][0]}: cannot be parsed; get the file again")
        self.rows.append(values.reshape(len(kept), self.dim))

    def _check(self, number: int, body: bytes) -> None:
        for column, value in enumerate(body.split(self.separator), 1):
            if not _is_number(value):
                raise DataError(
                    f"{self.path}, line {number}: column {column} is not a number: {_shown(value)}"
                )


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


def _is_row(line: bytes, separator: bytes, dim: int) -> bool:
    values = line.rstrip().split(separator)[-dim:]
    return len(values) == dim and all(_is_number(value) for value in values)


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


LONGEST_WORD = 10_000
HEADER = re.compile(rb"(\d+) (\d+)[ \t]*\n")
BLOCK_BYTES = 1 << 24


def is_binary(start: bytes) -> bool:
    """Return whether a file's first bytes are word2vec's binary format: a header, then bytes that no text has."""
    header = HEADER.match(start)
    return header is not None and any(byte < 9 for byte in start[header.end() :])


def read_binary(path: Path, stream: BufferedReader, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Read the rows of a word2vec binary file that `selection` keeps.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if the file is truncated or of another format.
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
                f"{path}, vector {number:,} of {count:,}: truncated or not a word2vec file; get the file again"
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
        raise DataError(f"{path}: some vectors have infinite or undefined numbers; get the file again")
    return matrix


def _matrix(rows: list[bytes], dim: int) -> np.ndarray:
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), dim)


PROBED_BYTES = 4096
BUFFER_BYTES = 1 << 18
ZIP_START = b"PK\x03\x04"


def read_rows(path: Path, wanted: set[str] | None, max_words: int | None) -> tuple[list[str], np.ndarray]:
    """Read the rows of a vector file that are wanted or among its first `max_words`.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if the file cannot be read or is broken; the message names file and line.
    """
    selection = RowSelection(wanted, max_words)
    if path.suffix == ".pt":
        return read_torchtext(path, selection)
    with open_vectors(path) as stream:
        buffered = io.BufferedReader(cast(Any, stream), BUFFER_BYTES)
        read = read_binary if is_binary(buffered.peek(PROBED_BYTES)) else read_text
        return read(path, buffered, selection)


@contextmanager
def open_vectors(path: Path) -> Iterator[BinaryIO]:
    """Open a vector file: plain, compressed, or a file inside a zip archive (`archive.zip/member`).

    Raises:
        DataError: the file is missing, damaged, or a zip in which no single file is meant.
    """
    archive = path.parent if path.parent.is_file() else path
    with open(archive, "rb") as file:
        zipped = file.read(len(ZIP_START)) == ZIP_START
    if zipped:
        with _open_member(archive, None if archive == path else path.name) as stream:
            yield stream
    elif archive == path:
        with open_bytes(str(path)) as stream:
            yield stream
    else:
        raise DataError(f"{archive}: not a zip archive; give the path of the vector file")


@contextmanager
def _open_member(path: Path, name: str | None) -> Iterator[BinaryIO]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info.filename for info in archive.infolist() if not info.is_dir()]
            if name is None and len(members) == 1:
                name = members[0]
            if name is None or name not in members:
                example = f", as {path}/{members[0]}" if members else ""
                raise DataError(f"{path}: contains {', '.join(members) or 'no file'}; name the file{example}")
            with archive.open(name) as stream:
                yield io.BufferedReader(cast(Any, stream), BUFFER_BYTES)
    except (zlib.error, EOFError, zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(f"{path}: damaged or truncated ({error}); get it again") from error


def read_torchtext(path: Path, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Read a torchtext cache file, a tuple (words, ids, matrix, dimensions).

    torchtext leaves rows of zeros at the end, one for each word that was not UTF-8.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if the file has other content.
    """
    import pickle

    import torch

    try:
        # Memory-mapped, so that only the selected rows are loaded; only plain data is unpickled.
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
        words, _, matrix, dim = content
        matrix = matrix.reshape(-1, dim)
        if len(matrix) < len(words):
            raise ValueError("fewer vectors than words")
    except (
        pickle.UnpicklingError,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:
        raise DataError(
            f"{path}: not a vector cache of torchtext; remove it and fetch the vectors again"
        ) from error
    rows = []
    for row, word in enumerate(words):
        name = word.encode("utf-8", "surrogatepass")
        if selection.needs(name):
            selection.keep(name)
            rows.append(row)
    return selection.result([matrix[torch.tensor(rows, dtype=torch.int64)].float().numpy()], dim)
