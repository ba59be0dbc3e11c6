"""Zip archives with one data file, as Kaggle, Zenodo and pandas make them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from typing import IO

from linker.common.errors import DataError

#: Errors of reading a damaged archive, or one whose compression Python does not know.
DAMAGE = (zipfile.BadZipFile, NotImplementedError)
# What macOS adds, and hidden files.
_HIDDEN = re.compile(r"(^|/)(\.|__MACOSX/)")
# What describes the data.
_BESIDE = re.compile(r"(^|/)(readme|license|licence|changelog)(\.\w+)?$|\.(md|pdf)$", re.I)
# The posts in a person's archive of X.
_OF_X = re.compile(r"(^|/)data/tweets?(-part\d+)?\.js$")
_SHOWN = 3


def data_file(stream: IO[bytes], name: str) -> tuple[zipfile.ZipFile, zipfile.ZipInfo]:
    """Return an archive and the only data file in it; in a person's archive of X, that of the posts.

    Args:
        stream: the archive, which can be rewound.
        name: its name for messages.

    Raises:
        DataError: if there is no data file, or several, or it is encrypted.
        zipfile.BadZipFile: if the archive is damaged.
    """
    archive = zipfile.ZipFile(stream)
    files = [
        entry for entry in archive.infolist() if not entry.is_dir() and not _HIDDEN.search(entry.filename)
    ]
    files = [entry for entry in files if not _BESIDE.search(entry.filename)] or files
    of_x = posts_of_x([entry.filename for entry in files])
    files = [entry for entry in files if entry.filename in of_x] or files
    if not files:
        raise DataError(f"{name}: the zip archive has no file; give another")
    if len(files) > 1:
        names = [entry.filename for entry in files]
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        raise DataError(
            f"{name}: a zip archive of {len(names):,} files ({', '.join(names[:_SHOWN])}{more}); "
            "unpack it, and give one of them or their folder"
        )
    if files[0].flag_bits & 1:
        raise DataError(f"{name}: {files[0].filename} in this zip archive is encrypted; unpack it")
    return archive, files[0]


def posts_of_x(names: Sequence[str]) -> list[str]:
    """Return the names of the files with the posts of a person's archive of X, among those of its files."""
    return [name for name in names if _OF_X.search(name)]


def name_inside(path: str) -> str:
    """Return the name of the data file in a zip archive; that of any other file or address is its own."""
    if not path.lower().endswith(".zip"):
        return path
    try:
        with open(path, "rb") as stream:
            archive, found = data_file(stream, path)
            archive.close()
            return found.filename
    except (OSError, DataError, *DAMAGE):
        return path  # reading reports it
