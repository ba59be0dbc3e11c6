"""Reading the files that word vectors come in, only the rows that are needed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from linker.data.formats.opening import open_bytes
from linker.data.vectors.binary import is_binary, read_binary
from linker.data.vectors.rows import RowSelection
from linker.data.vectors.text import read_text
from linker.errors import DataError

PROBED_BYTES = 4096
BUFFER_BYTES = 1 << 18
ZIP_START = b"PK\x03\x04"


def read_rows(path: Path, wanted: set[str] | None, max_words: int | None) -> tuple[list[str], np.ndarray]:
    """Words and vectors of the file's rows that are wanted or among its first `max_words`.

    Raises:
        DataError: the file cannot be read or is broken; the message names file and line.
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
    """Open a vector file: plain, packed, or a file inside a zip (`archive.zip/member`).

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
        raise DataError(f"{archive}: no zip archive, so there is no {path.name} in it")


@contextmanager
def _open_member(path: Path, name: str | None) -> Iterator[BinaryIO]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info.filename for info in archive.infolist() if not info.is_dir()]
            if name is None and len(members) == 1:
                name = members[0]
            if name is None or name not in members:
                example = f", as {path}/{members[0]}" if members else ""
                raise DataError(
                    f"{path}: holds {', '.join(members) or 'nothing'}; say which is meant{example}"
                )
            with archive.open(name) as stream:
                yield io.BufferedReader(cast(Any, stream), BUFFER_BYTES)
    except (zlib.error, EOFError, zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(f"{path}: damaged or cut short ({error}); get it again") from error


def read_torchtext(path: Path, selection: RowSelection) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a torchtext cache file: the tuple (words, ids, matrix, dimensions).

    torchtext leaves rows of zeros at the end, one for each word that was no UTF-8.

    Raises:
        DataError: something else is in it.
    """
    import pickle

    import torch

    try:
        # Mapped, so that only the rows taken come into memory; nothing but plain data is unpickled.
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
            f"{path}: no vectors as torchtext caches them; remove it and get them again"
        ) from error
    rows = []
    for row, word in enumerate(words):
        name = word.encode("utf-8", "surrogatepass")
        if selection.needs(name):
            selection.keep(name)
            rows.append(row)
    return selection.result([matrix[torch.tensor(rows, dtype=torch.int64)].float().numpy()], dim)
