"""Reading the files that word vectors come in, only the rows that are needed."""

from __future__ import annotations

import bz2
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from linker.data.vector_rows import RowSelection
from linker.data.vector_text import read_text
from linker.errors import DataError


def read_rows(path: Path, wanted: set[str] | None, max_words: int | None) -> tuple[list[str], np.ndarray]:
    """Words and vectors of the file's rows that are wanted or among its first `max_words`.

    Raises:
        DataError: the file cannot be read or is broken; the message names file and line.
    """
    selection = RowSelection(wanted, max_words)
    with open_vectors(path) as stream:
        return read_text(path, stream, selection)


@contextmanager
def open_vectors(path: Path) -> Iterator[BinaryIO]:
    """Open a vector file, plain, gzip, bzip2 or inside a zip, told apart by its first bytes, not its name.

    Raises:
        DataError: the file is missing, damaged, or a zip without the one text file.
    """
    try:
        if path.parent.is_file():
            with zipfile.ZipFile(path.parent) as archive, _member(archive, path.parent, path.name) as stream:
                yield stream
        else:
            with path.open("rb") as file:
                yield from _decompressed(path, file)
    except (zlib.error, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{path}: cannot be read, the file is damaged or cut short ({error})") from error


def _decompressed(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    start = file.read(4)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=file) as stream:
            yield cast(BinaryIO, stream)
    elif start.startswith(b"BZh"):
        with bz2.BZ2File(file) as stream:
            yield cast(BinaryIO, stream)
    elif start == b"PK\x03\x04":
        with zipfile.ZipFile(file) as archive, _member(archive, path, None) as stream:
            yield stream
    else:
        yield file


def _member(archive: zipfile.ZipFile, path: Path, name: str | None) -> BinaryIO:
    members = [info.filename for info in archive.infolist() if not info.is_dir()]
    if name is None and len(members) == 1:
        name = members[0]
    if name not in members:
        raise DataError(
            f"{path}: holds {', '.join(members) or 'nothing'}; say which file is meant, as {path}/{members[0]}"
            if members
            else f"{path}: an empty archive"
        )
    return cast(BinaryIO, archive.open(name))
