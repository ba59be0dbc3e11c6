"""Text files of word vectors; of the rows that are not required, only the word is parsed."""

import io
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from linker.common.errors import DataError
from linker.data.files.streams import open_bytes

PARSED_NUMBERS = 1 << 20
_PROBED_LINES, _BUFFER_BYTES = 100, 1 << 18

Vectors = tuple[list[str], np.ndarray]


def read_rows(path: Path, wanted: set[str] | None, max_words: int | None) -> Vectors:
    """Read the rows of a vector file that are wanted or among its first `max_words`.

    Returns:
        The words, and float32, words × dim.

    Raises:
        DataError: if the file cannot be read or is broken; the message names file and line.
    """
    wanted_bytes = {word.encode("utf-8", "surrogatepass") for word in wanted or ()}
    words: list[str] = []
    seen: set[bytes] = set()
    rows: list[np.ndarray] = []
    bodies: list[tuple[int, bytes]] = []
    with open_bytes(str(path)) as stream:
        lines = io.BufferedReader(cast(Any, stream), _BUFFER_BYTES)
        first = lines.readline()
        if not first:
            raise DataError(f"{path}: the file is empty; get it again")
        sizes = first.removeprefix(b"\xef\xbb\xbf").split()
        has_header = len(sizes) == 2 and sizes[0].isdigit() and sizes[1].isdigit()
        head = [*([] if has_header else [first]), *islice(lines, _PROBED_LINES)]
        separator, dim = _layout(path, head, int(sizes[1]) if has_header else 0, 1 + has_header)
        count = 0
        for number, line in enumerate(chain(head, lines), 1 + has_header):
            if not line.strip():
                continue
            count += 1
            end = line.find(separator)
            word = line[:end]
            if word in seen or not (max_words is None or count <= max_words or word in wanted_bytes):
                continue
            line = line.rstrip()
            if line.count(separator) != dim:
                # A word with spaces in it (as in glove.840B) is left out; other lines with more columns are errors.
                fields = line.split(separator)
                if len(fields) <= dim or all(map(_is_number, fields[1:-dim])):
                    raise DataError(
                        f"{path}, line {number}: {len(fields) - 1} numbers after {_shown(fields[0])}, "
                        f"expected {dim}; the file is damaged, get it again"
                    )
                continue
            seen.add(word)
            token = word.decode("utf-8", "replace")
            if token.split() != [token] or "\ufffd" in token:  # no tokenizer makes it
                continue
            words.append(token)
            bodies.append((number, line[end + 1 :]))
            if len(bodies) * dim >= PARSED_NUMBERS:
                rows.append(_parsed(path, bodies, separator, dim))
                bodies = []
    if bodies:
        rows.append(_parsed(path, bodies, separator, dim))
    if has_header and count < int(sizes[0]):
        raise DataError(f"{path}: truncated, {count:,} of {int(sizes[0]):,} vectors; get the file again")
    return words, np.concatenate([np.zeros((0, dim), dtype=np.float32), *rows])


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
            "expected a word and its numbers, separated by spaces (gensim converts word2vec's binary format: "
            "save_word2vec_format)"
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
